"""Several exchanges joined by links in memory: frames arrive at once and in order, and the test moves the time."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.catalogues import Catalogues
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.exchange import Exchange
from sapo_desktop.swarm.link import Link
from sapo_desktop.swarm.protocol.envelope import GroupBody
from sapo_desktop.swarm.protocol.events import Event
from sapo_desktop.swarm.protocol.refusals import Reason, Refused
from sapo_desktop.swarm.protocol.session import Session
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.trust.standing import Standing
from tests.swarm.peers import NETWORK, TASK, group, me

SLOT = 2_833_333
START = Now(0.0, 600.0 * SLOT)


def check(body: GroupBody) -> None:
    if body.task != TASK:
        raise Refused(Reason.UNKNOWN_TASK)


class Peer:
    """An exchange with a key."""

    def __init__(
        self, name: int, tasks: Sequence[bytes] = (TASK,), before: Sequence[bytes] = (), *, draws: bool = True
    ) -> None:
        self.signer = Signer(name.to_bytes(32, "big"))
        known = Catalogues(tasks, before)
        self.exchange = Exchange(
            self.signer.key, NETWORK, check, Standing(), Random(name), catalogues=known, draws=draws
        )
        self.me = me(self.signer, tasks=tuple(tasks), catalogue=known.name, previous=known.previous)
        self.next_index = 0

    def share(self, now: Now, n: int = 1, **changes: object) -> list[bytes]:
        """Publish fresh groups."""
        envelopes = []
        for _ in range(n):
            slot, index = SLOT - self.next_index // 64, self.next_index % 64
            self.next_index += 1
            envelopes.append(group(self.signer, slot=slot, index=index, **changes))
            self.exchange.publish(envelopes[-1], now)
        return envelopes

    def held(self) -> list[bytes]:
        return [entry.envelope for entry in self.exchange.pool]


@dataclass
class Wire:
    """Both ends of one connection."""

    ends: tuple[tuple[Peer, Link], tuple[Peer, Link]]


@dataclass
class Mesh:
    """The peers, their wires, and the time."""

    now: Now = START
    wires: list[Wire] = field(default_factory=list)
    heard: list[tuple[Peer, Event]] = field(default_factory=list)
    _nonces: "itertools.count[int]" = field(default_factory=itertools.count)

    def join(self, client: Peer, server: Peer, tag: bytes = b"", *, visit: bool = False, off: float = 0.0) -> Wire:
        """Connect, and let them shake hands. `tag`: the server's for the client's network, for itself and
        and for others. `visit`: the client pays one. `off`: seconds by which the client's clock is wrong."""
        ends = []
        for role, peer, name in (("client", client, b""), ("server", server, tag)):
            nonce = next(self._nonces).to_bytes(32, "big")
            session = Session(
                role,  # type: ignore[arg-type]
                peer.me,
                nonce=nonce,
                unix_time=self.now.unix + (off if role == "client" else 0.0),
                now=self.now.monotonic,
            )
            dialled = Address("mesh", 1) if role == "client" else None
            link = peer.exchange.attach(session, name, dialled, tag=name, visit=visit and dialled is not None)
            ends.append((peer, link))
        wire = Wire((ends[0], ends[1]))
        self.wires.append(wire)
        self.settle()
        return wire

    def settle(self) -> None:
        """Deliver until nobody has anything left to say."""
        busy = True
        while busy:
            busy = False
            for wire in self.wires:
                for (_, link), (other, theirs) in (wire.ends, wire.ends[::-1]):
                    for frame in link.session.take():
                        busy = True
                        link.traffic.bytes_out += len(frame)
                        self.heard += [(other, event) for event in other.exchange.receive(theirs, frame, self.now)]

    def wait(self, seconds: float, step: float = 5.0) -> None:
        """Let time pass, everybody's clock ticking every `step` seconds."""
        for _ in range(round(seconds / step)):
            self.now = Now(self.now.monotonic + step, self.now.unix + step)
            for peer in dict.fromkeys(peer for wire in self.wires for peer, _ in wire.ends):
                peer.exchange.tick(self.now)
            self.settle()
