"""Simulates a hundred relays and a hundred thousand nodes: what do one relay and one node see of them?

    python -m tests.attack.peers.many_relays              half an hour of the swarm; some minutes of one core
    python -m tests.attack.peers.many_relays --quick      a tenth of the nodes, eleven minutes of the swarm

Shards, shelf, the sample that answers a WANT, pool and draw are the product's. Each node has one home relay and
publishes a group a minute there that goes to the other relays; a node with links to two relays asks and draws. Not
simulated: signatures, sockets and NATS (tests/swarm/sockets/test_backbone.py has them), nodes that come and go.
"""

import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from sapo_desktop.swarm.backbone.shards import SHARDS, heard_by, shard_of
from sapo_desktop.swarm.giving import SHELF_BYTES, sample
from sapo_desktop.swarm.pool.draw import draw
from sapo_desktop.swarm.pool.pool import Path, Pool
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.envelope import GroupBody, Opened
from sapo_desktop.swarm.protocol.refusals import Refused
from tests.bench.figure import Figure, arguments, show, tell
from tests.swarm.peers import ALICE, TASK, group_body

RELAYS, NODES = 100, 100_000
GROUP = bytes(3 * limits.KIB)
"""What a group of eight answers takes on the wire, about."""
DRAWN = 4
START = 1_800_000_000
HEARD = (SHARDS, SHARDS // 4, SHARDS // 16)


@dataclass
class Seen:
    """What a node had of the swarm."""

    authors: Counter[bytes]
    relays: Counter[bytes]
    tags: set[tuple[bytes, bytes]]


def main() -> None:
    given = arguments(__doc__).parse_args()
    nodes, minutes = (NODES // 10, 11) if given.quick else (NODES, 30)
    for shards in HEARD:
        tell(f"{shards} of {SHARDS} shards")
        show(swarm(nodes, minutes, shards, Random(given.seed)), given)


def swarm(nodes: int, minutes: int, shards: int, rng: Random) -> Iterator[Figure]:
    """Figures of two relays that listen to so many shards, and of a node with links to both."""
    relays = [rng.randbytes(32) for _ in range(RELAYS)]
    homes = {relay: [(rng.randbytes(32), rng.randbytes(2)) for _ in range(nodes // RELAYS)] for relay in relays}
    shelves = {relay: Pool(b"", SHELF_BYTES) for relay in relays[:2]}
    taken: Counter[bytes] = Counter()
    pool, seen = Pool(b""), Seen(Counter(), Counter(), set())
    for minute in range(minutes):
        now = START + 60 * minute
        for us, shelf in shelves.items():
            shelf.expire(now)
            heard = heard_by(us, shards, now)
            for relay in (relay for relay in relays if relay == us or shard_of(relay, now) in heard):
                taken[us] += _published(shelf, relay, homes[relay], now)
        for _ in range(6):
            _asked(pool, shelves, now, rng)
            _drawn(pool, seen, rng)
    per_second = taken.total() / len(shelves) / minutes / 60
    drawn = seen.authors.total()
    name = f"{shards} shards of {SHARDS}"
    yield Figure(f"{name}: groups into a relay", per_second, "/s", note=_kilobytes(per_second))
    note = f"{drawn} groups of {len(seen.relays)} relays and {len(seen.tags)} tags; most of one {_most(seen.authors)}"
    yield Figure(f"{name}: identities in draws", len(seen.authors) / drawn, "a group", note=note)
    yield Figure(f"{name}: largest relay's share of draws", _most(seen.relays) / drawn, "share")


def _published(shelf: Pool, relay: bytes, authors: list[tuple[bytes, bytes]], now: int) -> int:
    """One group of each author of this relay; returns how many were taken."""
    slot, index = now // limits.SLOT_SECONDS, now % limits.SLOT_SECONDS // 60
    taken = 0
    for author, tag in authors:
        # As what comes over the backbone: a relay is one source.
        try:
            shelf.add(_group(author, slot, index), Path(relay, relay, tag), now)
            taken += 1
        except Refused:
            pass  # the shelf is full, and this source holds its share of it
    return taken


def _group(author: bytes, slot: int, index: int) -> Opened[GroupBody]:
    return Opened(group_body(ALICE, key=author, slot=slot, index=index, instance=author[:16]), GROUP)


def _asked(pool: Pool, shelves: dict[bytes, Pool], now: int, rng: Random) -> None:
    """The node asks each of its relays for as many groups as it draws."""
    for relay, shelf in shelves.items():
        for entry in sample(shelf, m.Want(ticket=rng.randbytes(16), n=DRAWN, tasks=[TASK]), rng):
            name, path = entry.name, entry.path
            with contextlib.suppress(Refused):  # the other relay had it, too
                pool.add(_group(name.author, name.slot, name.index), Path(relay, path.relay, path.tag), now)


def _drawn(pool: Pool, seen: Seen, rng: Random) -> None:
    for entry in pool.take(draw(pool, DRAWN, {TASK}, lambda author: False, rng).names):
        seen.authors[entry.name.author] += 1
        seen.relays[entry.path.relay] += 1
        seen.tags.add((entry.path.relay, entry.path.tag))


def _kilobytes(groups: float) -> str:
    return f"{groups * len(GROUP) / 1000:.0f} kB/s"


def _most(counted: Counter[bytes]) -> int:
    return max(counted.values(), default=0)


if __name__ == "__main__":
    main()
