"""Values → what a program or a person reads. ``plain`` makes JSON-ready objects, ``terminal`` text for a terminal."""
