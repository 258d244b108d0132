"""The swarm: answers shared as text with peers that nobody trusts.

How a frame becomes a group in the pool, and from there in a round:

1. `sockets/`: bytes of an accepted connection (`door`), read when it is its turn (`fair_queue`), within its budget
   (`wire`). `network` is the driver; only it uses asyncio's tasks and time-outs.
2. `protocol/`: `codec` decodes a frame into a message (`messages`) for the link's `session`, a state machine without
   I/O. First each side proves its key (`handshake`). Then every message has a rate and a size (`limits`); a violation
   becomes a reason (`refusals`), a valid message an event (`events`).
3. `exchange`: a group's event passes the checks, cheapest first: seen before, rate of its author (`trust/standing`),
   signature over the bytes as received (`protocol/envelope`, `signing`), membership in a private swarm
   (`trust/admission`), slot by the corrected `clock`, known task (`catalogues`).
4. `pool/pool` stores it, bounded in bytes, age and share of one source; `pool/draw` gives a round its sample. The
   worker then recreates the question and scores the answers itself.

Between relays: `backbone/` gives others what authors published here, and passes what they received to `exchange`; over
NATS, by `sockets/backbone`.

The other way: `giving` offers own groups and answers WANTs by `sample`; `trust/reward` measures the swarm by our own
scores. `addresses/` decides which peers to link to.

Everything but `sockets/`, `addresses/lan` and their callers is pure: frames and the time go in, events and frames come
out. docs/protocol.md is the specification for other implementations.
"""
