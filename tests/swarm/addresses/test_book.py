"""Addresses: whose are taken, which are dialled, which are passed on."""

from random import Random

import pytest

from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.addresses.book import LIFETIME, AddressBook, Anchor
from sapo_desktop.swarm.protocol.envelope import Opened, PeerBody, open_envelope, seal
from sapo_desktop.swarm.protocol.refusals import Reason, Refused
from sapo_desktop.swarm.protocol.signing import Signer
from tests.swarm.peers import NETWORK

NOW = 1_700_000_000.0


def signer(number: int) -> Signer:
    return Signer(number.to_bytes(32, "big"))


def record(
    number: int, host: str | None = None, port: int = 8765, *, time: float = NOW, scheme: str = "wss", **more: object
) -> Opened[PeerBody]:
    key = signer(number).key
    host = host or f"{20 + number % 200}.{number // 200}.0.1"
    address = more.pop("address", f"{scheme}://{host}:{port}#{key.hex()}")
    body = PeerBody(network=NETWORK, key=key, time=int(time), address=str(address), **more)  # type: ignore[arg-type]
    return open_envelope(seal(signer(number), body), PeerBody, NETWORK)


def address_of(one: Opened[PeerBody]) -> Address:
    return Address.parse(one.body.address)


def book(**more: bool) -> AddressBook:
    return AddressBook(signer(9999).key, bytes(32), **more)


def refused(it: AddressBook, one: Opened[PeerBody]) -> Reason | None:
    try:
        it.add_record(one, NOW)
    except Refused as refusal:
        return refusal.reason
    return None


@pytest.fixture
def it() -> AddressBook:
    return book()


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (record(1), None),
        (record(1, port=443), None),
        (record(1, host="relay.example"), None),
        (record(1, host="10.0.0.1"), Reason.PRIVATE_ADDRESS),
        (record(1, host="127.0.0.1"), Reason.PRIVATE_ADDRESS),
        (record(1, host="[::1]"), Reason.PRIVATE_ADDRESS),
        (record(1, scheme="ws"), Reason.PRIVATE_ADDRESS),
        (record(1, port=25), Reason.BAD_BODY),
        (record(1, address="wss://20.1.1.1:8765"), Reason.BAD_BODY),
        (record(1, address=f"wss://20.1.1.1:8765#{signer(2).key.hex()}"), Reason.BAD_BODY),
        (record(1, address="mailto:me"), Reason.BAD_BODY),
        (record(9999), Reason.OWN_ECHO),
        (record(1, time=NOW - LIFETIME - 1), Reason.TOO_OLD),
        (record(1, time=NOW + 601), Reason.TOO_NEW),
    ],
)
def test_what_a_stranger_may_name(it: AddressBook, one: Opened[PeerBody], reason: Reason | None) -> None:
    assert refused(it, one) is reason
    assert len(it) == (reason is None)


def test_on_ones_own_network_private_places_may_be_allowed() -> None:
    assert refused(book(private_allowed=True), record(1, host="10.0.0.1")) is None


def test_one_record_a_key_and_the_latest_counts(it: AddressBook) -> None:
    it.add_record(record(1, host="20.0.0.1", time=NOW - 10), NOW)
    it.add_record(record(1, host="30.0.0.1"), NOW)
    assert refused(it, record(1, host="20.0.0.1", time=NOW - 10)) is Reason.DUPLICATE
    assert len(it) == 1


def test_one_host_names_four_nodes_at_most(it: AddressBook) -> None:
    reasons = [refused(it, record(number, host="20.0.0.1")) for number in range(6)]
    assert reasons == [None] * 4 + [Reason.POOL_FULL] * 2


def test_one_part_of_the_internet_fills_one_bucket_and_pushes_out_no_proven_node(it: AddressBook) -> None:
    it.add_record(record(1, host="20.0.1.1"), NOW)
    it.tried(address_of(record(1, host="20.0.1.1")), NOW, reached=True)
    for number in range(100, 300):
        it.add_record(record(number, host=f"20.0.{number - 100}.7"), NOW)
    assert len(it) == 16
    assert it.to_pass_on(Random(1), NOW) == [record(1, host="20.0.1.1").envelope]


def test_who_tells_of_many_pushes_out_its_own_whatever_their_times(it: AddressBook) -> None:
    for number in range(1, 5):
        it.add_record(record(number, host=f"20.0.{number}.7", time=NOW - 3600), NOW, b"honest")
    for number in range(100, 300):
        it.add_record(record(number, host=f"20.0.{number - 100}.9", time=NOW + 599), NOW, b"loud")
    assert len(it) == 16
    assert all(str(address_of(record(number, host=f"20.0.{number}.7"))) in it._known for number in range(1, 5))


def test_nothing_is_passed_on_before_we_reached_it_ourselves(it: AddressBook) -> None:
    for number in range(1, 40):
        it.add_record(record(number), NOW)
    assert it.to_pass_on(Random(1), NOW) == []
    for number in range(1, 30):
        it.tried(address_of(record(number)), NOW, reached=True)
    passed_on = it.to_pass_on(Random(1), NOW)
    assert len(passed_on) == 16 == len(set(passed_on))
    assert it.to_pass_on(Random(1), NOW + LIFETIME + 1) == []


def test_typed_addresses_come_first_then_those_reached_before() -> None:
    it, rng = book(), Random(1)
    typed, strange, proven = Address("10.0.0.1", 1), record(1), record(2)
    it.add_record(strange, NOW)
    it.add_record(proven, NOW)
    it.tried(address_of(proven), NOW, reached=True)
    it.add(typed, "typed", NOW)
    order = []
    while (address := it.next_to_dial([], NOW, rng)) is not None:
        order.append(address)
        it.tried(address, NOW, reached=False)
    assert order == [typed, address_of(proven), address_of(strange)]


def test_who_could_not_be_reached_is_left_alone_for_longer_each_time() -> None:
    it, rng, address = book(), Random(1), Address("relay.example", 1)
    it.add(address, "seed", NOW)
    waits = []
    now = NOW
    for _ in range(10):
        it.tried(address, now, reached=False)
        before = now
        while it.next_to_dial([], now, rng) is None:
            now += 30
        waits.append(now - before)
    assert waits == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]


def test_one_link_per_part_of_the_internet_but_typed_ones_always() -> None:
    it, rng = book(), Random(1)
    it.add_record(record(1, host="20.0.7.1"), NOW)
    taken = {it.part("20.0.0.1")}
    assert it.next_to_dial([], NOW, rng, taken=taken) is None
    it.add(Address("20.0.0.2", 8765), "typed", NOW)
    assert it.next_to_dial([], NOW, rng, taken=taken) == Address("20.0.0.2", 8765)


def test_many_addresses_in_one_part_are_dialled_no_more_often_than_one_in_another() -> None:
    it = book()
    for number in range(1, 9):
        it.add_record(record(number, host=f"20.0.{number}.1"), NOW)
    it.add_record(record(9, host="21.0.0.1"), NOW)
    rng = Random(1)
    alone = sum("21.0.0.1" in str(it.next_to_dial([], NOW, rng)) for _ in range(400))
    assert 160 < alone < 240


def test_of_ipv6_a_part_is_a_32() -> None:
    it, rng = book(), Random(1)
    it.add_record(record(1, host="[2606:4700:1::1]"), NOW)
    assert it.next_to_dial([], NOW, rng, taken={it.part("2606:4700:ffff::9")}) is None
    assert it.next_to_dial([], NOW, rng, taken={it.part("2607:4700:1::1")}) == address_of(
        record(1, host="[2606:4700:1::1]")
    )
    reasons = [refused(it, record(number, host=f"[2606:4700:{number:x}::1]")) for number in range(2, 40)]
    assert reasons == [None] * 38 and len(it) == 16  # one bucket, where the unproven are dropped first


def test_a_name_has_no_part_of_its_own_before_it_is_looked_up() -> None:
    it, rng = book(), Random(1)
    it.add_record(record(1, host="one.example.co.uk"), NOW)
    taken = {it.part("one.other.co.uk"), it.part("two.example.co.uk")}
    assert it.next_to_dial([], NOW, rng, taken=taken) == address_of(record(1, host="one.example.co.uk"))


def test_at_home_there_are_no_parts_where_that_is_allowed() -> None:
    assert book(private_allowed=True).part("10.0.0.1") is None
    assert book(private_allowed=True).part("20.0.0.1") == book().part("20.0.9.9") is not None
    assert book().part("10.0.0.1") is not None


def test_our_own_address_in_a_list_is_not_taken(it: AddressBook) -> None:
    it.add(Address("relay.example", 8765, key=signer(9999).key), "seed", NOW)
    assert len(it) == 0


def test_anchors_survive_a_restart_and_records_do_not_survive_a_day(it: AddressBook) -> None:
    for number in range(1, 9):
        it.add_record(record(number), NOW)
        it.tried(address_of(record(number)), NOW + number, reached=True)
    anchors = it.anchors()
    assert [anchor.reached for anchor in anchors] == [NOW + 8, NOW + 7, NOW + 6, NOW + 5]
    it.expire(NOW + LIFETIME + 1)
    assert len(it) == 0
    again = book()
    again.restore([*anchors, Anchor(address="nonsense", reached=1.0)], NOW)
    assert len(again) == 4


def test_a_record_of_a_typed_address_leaves_it_typed_and_reached() -> None:
    signer = Signer(b"s" * 32)
    public = Address("8.8.8.8", 8765, key=signer.key)
    book = AddressBook(bytes(32), bytes(32))
    book.add(public, "typed", 1000.0)
    book.tried(public, 1000.0, reached=True)
    body = PeerBody(network=NETWORK, key=signer.key, time=1000, address=str(public))
    book.add_record(open_envelope(seal(signer, body), PeerBody, NETWORK), 1000.0)
    assert book.anchors() == [], "the settings say it at the next start, or no longer do"
    assert len(book.to_pass_on(Random(0), 1001.0)) == 1
    book.expire(1000.0 + 2 * LIFETIME)
    assert len(book) == 1


def test_an_anchor_of_a_strangers_word_stays_one() -> None:
    before, after = book(), book()
    before.add_record(record(1), NOW)
    address = Address.parse(record(1).body.address)
    before.tried(address, NOW, reached=True)
    after.restore(before.anchors(), NOW + 30 * LIFETIME)
    assert after.is_strangers(address)
    after.expire(NOW + 30.5 * LIFETIME)
    assert len(after) == 1
    after.expire(NOW + 32 * LIFETIME)
    assert len(after) == 0


def test_whose_key_is_linked_already_is_not_dialled(it: AddressBook) -> None:
    it.add_record(record(1), NOW)
    address = Address.parse(record(1).body.address)
    assert it.next_to_dial([], NOW, Random(0), keys={signer(1).key}) is None
    assert it.next_to_dial([], NOW, Random(0), keys={signer(2).key}) == address


def test_a_newer_record_of_a_node_that_was_reached_leaves_it_reached(it: AddressBook) -> None:
    it.add_record(record(1), NOW)
    address = Address.parse(record(1).body.address)
    it.tried(address, NOW, reached=True)
    it.add_record(record(1, time=NOW + 60), NOW + 60)
    assert [anchor.address for anchor in it.anchors()] == [str(address)]
    assert it.to_pass_on(Random(0), NOW + 60) == [record(1, time=NOW + 60).envelope]
    with pytest.raises(Refused):
        it.add_record(record(1), NOW + 61)


@pytest.mark.parametrize("private", [False, True])
def test_visits_go_to_other_parts_whether_reached_before_or_not_and_never_home(private: bool) -> None:
    it, rng = book(private_allowed=private), Random(1)
    near, known, far = record(1, host="20.0.0.1"), record(2, host="30.0.0.1"), record(3, host="40.0.0.1")
    for one in (near, known, far):
        it.add_record(one, NOW)
    if private:
        it.add_record(record(4, host="10.0.0.1"), NOW)
    it.add(Address("192.168.1.5", 8765), "lan", NOW)
    it.add(Address("typed.example", 8765), "typed", NOW)
    it.tried(address_of(known), NOW, reached=True)
    taken = [it.part("20.0.7.7")]
    visited = {it.next_to_visit([], NOW, rng, keys=(), taken=taken) for _ in range(50)}
    assert visited == {address_of(known), address_of(far)}
    taken += [it.part("30.0.7.7"), it.part("40.0.7.7")]
    assert it.next_to_visit([], NOW, rng, keys=(), taken=taken) is None


def test_of_seeds_that_a_proxy_looks_up_each_is_a_part_and_of_strangers_names_all(it: AddressBook) -> None:
    seeds = [Address(f"{name}.example", 8765) for name in ("one", "two")]
    it.add(seeds[0], "seed", NOW)
    it.add(seeds[1], "seed", NOW)
    it.add_record(record(1, host="stranger.example"), NOW)
    taken = [b"one.example", it.part("another.example")]
    assert {it.next_to_visit([], NOW, Random(n), keys=(), taken=taken[:1]) for n in range(30)} == {
        seeds[1],
        address_of(record(1, host="stranger.example")),
    }
    assert {it.next_to_visit([], NOW, Random(n), keys=(), taken=taken) for n in range(30)} == {seeds[1]}


def test_after_a_restart_comes_what_held_longest_then_what_was_reached_last(it: AddressBook) -> None:
    for number in range(1, 7):
        it.add_record(record(number), NOW)
        it.tried(address_of(record(number)), NOW + number, reached=True)
    held = [address_of(record(2)), address_of(record(1))]
    order = [anchor.address for anchor in it.anchors(held)]
    assert order == [str(address_of(record(number))) for number in (2, 1, 6, 5)]
