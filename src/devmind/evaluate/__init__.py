"""Systems × topics → evidence: datasets, alignment, measures, statistics, targets, diagnosis, reports, gates.

It measures any system with the same numbers; it must not retrieve or rank anything itself.
"""
