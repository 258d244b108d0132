"""How groups get from one node into another's pool without a socket.

What crosses is what travels over a wire: the signed envelope. Whoever gets it checks signature, slot, catalogue and
text, and keeps it in the product's pool; draw, regeneration and marks are the product's too. Left out: links, their
credit, and the standing of identities, which bound what a stranger may send and change nothing among a few
nodes. A round takes one slot, so indices begin anew with each and a pool holds seven rounds.
"""

from __future__ import annotations

from random import Random

import msgspec

from sapo_desktop.core.hashing import digest
from sapo_desktop.core.records import Record, SwarmReward
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.exchange import CheckGroup, Exchange
from sapo_desktop.swarm.pool.pool import Path
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol.envelope import GroupBody, open_envelope, seal
from sapo_desktop.swarm.protocol.refusals import Refused
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.trust.standing import Standing
from sapo_desktop.worker.membership.member import Member

NETWORK = digest(b"sapo/network/1", b"lab")
"""The network id of all labs (32 bytes)."""
_FIRST_SLOT = 1000


class Kept(Record, frozen=True):
    """A group in a pool, as it is kept on disk."""

    envelope: bytes
    received: float


class Room:
    """All seats, and the time: one slot a round."""

    def __init__(self) -> None:
        self.seats: list[Seat] = []
        self.now = Now(0.0, 0.0)

    def begin(self, number: int) -> None:
        """Round `number` is played now."""
        seconds = float(number * limits.SLOT_SECONDS)
        self.now = Now(seconds, _FIRST_SLOT * limits.SLOT_SECONDS + seconds)


class Seat:
    """One node's place in the room: what its member takes for the network."""

    def __init__(self, room: Room, signer: Signer, check: CheckGroup, rng: Random, *, forges: bool) -> None:
        self.exchange = Exchange(signer.key, NETWORK, check, Standing(), rng)
        self._room, self._signer, self._check, self._forges = room, signer, check, forges
        room.seats.append(self)

    def publish(self, envelope: bytes) -> None:
        """Hand a group to everybody else; a forger says of half of them that another question was asked: of which
        depends on the question alone, so that an arm that goes on is like one that never stopped."""
        if self._forges:
            body = open_envelope(envelope, GroupBody, NETWORK).body
            if body.question[0] % 2:
                envelope = seal(self._signer, msgspec.structs.replace(body, question=digest(body.question)[:8]))
        for seat in self._room.seats:
            if seat is not self:
                seat.receive(envelope, self._room.now)

    def receive(self, envelope: bytes, now: Now) -> None:
        """Keep a group that stands up to our checks; what does not is counted."""
        try:
            opened = open_envelope(envelope, GroupBody, NETWORK)
            self.exchange.clock.check(opened.body.slot, now.unix)
            self._check(opened.body)
            self._keep(envelope, now.monotonic)
        except Refused as refused:
            self.exchange.refusals.add(refused.reason)

    @property
    def refused(self) -> int:
        """Groups that were not taken since the node was made."""
        return sum(count for _, count in self.exchange.refusals)

    def kept(self) -> list[Kept]:
        """What is in the pool."""
        return [Kept(envelope=entry.envelope, received=entry.received) for entry in self.exchange.pool]

    def restore(self, kept: list[Kept]) -> None:
        """Put into the empty pool what was in it."""
        for one in kept:
            self._keep(one.envelope, one.received)

    def _keep(self, envelope: bytes, received: float) -> None:
        opened = open_envelope(envelope, GroupBody, NETWORK)
        # As if every author were linked to us: a link for each.
        self.exchange.pool.add(opened, Path(opened.body.key, self._signer.key, b"lab"), received)


class LabMember(Member):
    """A member that is not asked for the swarm's reward: its bootstrap takes longer than a round."""

    async def measured(self, tasks: object) -> SwarmReward | None:
        return None
