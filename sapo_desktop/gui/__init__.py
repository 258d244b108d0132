"""The window: a thin view over the worker.

What is shown is decided without Qt (view/), what is said in words/; attachment.py
keeps the link to the worker, bridge.py is the one place where its events become signals.
"""
