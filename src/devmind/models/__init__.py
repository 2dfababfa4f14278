"""Models outside this package: the wire to those behind an endpoint, the runtime of those on this machine."""
