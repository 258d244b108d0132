"""The swarm: answers shared as text with peers that nobody trusts.

How a frame becomes a group in the pool, and from there in a round:

1. `sockets/`: bytes of a connection that was let in (`door`), read when it is its turn (`fair_queue`), within its
   budget (`wire`). `network` is the driver; it alone knows tasks and time-outs.
2. `protocol/`: one frame is decoded by `codec` into a message (`messages`) and given to the link's `session`, a state
   machine without I/O. First the greeting: each side proves its key (`handshake`). Then every message has
   a rate and a size (`limits`); what breaks them becomes a reason (`refusals`), what is fine an event (`events`).
3. `exchange`: a group's event passes the checks, cheapest first: seen before, rate of its author (`trust/standing`),
   signature over the bytes as they came (`protocol/envelope`, `signing`), member of a private swarm
   (`trust/admission`), slot by the corrected `clock`, task known (`catalogues`).
4. `pool/pool` keeps it, bounded in bytes, age and in what one source may fill; `pool/draw` gives a round its sample.
   Regenerating and marking come after that, in the worker, for nobody's word is taken for a mark.

Between relays: `backbone/` gives others what authors published here, and hands `exchange` what they had; over NATS,
by `sockets/backbone`.

The other way: `giving` offers own groups and answers WANTs by `sample`; `trust/reward` measures the swarm from our
own marks. `addresses/` decides whom to link to.

All but `sockets/`, `addresses/lan` and what runs them is pure: frames and the time go in, events and frames come out.
The specification that others can implement is docs/protocol.md.
"""
