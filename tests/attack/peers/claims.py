"""What a peer gets by claiming: instances of one key, relays that nobody knows, addresses in an invite.

    python -m tests.attack.peers.claims                   64 MiB of pool, 1,500 relays
    python -m tests.attack.peers.claims --quick           the same at a sixteenth of the size

Exchange, pool and invites are the product's own; links are joined in memory (tests/swarm/mesh.py). It measures four
things. How often does a question count if its author names sixteen instances? How many honest groups stay in a pool
that one link floods with invented relays and authors, and does the node still ask others? Which addresses are dialled
because an invite names them?
"""

from random import Random

from sapo_desktop.core.network.invite import Invite
from sapo_desktop.swarm.pool.pool import POOL_BYTES, Path, Pool
from sapo_desktop.swarm.protocol import codec
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.envelope import GroupBody, Opened
from sapo_desktop.swarm.protocol.refusals import Refused
from sapo_desktop.swarm.protocol.signing import Signer
from tests.bench.figure import Figure, arguments, at_least, exactly, show
from tests.swarm.mesh import Mesh, Peer
from tests.swarm.peers import ALICE, TASK, group, group_body

INSTANCES, HONEST, RELAYS, GROUPS_OF_A_RELAY = 16, 400, 1500, 3
GROUP_BYTES = 20_000
HOSTS = (
    *("127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "[::ffff:127.0.0.1]", "[::ffff:0:127.0.0.1]"),
    *("10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "[fd00::1]", "[fe80::1]", "printer", "nas.local"),
    *("169.254.169.254", "[fd00:ec2::254]", "192.0.0.192", "168.63.129.16", "metadata.google.internal"),
    *("[2002:a9fe:a9fe::1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::7f00:1]", "[2001:db8::1]"),
)


def main() -> None:
    given = arguments(__doc__).parse_args()
    scale = 16 if given.quick else 1
    show((instances(), kept(scale, given.seed), asked(), invites()), given)


def instances() -> Figure:
    """How often one question of an author is in the pool of a peer that it publishes to."""
    mesh, author, victim = Mesh(), Peer(1), Peer(2)
    wire = mesh.join(author, victim)
    (_, _), (server, link) = wire.ends
    envelopes = [group(author.signer, instance=bytes([number]) * 16) for number in range(INSTANCES)]
    server.exchange.receive(link, codec.encode(m.Publish(batch=codec.pack_published(envelopes))), mesh.now)
    count = len(victim.exchange.pool)
    return exactly(f"times one question counts under {INSTANCES} instances", count, "times", 1)


def kept(scale: int, seed: int) -> Figure:
    """Share of the honest groups that a flood over one other link leaves in the pool."""
    pool, rng = Pool(ALICE.key, POOL_BYTES // scale), Random(seed)
    honest = [rng.randbytes(32) for _ in range(HONEST // scale)]
    for author in honest:
        # Through one relay, out of four networks.
        add(pool, author, 0, Path(b"h" * 32, b"h" * 32, bytes([author[0] % 4])))
    flood = 0
    for _ in range(RELAYS // scale):
        relay = rng.randbytes(32)
        for index in range(GROUPS_OF_A_RELAY):
            flood += add(pool, rng.randbytes(32), index, Path(b"x" * 32, relay, relay[:2]))
    left = len({entry.name.author for entry in pool} & set(honest))
    note = f"{left} of {len(honest)}; of the flood {flood:,} were taken and {len(pool) - left:,} are left"
    name = f"honest groups kept while one link claims {RELAYS // scale:,} relays"
    return exactly(name, left / len(honest), "share", 1, note)


def add(pool: Pool, author: bytes, index: int, path: Path) -> bool:
    """Whether a group of this author was taken; as if its signature had been checked."""
    body: GroupBody = group_body(ALICE, key=author, index=index)
    try:
        pool.add(Opened(body, (author + bytes([index])).ljust(GROUP_BYTES, b".")), path, 0.0)
    except Refused:
        return False
    return True


def asked() -> Figure:
    """Honest groups that a node gets of its relay after another link has filled the pool with made-up authors."""
    mesh, victim, loud, relay = Mesh(), Peer(1), Peer(2), Peer(3)
    mesh.join(victim, loud)
    mesh.join(victim, relay)
    authors = [Peer(number) for number in range(10, 26)]
    for number, author in enumerate(authors):
        mesh.join(author, relay, tag=bytes([number]))
        author.share(mesh.now)
    mesh.settle()
    (link,) = (link for link in victim.exchange.links if link.key == loud.signer.key)
    for number in range(1000, 1200):
        signer = Signer(number.to_bytes(32, "big"))
        sourced = m.Sourced(envelope=group(signer), relay=signer.key, tag=b"")
        victim.exchange._take_in(link, sourced, mesh.now, published=False)
    victim.exchange.want([TASK], 16)
    mesh.wait(20)
    keys = {author.signer.key for author in authors}
    got = sum(entry.name.author in keys for entry in victim.exchange.pool)
    return at_least("honest groups got next to a link that filled the pool", got, "groups", 8)  # half of what it wants


def invites() -> Figure:
    """Addresses of this computer, of local networks and of clouds that an invite has dialled unasked."""
    peers = [f"wss://{host}:8765" for host in HOSTS] + ["wss://relay.example:22", "wss://relay.example:25"]
    unasked = [peer for peer in peers if Invite("5a" * 32, (peer,)).nearby == ()]
    note = f"of {len(peers)} tried{': ' if unasked else ''}{', '.join(unasked)}"
    return exactly("addresses that an invite dialled unasked", len(unasked), "addresses", 0, note)


if __name__ == "__main__":
    main()
