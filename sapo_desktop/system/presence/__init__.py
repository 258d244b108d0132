"""Whether this is a good moment to compute on somebody's computer: what `watch.py` sees of its user, its power, its
link, its heat and its other programs. One module a kind of fact; what a system cannot tell is a fact too."""
