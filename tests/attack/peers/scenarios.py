"""Attacks with many identities, addresses, clocks and relays, simulated with the product's own parts.

    python -m tests.attack.peers.scenarios                all of them
    python -m tests.attack.peers.scenarios --quick        fewer rounds and tries
    python -m tests.attack.peers.scenarios --only eclipse,sybils

Pool, draw, standing, clock, address book and exchange are the product's; links are joined in memory
(tests/swarm/mesh.py), and the test moves the time. A node that knows nobody cannot
reach some goals: those figures are recorded as missed.
"""

import heapq
from collections.abc import Callable, Iterator
from random import Random
from unittest.mock import patch

from sapo_desktop.core.statistics import wilson
from sapo_desktop.swarm.addresses import book as book_module
from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.addresses.announcement import Announcement
from sapo_desktop.swarm.addresses.book import AddressBook
from sapo_desktop.swarm.addresses.links import FOUND_LINKS
from sapo_desktop.swarm.clock import MANY_NETWORKS, Clock
from sapo_desktop.swarm.pool.draw import LINK_SHARE, NEW_SHARE, draw
from sapo_desktop.swarm.pool.pool import Path, Pool
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.envelope import Opened, PeerBody, open_envelope
from sapo_desktop.swarm.protocol.refusals import Refused
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.sockets.fair_queue import Turns
from tests.attack.peers.eclipse import PARTS, eclipse
from tests.bench.figure import Figure, arguments, at_least, at_most, exactly, show, tell
from tests.swarm.mesh import SLOT, START, Mesh, Peer
from tests.swarm.peers import ALICE, NETWORK, TASK, group, group_body

HONEST, SYBILS_EACH = 20, 20
DRAWN = 8
HOUR, DAY = 3600.0, 86400.0


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", default=",".join(SCENARIOS), help="scenarios, separated by commas")
    given = parser.parse_args()
    for name in given.only.split(","):
        tell(name)
        show(SCENARIOS[name](given.quick, Random(given.seed)), given)


def share(name: str, count: int, of: int, most: float) -> Figure:
    """A share that is to be at most so much."""
    interval = wilson(count, of)
    note = f"{count} of {of}; 95% interval {interval.low:.3f} to {interval.high:.3f}"
    value = count / max(1, of)
    goal = f"≤{most:.3g}" if most else "0"
    return Figure(name, value, "share", goal, bool(of) and value <= most, note)


# -- sybils ----------------------------------------------------------------------------------------------------------


def sybils(quick: bool, rng: Random) -> Iterator[Figure]:
    """Twenty made-up identities for each honest one, through two honest relays."""
    rounds = 50 if quick else 300
    few, every = range(HONEST, HONEST + 2), range(HONEST, HONEST * (1 + SYBILS_EACH))
    cases = {
        "fresh, two networks": (few, True, NEW_SHARE),
        "a day old, two networks": (few, False, 3 / (HONEST + 2)),  # 1.5 times their share
        "fresh, one network each": (every, True, NEW_SHARE),
        "a day old, one network each": (every, False, NEW_SHARE),
    }
    for name, (places, fresh, most) in cases.items():
        theirs = drawn = 0
        for _ in range(rounds):
            pool = Pool(b"")
            honest = [rng.randbytes(32) for _ in range(HONEST)]
            made_up = [rng.randbytes(32) for _ in range(HONEST * SYBILS_EACH)]
            for number, author in enumerate(honest):
                put(pool, author, bytes([number % 2]) * 32, number)
            for number, author in enumerate(made_up):
                put(pool, author, bytes([number % 2]) * 32, places[number % len(places)])
            new = set(made_up if fresh else ())
            taken = draw(pool, DRAWN, [TASK], new.__contains__, rng).names
            drawn += len(taken)
            theirs += sum(one.author not in honest for one in taken)
        yield share(f"draws of 20 sybils to 1, {name}", theirs, drawn, most)


def put(pool: Pool, author: bytes, relay: bytes, place: int, index: int = 0, slot: int = SLOT) -> None:
    """A group in a pool, as if its signature had been checked."""
    body = group_body(ALICE, key=author, index=index, slot=slot)
    name = author + index.to_bytes(2, "big") + slot.to_bytes(8, "big")
    pool.add(Opened(body, name.ljust(800, b".")), Path(relay, relay, place.to_bytes(2, "big")), 0.0)


# -- addresses -------------------------------------------------------------------------------------------------------


PLACES = 1024
"""Addresses of strangers that a book has room for."""


def filled(quick: bool, rng: Random) -> Iterator[Figure]:
    """Addresses of two networks that all answer fill a book before it hears of honest ones: how many of
    those does it take, and how many would it in one bucket of the same size?"""
    tries = 1 if quick else 5
    for name, buckets in (("", book_module._BUCKETS), (", in one bucket", 1)):
        with patch.multiple(book_module, _BUCKETS=buckets, _PER_BUCKET=PLACES // buckets):
            taken = sum(taken_of_honest(rng) for _ in range(tries))
        name, of = f"honest addresses that a book takes after {PLACES} from two networks{name}", tries * PARTS
        yield at_least(name, taken / of, "share", None if buckets == 1 else 0.9, f"{taken} of {of}")


def taken_of_honest(rng: Random) -> int:
    """The number of honest addresses that a fresh book takes after it was filled."""
    book = AddressBook(b"o" * 32, rng.randbytes(32))
    hosts = [f"{130 + n % 2}.7.{n // 256}.{n % 256}" for n in range(PLACES)]
    hosts += [f"{20 + n}.8.{rng.randrange(256)}.1" for n in range(PARTS)]
    taken = 0
    for number, host in enumerate(hosts):
        key = number.to_bytes(32, "big")
        address = Address(host, 8765, key=key)
        body = PeerBody(network=NETWORK, key=key, time=int(START.unix), address=str(address))
        try:
            book.add_record(Opened(body, b"e" * 100), START.unix, b"teller")
        except Refused:
            continue  # its bucket holds nodes that answered
        book.tried(address, START.unix, reached=True)
        taken += number >= PLACES
    return taken


# -- time ------------------------------------------------------------------------------------------------------------


def replay(quick: bool, rng: Random) -> Iterator[Figure]:
    """A day of true groups comes again: all that were ever published, from a peer that kept them."""
    authors = [Signer(rng.randbytes(32)) for _ in range(2 if quick else 10)]
    slots = range(SLOT - 144, SLOT + 1)
    day = [group(author, slot=slot, index=index) for author in authors for slot in slots for index in range(2)]
    mesh, victim, relay = Mesh(), Peer(1), Peer(2)
    mesh.join(victim, relay)
    (link,) = victim.exchange.links

    def come() -> int:
        before = link.traffic.groups_in
        for envelope in day:
            victim.exchange._take_in(link, m.Sourced(envelope=envelope, relay=b"r" * 32), mesh.now, published=False)
        return link.traffic.groups_in - before

    first = come()
    recent = len(authors) * 2 * (1 - limits.OLDEST_SLOT)
    victim.exchange.want([TASK], 64)
    victim.exchange.draw(DRAWN, mesh.now)
    again = come()
    charged = sum(victim.exchange.standing.is_shut_out(author.key, mesh.now.monotonic) for author in authors)
    yield share("groups over an hour old taken of a replay", max(0, first - recent), len(day), 0)
    yield share("groups taken twice", again, len(day), 0)
    yield share("authors shut out for others' replays", charged, len(authors), 0)


def clocks(quick: bool, rng: Random) -> Iterator[Figure]:
    """Nodes whose clock is wrong: is it said, do they keep out of the way, and whom do they take along?"""
    unsaid = 0
    for wrong in (HOUR, -HOUR, DAY, -DAY):
        clock = Clock()
        for number in range(4):
            clock.heard(bytes([number]) * 32, START.unix + rng.uniform(-2, 2), START.unix + wrong)
        unsaid += not clock.is_wrong
    yield share("clocks an hour or a day off not reported", unsaid, 4, 0)
    kept = 0
    for off in (-900, -300, 300, 900):
        clock = Clock()
        for number in range(4):
            clock.heard(bytes([number]) * 32, START.unix, START.unix + off)
        kept += clock.slot(START.unix + off) == SLOT
    yield share("clocks up to 15 minutes off not corrected", 4 - kept, 4, 0)
    moved = 0.0
    for wrong in (HOUR, -HOUR, DAY, -DAY):
        clock = Clock()
        for number in range(9):  # the most of nine that is no half
            clock.heard(bytes([number]) * 32, START.unix + (wrong if number < 4 else 0.0), START.unix)
        moved = max(moved, abs(clock.offset))
    yield exactly("how far 4 of 9 wrong clocks move a right one", moved, "s", 0)
    yield from clients_clocks()
    blamed = 0
    for wrong in (HOUR, -HOUR, DAY, -DAY):
        mesh, node, peer = Mesh(), Peer(1), Peer(2)
        mesh.join(node, peer)
        slot = SLOT + int(wrong // limits.SLOT_SECONDS)
        for index in range(40):
            node.exchange.publish(group(node.signer, slot=slot, index=index), mesh.now)
            mesh.wait(2, step=2)
        ended = not all(link.session.is_open for link in peer.exchange.links)
        blamed += ended + peer.exchange.standing.is_shut_out(node.signer.key, mesh.now.monotonic)
    yield exactly("honest nodes blamed for a wrong clock", blamed, "times", 0)


def clients_clocks() -> Iterator[Figure]:
    """Idle clients with a wrong clock dial a relay that dials nobody: are honest groups refused for it?"""
    refused = sent = said = 0
    for networks in (1, 3 * MANY_NETWORKS // 4 - 1):
        for wrong in (-2, 2):
            mesh, relay, honest = Mesh(), Peer(1, draws=False), Peer(2)
            for number in range(networks):
                mesh.join(Peer(100 + number), relay, tag=bytes([number]), off=wrong * limits.SLOT_SECONDS)
            said += relay.exchange.clock.contradicting == networks
            mesh.join(honest, relay, tag=b"honest")
            slots = range(SLOT + limits.OLDEST_SLOT, SLOT + limits.NEWEST_SLOT + 1)
            for slot in slots:
                honest.exchange.publish(group(honest.signer, slot=slot), mesh.now)
                mesh.settle()
            sent += len(slots)
            refused += len(slots) - len(relay.exchange.giving.shelf)
    yield share("honest groups that a relay refuses for the clocks of idle clients", refused, sent, 0)
    yield share("wrong clocks of idle clients that a relay does not report", 4 - said, 4, 0)
    clock = Clock()
    for number in range(MANY_NETWORKS):
        clock.heard(bytes([number]), START.unix + 900, START.unix, dialled=False)
    note = f"{MANY_NETWORKS} networks agree"
    yield exactly("seconds by which a wrong clock of a relay stays wrong", 900 - clock.offset, "s", 0, note)


# -- relays ----------------------------------------------------------------------------------------------------------


def relays(quick: bool, rng: Random) -> Iterator[Figure]:
    """One of three relays forwards only what pleases it, or makes up where its groups come from."""
    rounds = 50 if quick else 300
    favoured = HONEST // 4
    liked = drawn = minted = of_minted = 0
    for _ in range(rounds):
        authors = [rng.randbytes(32) for _ in range(HONEST)]
        biased, minting = Pool(b""), Pool(b"")
        for number, author in enumerate(authors):
            for relay in range(3):
                if relay == number % 3 or (relay == 0 and number < favoured):
                    add(biased, author, relay, number, index=relay, only=relay == 0 and number >= favoured)
                add(minting, author, relay, rng.randrange(65536) if relay == 0 else number, index=relay)
        taken = draw(biased, DRAWN, [TASK], never, rng).names
        drawn += len(taken)
        liked += sum(one.author in authors[:favoured] for one in taken)
        taken = draw(minting, DRAWN, [TASK], never, rng).names
        of_minted += len(taken)
        minted += sum(one.index == 0 for one in taken)
    fair = favoured / HONEST
    most = fair + 1 / 3  # its share and a link's
    yield share("draws of a quarter that one of three relays forwards alone", liked, drawn, most)
    yield share("draws by one relay of three that mints tags", minted, of_minted, LINK_SHARE)
    mesh, victim, minter = Mesh(), Peer(1), Peer(2)
    mesh.join(victim, minter)
    honest = [Peer(number) for number in range(10, 16)]
    for number, peer in enumerate(honest):
        mesh.join(peer, victim, tag=bytes([number]))
        peer.share(mesh.now, 4)
    mesh.settle()
    (link,) = (link for link in victim.exchange.links if link.dialled is not None)
    for number in range(1000, 1300):
        made_up = Signer(number.to_bytes(32, "big"))
        sourced = m.Sourced(envelope=group(made_up), relay=made_up.key, tag=rng.randbytes(8))
        victim.exchange._take_in(link, sourced, mesh.now, published=False)
    victim.exchange.want([TASK], 64)
    entries, _ = victim.exchange.draw(DRAWN, mesh.now)
    theirs = sum(entry.path.link == link.source for entry in entries)
    yield share("draws by one link of seven that mints relays, tags and authors", theirs, len(entries), LINK_SHARE)


def add(pool: Pool, author: bytes, relay: int, place: int, *, index: int, only: bool = False) -> None:
    """A group by one of several relays; `only`: which this one keeps to itself."""
    if not only:
        put(pool, author, bytes([relay]) * 32, place, index=index)


def never(key: bytes) -> bool:
    return False


# -- grinding --------------------------------------------------------------------------------------------------------


def grinding(quick: bool, rng: Random) -> Iterator[Figure]:
    """Questions follow from key, slot and number: who makes keys, or uses all slots, chooses among questions."""
    rounds = 50 if quick else 300
    by_keys = by_slots = of_keys = of_slots = 0
    for _ in range(rounds):
        honest = [rng.randbytes(32) for _ in range(HONEST)]
        keys, slots = Pool(b""), Pool(b"")
        for number, author in enumerate(honest):
            for pool in (keys, slots):
                put(pool, author, bytes([number % 2]) * 32, number)
        ground = [rng.randbytes(32) for _ in range(64)]
        for number, author in enumerate(ground):
            put(keys, author, bytes([number % 2]) * 32, HONEST)
        patient = rng.randbytes(32)
        for slot in range(SLOT + limits.OLDEST_SLOT, SLOT + limits.NEWEST_SLOT + 1):
            for index in range(8):
                put(slots, patient, bytes(32), HONEST, index=index, slot=slot)
        taken = draw(keys, DRAWN, [TASK], set(ground).__contains__, rng).names
        of_keys += len(taken)
        by_keys += sum(one.author not in honest for one in taken)
        taken = draw(slots, DRAWN, [TASK], never, rng).names
        of_slots += len(taken)
        by_slots += sum(one.author == patient for one in taken)
    yield share("draws of a node with a fresh key for each question", by_keys, of_keys, NEW_SHARE)
    twice = 2 / (HONEST + 1)
    yield share("draws of a node that chooses among all slots and numbers", by_slots, of_slots, twice)
    mesh, victim, grinder = Mesh(), Peer(1), Peer(2)
    mesh.join(grinder, victim)
    for slot in range(SLOT - 20, SLOT + 20):
        grinder.exchange.publish(group(grinder.signer, slot=slot), mesh.now)
    mesh.wait(60)
    taken_slots = {entry.name.slot for entry in victim.exchange.pool}
    allowed = limits.NEWEST_SLOT - limits.OLDEST_SLOT + 1
    note = f"so {allowed * limits.SHARED_INDICES} questions of a task at any time; of 40 slots tried"
    yield at_most("slots among which a key may choose", len(taken_slots), "slots", allowed, note)


# -- more than there is time for -------------------------------------------------------------------------------------

CROWD, CALM = 1000, 20
"""Links that always have a message waiting, and honest ones that send one in ten seconds."""
MESSAGE_SECONDS = 0.002
"""What a message with a group costs to deal with, about."""


def crowd(quick: bool, rng: Random) -> Iterator[Figure]:
    """A thousand links send more than there is time for: how long do twenty honest ones wait, and how long would they
    in one line with all others?"""
    seconds = 60.0 if quick else 600.0
    for name, one_place in (("of one place", True), ("of newcomers from one network each", False)):
        for in_turns in (True, False):
            waits = sorted(waited(seconds, rng, one_place=one_place, in_turns=in_turns))
            late = waits[int(0.99 * len(waits))]
            line = "" if in_turns else ", all in one line"
            note = f"99% of {len(waits)} messages, half of them within {waits[len(waits) // 2]:.3f} s"
            name_of = f"99% of honest messages wait next to {CROWD} links, {name}{line}"
            yield at_most(name_of, late, "s", 1 if in_turns else None, note)


def waited(seconds: float, rng: Random, *, one_place: bool, in_turns: bool) -> list[float]:
    """Seconds that each message of the honest links waited. `in_turns`: otherwise all share one turn."""
    now, turns, waits = 0.0, Turns[int](0.0), []
    coming = [(rng.uniform(0.0, 10.0), link) for link in range(CALM)]
    coming += [(rng.uniform(0.0, 1.0), link) for link in range(CALM, CALM + CROWD)]
    heapq.heapify(coming)
    came: dict[int, float] = {}
    while now < seconds:
        while coming and coming[0][0] <= now:
            at, link = heapq.heappop(coming)
            came[link] = at
            part = 0 if not in_turns else CALM if one_place and link >= CALM else link
            turns.wait(link, part.to_bytes(2, "big"), is_new=in_turns and link >= CALM)
        link_now = turns.next(now)
        if link_now is None:
            now = max(min(coming[0][0] if coming else seconds, now + 0.01), now + turns.seconds_to_wait(now))
            continue
        if link_now < CALM:
            waits.append(now - came[link_now])
        turns.spent(MESSAGE_SECONDS, now)
        now += MESSAGE_SECONDS
        heapq.heappush(coming, (now + 10.0 if link_now < CALM else max(now, came[link_now] + 1.0), link_now))
    return waits


# -- nobody to begin with --------------------------------------------------------------------------------------------

NODES, LISTENING = 40, 10
"""Nodes that name one relay, and how many of them may be dialled and say so."""


def gone(quick: bool, rng: Random) -> Iterator[Figure]:
    """The one relay that every node named ends for good: who has a link left, with the addresses that peers pass on?"""
    tries = 2 if quick else 20
    for passed_on in (True, False):
        left = sum(linked_without_relay(rng, passed_on=passed_on) for _ in range(tries))
        name = f"nodes with a link when their relay is gone{'' if passed_on else ', addresses never passed on'}"
        note = f"{left} of {tries * NODES}; {LISTENING} of {NODES} nodes can be dialled"
        yield at_least(name, left / (tries * NODES), "share", 0.95 if passed_on else None, note)


def linked_without_relay(rng: Random, *, passed_on: bool) -> int:
    """Nodes with a link that is none to the relay, after an hour with it. `passed_on`: whether addresses are."""
    signers = [Signer(rng.randbytes(32)) for _ in range(NODES + 1)]
    relay = NODES
    books = [AddressBook(signer.key, rng.randbytes(32)) for signer in signers]
    places = [Address(f"{20 + n}.7.0.1", 8765, key=signers[n].key) for n in range(LISTENING)]
    announcements = [Announcement(signers[n], NETWORK, place, relay=False) for n, place in enumerate(places)]
    links = [{relay} for _ in range(NODES)]
    for minute in range(0, 60, 10):  # a peer is asked once in ten minutes
        at = START.unix + 60.0 * minute
        records = [[announcements[n].record(START)] if n < LISTENING else [] for n in range(NODES)] + [[]]
        passed = [own + book.to_pass_on(rng, at) for own, book in zip(records, books, strict=True)]
        for one, others in [*enumerate(links), (relay, set(range(NODES)))]:
            for other in sorted(others) if passed_on else ():
                for record in passed[other]:
                    take_record(books[one], record, at)
        for book in books:  # each is dialled back before it is passed on
            while (found := book.next_unproven([], at, rng)) is not None:
                book.tried(found, at, reached=True)
        for one in range(NODES):
            mine = [places[n] for n in links[one] if n != relay]
            while len(mine) < FOUND_LINKS:
                taken = {books[one].part(place.host) for place in mine}
                address = books[one].next_to_dial(mine, at, rng, taken=taken)
                if address is None:
                    break
                mine.append(address)
                links[one].add(places.index(address))
    return sum(bool(found - {relay}) or any(n in other for other in links) for n, found in enumerate(links))


def take_record(book: AddressBook, record: bytes, at: float) -> None:
    try:
        book.add_record(open_envelope(record, PeerBody, NETWORK), at)
    except Refused:
        return  # known already, or its own


SCENARIOS: dict[str, Callable[[bool, Random], Iterator[Figure]]] = {
    "sybils": sybils,
    "eclipse": eclipse,
    "filled": filled,
    "replay": replay,
    "clocks": clocks,
    "relays": relays,
    "grinding": grinding,
    "crowd": crowd,
    "gone": gone,
}

if __name__ == "__main__":
    main()
