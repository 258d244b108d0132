"""The window: a thin view over the worker.

What is shown is decided without Qt (viewmodel.py, curves.py, comparison.py), what is said in wording.py; attachment.py
keeps the link to the worker, bridge.py is the one place where its events become signals.
"""
