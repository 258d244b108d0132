"""Two sessions against each other and against a hostile wire: frames lost, doubled, reordered, cut and made up.

Whatever the wire does, no session raises, none says more than it was granted, and what arrives as published is a batch
that was sent; on a wire that only delays, no frame is ever refused.
"""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sapo_desktop.swarm.protocol import codec, events
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.session import Session
from tests.swarm.peers import ALICE, BOB, TASK, group, me, session, want

SIDES = st.sampled_from(["client", "server"])
OTHER = {"client": "server", "server": "client"}
GROUPS = [group(index=index) for index in range(4)]


class Wire(RuleBasedStateMachine):
    """A link whose wire may only delay."""

    hostile = False

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.sides: dict[str, Session] = {}
        self.wires: dict[str, list[bytes]] = {"client": [], "server": []}
        """Frames on their way from that side."""
        self.sent: list[list[bytes]] = []
        self.tickets = 0
        self.wanted: list[tuple[str, bytes]] = []
        self.reported: list[events.Event] = []

    @initialize()
    def connect(self) -> None:
        self.sides = {
            "client": session("client", me(ALICE), expected_key=BOB.key),
            "server": session("server", me(BOB)),
        }

    @rule(side=SIDES)
    def deliver(self, side: str) -> None:
        if self.wires[side]:
            self.hear(OTHER[side], self.wires[side].pop(0))

    def hear(self, side: str, frame: bytes) -> None:
        for event in self.sides[side].receive(frame, self.now):
            self.reported.append(event)
            if isinstance(event, m.Want):
                self.wanted.append((side, event.ticket))

    @rule(side=SIDES, n=st.integers(1, 4))
    def publish(self, side: str, n: int) -> None:
        if self.sides[side].publish(GROUPS[:n], self.now):
            self.sent.append(GROUPS[:n])

    @rule(side=SIDES)
    def want(self, side: str) -> None:
        self.tickets += 1
        self.sides[side].want(want(self.tickets.to_bytes(16, "big")), self.now)

    @precondition(lambda self: self.wanted)
    @rule(n=st.integers(0, 3))
    def serve(self, n: int) -> None:
        side, ticket = self.wanted.pop(0)
        self.sides[side].serve(ticket, [m.Sourced(envelope=envelope) for envelope in GROUPS[:n]], self.now)

    @rule(seconds=st.floats(0, 20))
    def wait(self, seconds: float) -> None:
        self.now += seconds
        for side in self.sides.values():
            self.reported += side.tick(self.now)

    @invariant()
    def collect(self) -> None:
        for name, side in self.sides.items():
            self.wires[name] += side.take()

    @invariant()
    def what_arrives_was_sent(self) -> None:
        for event in self.reported:
            assert not isinstance(event, events.Published) or event.envelopes in self.sent
            if not self.hostile:
                assert not isinstance(event, events.RefusedMessage), event
        self.reported.clear()


class HostileWire(Wire):
    """The same with a wire that does anything."""

    hostile = True

    @rule(side=SIDES)
    def lose(self, side: str) -> None:
        self.wires[side][:1] = []

    @rule(side=SIDES, place=st.integers(0, 5))
    def double(self, side: str, place: int) -> None:
        self.wires[side] += self.wires[side][place : place + 1]

    @rule(side=SIDES, order=st.randoms(use_true_random=False))
    def shuffle(self, side: str, order: Any) -> None:
        order.shuffle(self.wires[side])

    @rule(side=SIDES, keep=st.integers(0, 200))
    def cut(self, side: str, keep: int) -> None:
        self.wires[side][:1] = [frame[:keep] for frame in self.wires[side][:1]]

    @rule(side=SIDES, frame=st.binary(max_size=200))
    def make_up_bytes(self, side: str, frame: bytes) -> None:
        self.hear(side, frame)

    @rule(
        side=SIDES,
        message=st.sampled_from(
            [
                m.Ping(number=3),
                m.Pong(),
                m.CatalogueReq(),
                m.Catalogue(tasks=[TASK]),
                m.Credit(ms_per_group=2**53, together=2**53),
                m.Publish(batch=b"rubbish"),
                m.Groups(ticket=bytes(16), batch=codec.pack_sourced([])),
                m.PeersReq(),
                m.Peers(records=[b""]),
                m.Stats(envelope=b""),
                m.Auth(signature=bytes(64)),
                m.Goodbye(reason="go away", retry_after=2**53),
            ]
        ),
    )
    def make_up_a_message(self, side: str, message: m.Any) -> None:
        self.hear(side, codec.encode(message))

    @rule(side=SIDES)
    def echo(self, side: str) -> None:
        """What a side said comes back to it."""
        if self.wires[side]:
            self.hear(side, self.wires[side][0])


TestDelayingWire = Wire.TestCase
TestHostileWire = HostileWire.TestCase
TestDelayingWire.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestHostileWire.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
