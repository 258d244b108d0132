"""The window: a thin view over the worker.

view/ decides what is shown, without Qt; words/ has the texts. attachment.py keeps the link to the worker, and bridge.py
alone turns its events into signals.
"""
