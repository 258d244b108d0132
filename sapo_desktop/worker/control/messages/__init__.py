"""The messages between the window, the command line and the worker.

A client sends `Call`s; the worker answers each with one `Answer` or `Failure` of the same id, and sends `Note`s, each
with one event, at any time. Everything is a frozen tagged msgspec struct that refuses unknown fields: both ends are
from one release, so a mismatch is an error to show.

Requests are in requests.py, replies in replies.py, events in events.py, or all three together if they belong to one
subject (asking.py, facts.py, models.py, rollouts.py). Shared parts are in base.py and swarm.py, the outer messages in
envelopes.py.
"""
