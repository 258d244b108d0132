"""Shared by tests of the swarm: two sides of a link in one process, and bodies to send."""

from dataclasses import dataclass, field

import msgspec

from sapo_desktop.swarm.catalogues import catalogue_id
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.envelope import Answer, GroupBody, seal
from sapo_desktop.swarm.protocol.events import Event
from sapo_desktop.swarm.protocol.handshake import Me, Role
from sapo_desktop.swarm.protocol.session import Session
from sapo_desktop.swarm.protocol.signing import Signer

NETWORK = b"n" * 32
TASK = b"t" * 32
ALICE, BOB = Signer(b"a" * 32), Signer(b"b" * 32)


def me(signer: Signer, **changes: object) -> Me:
    plain = Me(signer=signer, network=NETWORK, tasks=(TASK,), catalogue=catalogue_id([TASK]), program="tests")
    return Me(**(vars(plain) | changes))  # type: ignore[arg-type]


def session(role: Role, who: Me, now: float = 0.0, **more: object) -> Session:
    more.setdefault("nonce", bytes([len(role)]) * 32)
    return Session(role, who, unix_time=1_700_000_000, now=now, **more)  # type: ignore[arg-type]


def group_body(signer: Signer = ALICE, **changes: object) -> GroupBody:
    plain = GroupBody(
        network=NETWORK,
        key=signer.key,
        instance=b"i" * 16,
        task=TASK,
        slot=2_833_333,
        index=0,
        question=b"q" * 8,
        answers=[Answer(text="<answer>4</answer>", tokens=3)],
    )
    return msgspec.structs.replace(plain, **changes)


def group(signer: Signer = ALICE, **changes: object) -> bytes:
    """A sealed group."""
    return seal(signer, group_body(signer, **changes))


@dataclass
class Link:
    """A client and a server; frames reach the other side in order, at once."""

    client: Session = field(default_factory=lambda: session("client", me(ALICE)))
    server: Session = field(default_factory=lambda: session("server", me(BOB)))
    heard: dict[str, list[Event]] = field(default_factory=lambda: {"client": [], "server": []})

    def run(self, now: float = 0.0) -> "Link":
        """Deliver until nobody has anything left to say."""
        while True:
            up, down = self.client.take(), self.server.take()
            if not up and not down:
                return self
            for frame in up:
                self.heard["server"] += self.server.receive(frame, now)
            for frame in down:
                self.heard["client"] += self.client.receive(frame, now)

    def events(self, side: str) -> list[Event]:
        """The events of that side since the last call."""
        received, self.heard[side] = self.heard[side], []
        return received


def opened() -> Link:
    """A link after its handshake."""
    link = Link().run()
    link.events("client")
    link.events("server")
    return link


def want(ticket: bytes = b"w" * 16, **changes: object) -> m.Want:
    return msgspec.structs.replace(m.Want(ticket=ticket, tasks=[TASK]), **changes)
