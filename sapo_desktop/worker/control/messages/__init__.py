"""What the window, the command line and the worker say to each other.

A client sends `Call`s; the worker answers each with one `Answer` or `Failure` of the same id and sends
`Note`s, each with one event, at any time. Everything is a frozen tagged msgspec struct that refuses unknown
fields: both ends are of one release, so a mismatch is a mistake to show, not a version to bridge.

What is asked stands in requests.py, what is answered in replies.py, what is told in events.py, all three together where
they belong to one subject (asking.py, facts.py, models.py, rollouts.py), what these share in base.py and swarm.py, and
what they travel in in envelopes.py.
"""
