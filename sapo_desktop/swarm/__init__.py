"""The swarm: answers shared as text with peers that nobody trusts.

Everything here but `network` and what runs it is pure: frames and the time go in, events and frames come out. The
specification that others can implement is docs/protocol.md.
"""
