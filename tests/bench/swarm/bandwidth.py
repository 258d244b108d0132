"""The traffic of a node by the size of the swarm, from two nodes to a hundred thousand.

    python -m tests.bench.swarm.bandwidth                 measured at 2, 4, 8, 16 nodes, simulated to 100,000
    python -m tests.bench.swarm.bandwidth --quick         measured at 2 and 4, simulated to 1,000

Measured: nodes and a relay over real websockets with TLS, everything but model and examiner; every node publishes and
draws four groups of eight answers in ten seconds, the pace of a 4/4 mix. Simulated: the same sessions, exchanges,
pools and draws joined in memory, in simulated time; two relays with as many sessions as they take, and
what their shelves hold of authors beyond them.
"""

import asyncio
import contextlib
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.addresses.links import VISIT_SECONDS
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.link import Traffic
from sapo_desktop.swarm.pool import held_filter
from sapo_desktop.swarm.pool.pool import Path as Way
from sapo_desktop.swarm.protocol.envelope import Answer, GroupBody, open_envelope
from sapo_desktop.swarm.protocol.refusals import Refused
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.sockets.certificate import self_signed, server_context
from sapo_desktop.swarm.sockets.network import now
from tests.attack.sockets.nodes import a_network
from tests.bench.figure import Figure, arguments, at_most, show, tell
from tests.swarm.mesh import SLOT, Mesh, Peer, Wire
from tests.swarm.peers import NETWORK, TASK, group

GROUPS, ROUND_SECONDS = 4, 10.0
"""Groups published and drawn in a round, and how long it takes."""
STOCK = 8 * GROUPS
RELAY_SESSIONS = 1000
_FEDERATED_SHELF = 20_000
"""Groups of authors elsewhere that a relay's shelf has room for."""
_MANY_NODES, _VISITED = 1000, 6
"""Nodes of the swarm in which one more link moves on, and the relays that it goes to in turn."""
_WATCHED = 4
"""Leaves whose traffic is counted."""


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--unfiltered", action="store_true", help="no WANT says what its sender has")
    given = parser.parse_args()
    if given.unfiltered:
        held_filter.build = lambda digests, ticket: b""
    measured_at, seconds = ([2, 4], 5.0) if given.quick else ([2, 4, 8, 16], 60.0)
    simulated_at = [2, 16, 1000] if given.quick else [2, 16, 100, 1000, 10_000, 100_000]
    values = []
    for count in measured_at:
        tell(f"measuring {count} nodes for {seconds:.0f} s")
        values.append(asyncio.run(measured(count, seconds)))
        show([figure(f"measured, {count} nodes", values[-1])], given)
    show([flat("measured", measured_at, values)], given)
    values = []
    for count in simulated_at:
        tell(f"simulating {count} nodes")
        a_node, drawn = simulated(count, given.seed)
        values.append(a_node)
        name = f"simulated, {count:,} nodes"
        show([figure(name, a_node), Figure(f"groups drawn of those wanted, {name}", drawn, "share")], given)
    show([flat("simulated", simulated_at, values)], given)
    tell("simulating a link that moves on")
    a_node, _ = simulated(_MANY_NODES, given.seed, visited=_VISITED)
    show([figure(f"simulated, {_MANY_NODES:,} nodes, with a third link that moves on", a_node)], given)


def figure(name: str, a_node: float) -> Figure:
    return Figure(f"traffic of a node, {name}", a_node * 60 / 1000, "KB a minute")


def flat(name: str, counts: Sequence[int], values: Sequence[float]) -> Figure:
    """The largest swarm's traffic in terms of that of the smallest one in which there is enough to draw."""
    ratio = values[-1] / values[1]
    return at_most(f"traffic of a node, {name}, {counts[-1]:,} nodes against {counts[1]:,}", ratio, "times", 1.25)


class Leaf:
    """A node over real sockets, without model and examiner."""

    def __init__(self, name: int) -> None:
        self.signer = Signer(name.to_bytes(32, "big"))
        self.network = a_network(self.signer)
        self.exchange = self.network.exchange
        self._index = 0

    async def play(self, until: float) -> None:
        """Rounds at the usual pace."""
        self.exchange.want([TASK], STOCK)
        while time.monotonic() < until:
            for _ in range(GROUPS):
                self.network.publish(self._group())
            await asyncio.sleep(ROUND_SECONDS)
            self.exchange.draw(GROUPS, now())

    def _group(self) -> bytes:
        slot, index = int(time.time() // 600) - self._index // 64, self._index % 64
        self._index += 1
        return eight_answers(self.signer, slot, index)

    @property
    def traffic(self) -> Sequence[Traffic]:
        return [link.traffic for link in self.exchange.links]


async def measured(count: int, seconds: float) -> float:
    """Bytes a second of a node, both ways together; frames only, without TLS and TCP."""
    relay = Leaf(1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        tls, certificate = server_context(*self_signed(Path(folder)))
    port = await relay.network.listen("127.0.0.1", 0, tls=tls, certificate=certificate)
    leaves = [Leaf(number + 1) for number in range(count)]
    for leaf in leaves:
        leaf.network.dial(Address("127.0.0.1", port, key=relay.signer.key))
    while sum(link.session.is_open for link in relay.exchange.links) < count:
        await asyncio.sleep(0.01)
    before = [total(leaf.traffic) for leaf in leaves]
    await asyncio.gather(*(leaf.play(time.monotonic() + seconds) for leaf in leaves))
    after = [total(leaf.traffic) for leaf in leaves]
    await asyncio.gather(*(one.network.close() for one in (relay, *leaves)))
    return statistics.mean(b - a for a, b in zip(before, after, strict=True)) / seconds


def simulated(count: int, seed: int, visited: int = 0) -> tuple[float, float]:
    """The same in a swarm of any size, and what share of the groups that it wants a node draws: two relays, and on each
    what it would hold of the others' groups. `visited`: so many more, of which each node is linked to one at a time, as
    its latest link is that moves on (swarm/addresses/links.py)."""
    mesh, rng = Mesh(), Random(seed)
    relays = [Peer(2_000_001 + number) for number in range(2 + visited)]
    stays, rest = relays[:2], relays[2:]
    watched = [Peer(number + 1) for number in range(min(_WATCHED, count))]
    for leaf in watched:
        for relay in stays:
            mesh.join(leaf, relay, tag=leaf.signer.key[:8])
        leaf.exchange.want([TASK], STOCK)
    others = min(count, RELAY_SESSIONS) - len(watched)
    for relay in relays:
        fill(relay, others, count, mesh.now, rng)
    mesh.wait(60)
    before = [bytes_of(leaf) for leaf in watched]
    rounds, drawn = 60, 0
    visits: list[Wire] = []
    for number in range(rounds):
        if rest and number % (VISIT_SECONDS // ROUND_SECONDS) == 0:
            visits = move_on(mesh, visits, watched, rest[int(number // (VISIT_SECONDS // ROUND_SECONDS)) % len(rest)])
        for leaf in watched:
            leaf.share(mesh.now, GROUPS, answers=ANSWERS)
        mesh.wait(ROUND_SECONDS)
        for leaf in watched:
            drawn += len(leaf.exchange.draw(GROUPS, mesh.now)[0])
        for relay in relays:
            fill(relay, GROUPS * others // 60, count, mesh.now, rng)
    after = [bytes_of(leaf) for leaf in watched]
    a_node = statistics.mean(b - a for a, b in zip(before, after, strict=True)) / (rounds * ROUND_SECONDS)
    return a_node, drawn / (rounds * GROUPS * len(watched))


def move_on(mesh: Mesh, visits: list[Wire], watched: Sequence[Peer], relay: Peer) -> list[Wire]:
    """End these links, and have each watched node visit this relay."""
    for wire in visits:
        mesh.wires.remove(wire)
        for peer, link in wire.ends:
            peer.exchange.detach(link)
    return [mesh.join(leaf, relay, tag=leaf.signer.key[:8], visit=True) for leaf in watched]


def fill(relay: Peer, groups: int, authors: int, at: Now, rng: Random) -> None:
    """Put groups of authors that are not watched on a relay's shelf, as if they or another relay had published them."""
    shelf = relay.exchange.giving.shelf
    for _ in range(min(groups, _FEDERATED_SHELF)):
        signer = Signer((10_000_000 + rng.randrange(authors)).to_bytes(32, "big"))
        envelope = eight_answers(signer, SLOT - rng.randrange(6), rng.randrange(64))
        opened = open_envelope(envelope, GroupBody, NETWORK)
        way = Way(relay.signer.key, relay.signer.key, rng.randrange(5000).to_bytes(8, "big"))
        with contextlib.suppress(Refused):  # a name that was drawn twice
            shelf.add(opened, way, at.monotonic)


ANSWERS = [Answer(text=f"432%672=432 672%432=240 432%240=192<answer>{n}</answer>", tokens=60) for n in range(8)]


def eight_answers(signer: Signer, slot: int, index: int) -> bytes:
    return group(signer, slot=slot, index=index, answers=ANSWERS)


def total(traffic: Sequence[Traffic]) -> int:
    return sum(one.bytes_in + one.bytes_out for one in traffic)


def bytes_of(leaf: Peer) -> int:
    return total([leaf.exchange.past, *(link.traffic for link in leaf.exchange.links)])


if __name__ == "__main__":
    main()
