"""A tenth of the swarm floods, three tenths lie: what do they get of a node's draws, how far do they move its reward?

    python -m tests.attack.peers.flood                    40 nodes, 200 rounds, directly and through two relays
    python -m tests.attack.peers.flood --quick            20 nodes, 30 rounds

The exchanges, pools, draws and the reward meter are the product's own, joined by links in memory (tests/swarm/mesh.py).
Every honest node shares a group a round; the others twenty, as fast as the protocol lets them. A node draws six groups
a round.
"""

from random import Random

from sapo_desktop.core.statistics import wilson
from sapo_desktop.swarm.trust.reward import Origin, RewardMeter
from tests.bench.figure import Figure, arguments, at_most, show, tell
from tests.swarm.mesh import Mesh, Peer
from tests.swarm.peers import TASK

GOAL = 0.12
HONEST, LIARS = 700, 300


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--nodes", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=200)
    given = parser.parse_args()
    nodes, rounds = (20, 30) if given.quick else (given.nodes, given.rounds)
    for relayed in (False, True):
        tell(f"flooding {'through relays' if relayed else 'directly'}")
        show([flooded(nodes, rounds, relayed=relayed)], given)
    show(map(shifted, (0.0, 1.0)), given)


def flooded(nodes: int, rounds: int, *, relayed: bool) -> Figure:
    """Share of one node's draws that the flooding tenth gets."""
    mesh, victim = Mesh(), Peer(100_000)
    peers = [Peer(number + 1) for number in range(nodes)]
    loud = peers[: nodes // 10]
    relays = [Peer(200_001), Peer(200_002)] if relayed else []
    for relay in relays:
        mesh.join(victim, relay)
    for number, peer in enumerate(peers):
        mesh.join(peer, relays[number % 2] if relayed else victim, tag=number.to_bytes(2, "big"))
    victim.exchange.want([TASK], 64)
    keys = {peer.signer.key for peer in loud}
    theirs = drawn = 0
    for _ in range(rounds):
        for peer in peers:
            peer.share(mesh.now, 20 if peer in loud else 1)
        mesh.wait(10, step=10)
        entries, _ = victim.exchange.draw(6, mesh.now)
        drawn += len(entries)
        theirs += sum(entry.name.author in keys for entry in entries)
    interval = wilson(theirs, drawn)
    name = f"draws of a flooding tenth, {'through two relays' if relayed else 'directly'}"
    note = f"{theirs} of {drawn}; 95% interval {interval.low:.3f} to {interval.high:.3f}"
    return at_most(name, theirs / drawn, "share", GOAL, note)


def shifted(lie: float) -> Figure:
    """How far three tenths of the identities that are always right, or always wrong, move the swarm's reward.
    Held: it stays between the 28th and the 72nd percentile of the honest."""
    rng = Random(1)
    honest = [rng.betavariate(2, 5) for _ in range(HONEST)]
    meter = RewardMeter()
    for author, mean in enumerate(honest):
        meter.observe("gcd/easy", _origin(author), [mean], 0.0)
    before = meter.heard(["gcd/easy"]).estimate(0.0, seed=1)
    for author in range(HONEST, HONEST + LIARS):
        meter.observe("gcd/easy", _origin(author), [lie], 0.0)
    after = meter.heard(["gcd/easy"]).estimate(0.0, seed=1)
    assert before is not None and after is not None
    low, high = (sorted(honest)[int(share * HONEST)] for share in (0.28, 0.72))
    return Figure(
        f"shift of the reward by 30%, always {'right' if lie else 'wrong'}",
        after.value - before.value,
        "reward",
        f"{low - before.value:+.3f} to {high - before.value:+.3f}",
        low <= after.value <= high,
        f"{before.value:.3f} to {after.value:.3f}, interval {after.low:.3f} to {after.high:.3f}",
    )


def _origin(author: int) -> Origin:
    return Origin(author.to_bytes(32, "big"), b"", author.to_bytes(4, "big"))


if __name__ == "__main__":
    main()
