"""Whether this is a good moment to compute: the computer's user, power, connection, heat and other programs, as seen
by `watch.py`. One module per kind of fact; what a system cannot report is a fact, too."""
