"""Whether a newer version is there: what a release says of itself, who signed it, and what follows from it.

Pure: manifest.py the records, decision.py signatures and the verdict. worker/hosts/updates.py asks and
remembers. Nothing is ever installed from here; it is said.
"""
