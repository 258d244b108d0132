"""Relays joined by a backbone in memory: each serves the groups of the others' authors; and an attacker's gain.

What waits has bounds, and the oldest goes first where they are reached.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from random import Random

import pytest

from sapo_desktop.swarm.backbone import federation as rules
from sapo_desktop.swarm.backbone.federation import BatchBody, Waiting, seal_batch
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.envelope import Answer, GroupBody, open_envelope, seal
from sapo_desktop.swarm.protocol.refusals import Reason
from sapo_desktop.swarm.protocol.signing import Signer
from tests.swarm.backbone.relays import Relay, carry
from tests.swarm.mesh import SLOT, START, Mesh, Peer
from tests.swarm.peers import NETWORK, TASK, group

STRANGER = Signer(b"s" * 32)


def batch(*groups: bytes, signer: Signer = STRANGER, unix: float = START.unix, tag: bytes = b"x") -> bytes:
    (message,) = seal_batch(signer, NETWORK, [m.Sourced(envelope=one, tag=tag) for one in groups], unix)
    return message


def external(number: int, index: int = 0, **changes: object) -> bytes:
    return group(Signer(number.to_bytes(32, "little")), slot=SLOT, index=index, **changes)


def test_what_is_published_at_one_relay_is_drawn_at_another_and_names_where_it_came_from() -> None:
    mesh, alice, carol, a, c = Mesh(), Peer(1), Peer(2), Relay(11), Relay(12)
    mesh.join(alice, a, tag=b"alices")
    mesh.join(carol, c)
    shared = alice.share(mesh.now, 3)
    mesh.settle()
    assert carry([a, c], mesh.now) == 1
    carol.exchange.want([TASK], 16)
    mesh.wait(5)
    assert set(carol.held()) == set(shared)
    assert {(entry.path.relay, entry.path.tag) for entry in carol.exchange.pool} == {(a.signer.key, b"alices")}


def test_nothing_goes_in_circles_and_what_is_published_twice_is_served_once() -> None:
    mesh, alice, relays = Mesh(), Peer(1), [Relay(11), Relay(12), Relay(13)]
    for relay in relays[:2]:
        mesh.join(alice, relay)
    shared = alice.share(mesh.now, 4)
    mesh.settle()
    assert carry(relays, mesh.now) == 2
    for relay in relays:
        assert len(relay.exchange.giving.shelf) == 4 and relay.served() == set(shared)
        assert relay.refused == {Reason.DUPLICATE: 4}
    assert carry(relays, mesh.now) == 0


def test_a_group_goes_on_by_its_home_alone() -> None:
    mesh, alice, a, b = Mesh(), Peer(1), Relay(11), Relay(12)
    mesh.join(alice, a)
    alice.share(mesh.now, home=b.signer.key)
    (own,) = alice.share(mesh.now, home=a.signer.key)
    mesh.settle()
    carry([a, b], mesh.now)
    assert b.served() == {own}
    b.take(STRANGER.key, batch(external(5, home=a.signer.key)), mesh.now)
    assert b.refused == {Reason.NOT_ITS_OWN: 1} and b.served() == {own}


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (b"", Reason.MALFORMED),
        (b"\xff" * 1000, Reason.MALFORMED),
        (bytes(limits.MAX_FRAME + 1), Reason.OVERSIZE),
        (batch(external(1))[:-1] + b"\0", Reason.BAD_SIGNATURE),
        (batch(external(1), signer=Signer(b"o" * 32)), Reason.NOT_ITS_OWN),
        (batch(external(1), unix=START.unix - 1300), Reason.TOO_OLD),
        (batch(external(1), unix=START.unix + 1300), Reason.TOO_NEW),
        (group(STRANGER, slot=SLOT), Reason.BAD_SIGNATURE),
    ],
)
def test_rubbish_is_counted_and_nobody_is_blamed_for_it(message: bytes, reason: Reason) -> None:
    relay = Relay(11)
    relay.take(STRANGER.key, message, START)
    assert relay.refused == {reason: 1} and not relay.served() and relay.federation.relays(START) == 0


def bomb() -> bytes:
    body = BatchBody(
        network=NETWORK,
        key=STRANGER.key,
        time=int(START.unix),
        batch=zlib.compress(bytes(limits.MAX_UNPACKED * 2)),
    )
    return seal(STRANGER, body, limits.MAX_FRAME)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (bomb, Reason.BAD_BATCH),
        (lambda: batch(b"rubbish"), Reason.MALFORMED),
        (lambda: batch(external(1)[:-1] + b"\0"), Reason.BAD_SIGNATURE),
    ],
)
def test_a_relay_that_signs_rubbish_is_shut_out_for_a_while(make: Callable[[], bytes], reason: Reason) -> None:
    relay, now = Relay(11), START
    for _ in range(12):
        relay.exchange._digests.clear()  # so that each is looked at as the first
        relay.take(STRANGER.key, make(), now)
    assert relay.refused == {reason: 9, Reason.SHUT_OUT: 3}
    later = Now(now.monotonic + 601, now.unix + 601)
    relay.take(STRANGER.key, batch(external(2), unix=later.unix), later)
    assert len(relay.served()) == 1


def test_what_an_author_signed_is_its_own_fault_and_not_the_relays() -> None:
    relay = Relay(11)
    author = Signer((7).to_bytes(32, "little"))
    relay.take(STRANGER.key, batch(external(7)), START)
    for number in range(6):  # other bodies for an index that was used
        relay.take(STRANGER.key, batch(external(7, label=f"other-{number}")), START)
    assert relay.exchange.standing.is_shut_out(author.key, START.monotonic)
    assert relay.exchange.refusals[Reason.SECOND_BODY] == 5
    relay.take(STRANGER.key, batch(external(8)), START)
    assert len(relay.served()) == 2


def test_who_is_banned_is_not_listened_to_as_author_or_as_relay() -> None:
    relay = Relay(11)
    relay.exchange.blocked = frozenset({Signer((7).to_bytes(32, "little")).key})
    relay.take(STRANGER.key, batch(external(7), external(8)), START)
    assert len(relay.served()) == 1 and relay.refused == {Reason.SHUT_OUT: 1}
    relay.exchange.blocked = frozenset({STRANGER.key})
    relay.take(STRANGER.key, batch(external(9)), START)
    assert len(relay.served()) == 1 and relay.refused == {Reason.SHUT_OUT: 2}


def test_what_was_taken_before_a_ban_is_served_no_more() -> None:
    mesh, alice, bob, relay = Mesh(), Peer(1), Peer(2), Relay(11)
    for peer in (alice, bob):
        mesh.join(peer, relay)
    alice.share(mesh.now, 2)
    (kept,) = bob.share(mesh.now)
    mesh.settle()
    relay.take(STRANGER.key, batch(external(7)), mesh.now)
    assert len(relay.served()) == 4
    relay.exchange.shut_out(frozenset({alice.signer.key, STRANGER.key}))
    assert relay.served() == {kept} == set(relay.held())


def test_a_flood_of_one_relay_costs_the_others_nothing() -> None:
    relay, honest, now = Relay(11), Signer(b"h" * 32), START
    relay.take(STRANGER.key, batch(external(1)), now)
    relay.take(honest.key, batch(external(2), signer=honest), now)
    for number in range(2000):
        relay.federation.arrived(STRANGER.key, b"flood%d" % number, now)
    at_most = rules.BATCHES_AT_ONCE * (1 + rules.SLACK)
    assert relay.refused[Reason.TOO_OFTEN] >= 2000 - at_most
    relay.federation.arrived(honest.key, batch(external(3), signer=honest), now)
    for _ in range(2):  # their turns
        relay.federation.receive(now)
    assert relay.federation.tally.groups_in == 3


def test_who_has_its_messages_sent_again_or_looked_at_late_is_not_shut_out_for_it() -> None:
    relay, now = Relay(11), START
    relay.take(STRANGER.key, batch(external(1)), now)
    for number in range(2, 20):  # as many as may come at once, all looked at in one moment
        message = batch(*(external(100 * number + one) for one in range(16)))
        for _ in range(2):
            relay.federation.arrived(STRANGER.key, message, now)
        while relay.federation.next:
            relay.federation.receive(now)
    assert relay.refused[Reason.TOO_OFTEN] > 0
    later = Now(now.monotonic + 60, now.unix + 60)
    relay.take(STRANGER.key, batch(external(9), unix=later.unix), later)
    assert Reason.SHUT_OUT not in relay.refused and external(9) in relay.served()


def test_names_that_nobody_proved_have_one_rate_together_and_take_no_place() -> None:
    relay, honest, now = Relay(11), Signer(b"h" * 32), START
    relay.take(honest.key, batch(external(2), signer=honest), now)
    for number in range(1000):
        relay.take(number.to_bytes(32, "big"), b"rubbish", now)
    assert relay.federation.relays(now) == 1 and relay.refused[Reason.TOO_OFTEN] > 900
    relay.take(honest.key, batch(external(3), signer=honest), now)
    assert len(relay.served()) == 2


def test_only_so_many_relays_are_listened_to_until_one_falls_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MOST_RELAYS", 2)
    relay, now = Relay(11), START
    signers = [Signer(bytes([n]) * 32) for n in range(1, 4)]
    for number, signer in enumerate(signers):
        relay.take(signer.key, batch(external(number), signer=signer), now)
    assert relay.refused == {Reason.BUSY: 1} and len(relay.served()) == 2
    now = Now(rules.SILENT_SECONDS + 1, START.unix + rules.SILENT_SECONDS + 1)
    relay.take(signers[2].key, batch(external(9), signer=signers[2], unix=now.unix), now)
    assert len(relay.served()) == 3


def test_each_relay_has_its_share_of_the_shelf_whatever_it_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    relay, honest, now = Relay(11), Signer(b"h" * 32), START
    monkeypatch.setattr(relay.exchange.giving.shelf, "_most_bytes", 60_000)
    kept = [external(number) for number in range(1, 17)]
    relay.take(honest.key, batch(*kept, signer=honest), now)
    for number in range(100, 400, 10):
        now = Now(now.monotonic + 1, now.unix + 1)
        flood = [external(number + more) for more in range(10)]
        relay.take(STRANGER.key, batch(*flood, unix=now.unix, tag=bytes([number % 256])), now)
    assert set(kept) <= relay.served()


def test_a_backbone_that_is_away_costs_the_oldest_and_is_counted() -> None:
    mesh, alice, a, b = Mesh(), Peer(1), Relay(11), Relay(12)
    mesh.join(alice, a)
    answers = [Answer(text="4" * 4000)]
    for _ in range(30):  # more than one author may have waiting
        alice.share(mesh.now, answers=answers)
        mesh.wait(5)
    lost = a.federation.lost_out
    assert 10 < lost < 30 and a.federation.waiting_bytes <= 64 * limits.KIB
    assert len(a.exchange.giving.shelf) >= 10, "it serves on"
    for _ in range(60):
        carry([a, b], mesh.now)
        mesh.wait(5)
    assert b.federation.tally.groups_in == 30 - lost


def test_what_one_relay_may_send_is_what_another_takes() -> None:
    a, b, now = Relay(11), Relay(12), START
    for number in range(600):
        envelope = external(number + 1)
        a.exchange.passes_on(open_envelope(envelope, GroupBody, NETWORK), b"")
    rng = Random(1)
    for _ in range(200):
        carry([a, b], now)
        step = rng.uniform(0.05, 0.5)
        now = Now(now.monotonic + step, now.unix + step)
    assert b.federation.tally.groups_in == 600 and b.refused == {}


def test_a_relay_that_is_too_slow_loses_the_oldest_and_counts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "IN_BYTES_OF_ONE", 3000)
    relay, now = Relay(11), START
    relay.take(STRANGER.key, batch(external(1)), now)
    sent = [batch(external(number, answers=[Answer(text=f"{number:064}")])) for number in range(2, 22)]
    for message in sent:
        relay.federation.arrived(STRANGER.key, message, now)
    lost = relay.federation.lost_in
    assert 5 < lost < 20
    while relay.federation.next:
        relay.federation.receive(now)
    assert len(relay.served()) == 1 + 20 - lost and external(21, answers=[Answer(text=f"{21:064}")]) in relay.served()


def everything(waiting: Waiting[bytes]) -> list[tuple[bytes, bytes]]:
    found = []
    while waiting:
        found.append(waiting.take())
    return found


def test_sources_take_turns() -> None:
    waiting: Waiting[bytes] = Waiting(100, 100)
    for source, item in ((b"a", b"1"), (b"a", b"2"), (b"a", b"3"), (b"b", b"4")):
        waiting.put(source, item, 1)
    assert everything(waiting) == [(b"a", b"1"), (b"b", b"4"), (b"a", b"2"), (b"a", b"3")]
    assert (waiting.size, waiting.lost) == (0, 0)


def test_who_sends_too_much_loses_its_own_oldest() -> None:
    waiting: Waiting[bytes] = Waiting(2, 100)
    for number in range(5):
        waiting.put(b"a", str(number).encode(), 1)
    waiting.put(b"b", b"x", 1)
    assert everything(waiting) == [(b"a", b"3"), (b"b", b"x"), (b"a", b"4")]
    assert waiting.lost == 3


def test_where_all_are_too_much_each_loses_in_its_turn() -> None:
    waiting: Waiting[bytes] = Waiting(10, 4)
    for item in (b"1", b"2", b"3"):
        for source in (b"a", b"b"):
            waiting.put(source, source + item, 2)
    assert everything(waiting) == [(b"a", b"a3"), (b"b", b"b3")]
    assert waiting.lost == 4 and waiting.size == 0
