"""Whether a newer version exists: a release's own description, its signature, and the conclusion.

Pure: manifest.py has the records, decision.py signatures and the verdict. worker/hosts/updates.py asks and remembers.
Nothing is ever installed, only shown.
"""
