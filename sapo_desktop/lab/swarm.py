"""Moves groups from one node into another's pool without sockets.

Nodes exchange signed envelopes, as over a wire. The receiver checks signature, slot, catalogue and text, and keeps the
group in the product's pool. Draw, regeneration and scores are the product's too. Links, their credit, and the standing
of identities are left out: they limit strangers and change nothing among a few nodes. A round takes one slot, so
indices restart with each round and a pool holds seven rounds.
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
    """A group of a pool, as stored on disk."""

    envelope: bytes
    received: float


class Room:
    """All seats, and the time: one slot per round."""

    def __init__(self) -> None:
        self.seats: list[Seat] = []
        self.now = Now(0.0, 0.0)

    def begin(self, number: int) -> None:
        """Set the time to round `number`."""
        seconds = float(number * limits.SLOT_SECONDS)
        self.now = Now(seconds, _FIRST_SLOT * limits.SLOT_SECONDS + seconds)


class Seat:
    """One node's place in the room, which its member uses as the network."""

    def __init__(self, room: Room, signer: Signer, check: CheckGroup, rng: Random, *, forges: bool) -> None:
        self.exchange = Exchange(signer.key, NETWORK, check, Standing(), rng)
        self._room, self._signer, self._check, self._forges = room, signer, check, forges
        room.seats.append(self)

    def publish(self, envelope: bytes) -> None:
        """Pass a group to all others. A forger claims another question for half of them. Which half depends on the
        question alone, so that a continued arm equals an uninterrupted one."""
        if self._forges:
            body = open_envelope(envelope, GroupBody, NETWORK).body
            if body.question[0] % 2:
                envelope = seal(self._signer, msgspec.structs.replace(body, question=digest(body.question)[:8]))
        for seat in self._room.seats:
            if seat is not self:
                seat.receive(envelope, self._room.now)

    def receive(self, envelope: bytes, now: Now) -> None:
        """Keep a group that passes our checks; count the others."""
        try:
            opened = open_envelope(envelope, GroupBody, NETWORK)
            self.exchange.clock.check(opened.body.slot, now.unix)
            self._check(opened.body)
            self._keep(envelope, now.monotonic)
        except Refused as refused:
            self.exchange.refusals.add(refused.reason)

    @property
    def refused(self) -> int:
        """Groups that were refused since the node was made."""
        return sum(count for _, count in self.exchange.refusals)

    def kept(self) -> list[Kept]:
        """The groups in the pool."""
        return [Kept(envelope=entry.envelope, received=entry.received) for entry in self.exchange.pool]

    def restore(self, kept: list[Kept]) -> None:
        """Restore the groups into the empty pool."""
        for one in kept:
            self._keep(one.envelope, one.received)

    def _keep(self, envelope: bytes, received: float) -> None:
        opened = open_envelope(envelope, GroupBody, NETWORK)
        # As if every author had its own link to us.
        self.exchange.pool.add(opened, Path(opened.body.key, self._signer.key, b"lab"), received)


class LabMember(Member):
    """A member without the swarm's reward, whose bootstrap takes longer than a round."""

    async def measured(self, tasks: object) -> SwarmReward | None:
        return None
