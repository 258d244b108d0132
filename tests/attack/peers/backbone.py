"""A relay floods the backbone with invented identities and tags: how many of a node's draws does it get?

    python -m tests.attack.peers.backbone                 4 honest relays and a hostile one, 60 rounds
    python -m tests.attack.peers.backbone --quick         12 rounds

Exchanges, pools, draws and federation are the product's own; links and NATS are in memory (tests/swarm/mesh.py). Each
honest relay has ten authors, who share a group a round. The hostile one sends all that the others take, each group by
another identity under another tag. A node at an honest relay draws six groups a round.
"""

from sapo_desktop.core.statistics import wilson
from sapo_desktop.swarm.backbone.federation import GROUPS_PER_SECOND, seal_batch
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.signing import Signer
from tests.bench.figure import Figure, arguments, exactly, show, tell
from tests.swarm.backbone.relays import Relay, carry
from tests.swarm.mesh import SLOT, Mesh, Peer
from tests.swarm.peers import NETWORK, TASK, group

RELAYS, AUTHORS, SECONDS = 4, 10, 10
GOAL = 1 / (RELAYS + 1)
"""Share of the draws: as much as any other relay."""


def main() -> None:
    given = arguments(__doc__).parse_args()
    show(flooded(12 if given.quick else 60), given)


def flooded(rounds: int) -> list[Figure]:
    """What the flood gets of a node's draws, and what of the honest groups reaches the other relays."""
    mesh, leaf, hostile = Mesh(), Peer(500_000), Signer(b"h" * 32)
    relays = [Relay(200_000 + number) for number in range(RELAYS)]
    authors = [Peer(number + 1) for number in range(RELAYS * AUTHORS)]
    for number, author in enumerate(authors):
        mesh.join(author, relays[number % RELAYS], tag=number.to_bytes(2, "big"))
    mesh.join(leaf, relays[0])
    leaf.exchange.want([TASK], 64)
    drawn = theirs = forged = 0
    honest: set[bytes] = set()
    for number in range(rounds):
        tell(f"round {number + 1} of {rounds}")
        for author in authors:
            honest.update(author.share(mesh.now))
        for _ in range(SECONDS):
            mesh.wait(1, step=1)
            carry(relays, mesh.now)
            for _ in range(int(GROUPS_PER_SECOND) // limits.MAX_BATCH):
                groups = [forgery(forged + n) for n in range(limits.MAX_BATCH)]
                forged += len(groups)
                for message in seal_batch(hostile, NETWORK, groups, mesh.now.unix):
                    for relay in relays:
                        relay.take(hostile.key, message, mesh.now)
        entries, _ = leaf.exchange.draw(6, mesh.now)
        drawn += len(entries)
        theirs += sum(entry.path.relay == hostile.key for entry in entries)
    interval = wilson(theirs, drawn)
    reached = sum(envelope in relay.served() for envelope in honest for relay in relays)
    return [
        Figure(
            "draws of a relay that floods the backbone",
            theirs / drawn,
            "share",
            f"{GOAL} within the interval",
            interval.low <= GOAL,
            f"{theirs} of {drawn} from {forged} forged against {len(honest)}; 95% interval "
            f"{interval.low:.3f} to {interval.high:.3f}",
        ),
        exactly("honest groups that all relays serve", reached / (len(honest) * RELAYS), "share", 1),
    ]


def forgery(number: int) -> m.Sourced:
    signer = Signer((1 << 100 | number).to_bytes(32, "big"))
    return m.Sourced(envelope=group(signer, slot=SLOT), tag=number.to_bytes(8, "big"))


if __name__ == "__main__":
    main()
