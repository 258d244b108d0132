"""Nodes connected without sockets: what is passed on, what is not, and who is blamed."""

from collections import Counter
from collections.abc import Callable

import msgspec
import pytest

from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.link import VISITS
from sapo_desktop.swarm.pool.pool import Path
from sapo_desktop.swarm.protocol import codec, limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.envelope import Answer
from sapo_desktop.swarm.protocol.refusals import Reason, Refused
from sapo_desktop.swarm.protocol.signing import Signer
from tests.swarm.mesh import SLOT, Mesh, Peer, Wire
from tests.swarm.peers import ALICE, NETWORK, TASK, group, group_body


def pair() -> tuple[Mesh, Peer, Peer, Wire]:
    mesh, alice, bob = Mesh(), Peer(1), Peer(2)
    return mesh, alice, bob, mesh.join(alice, bob)


def push(wire: Wire, mesh: Mesh, *envelopes: bytes) -> None:
    """The client says PUBLISH, whatever it may hold."""
    frame = codec.encode(m.Publish(batch=codec.pack_published(list(envelopes))))
    (_, _), (server, link) = wire.ends
    server.exchange.receive(link, frame, mesh.now)


def badly_signed(peer: Peer, index: int) -> bytes:
    """A group that its author signed, with a label that none may have."""
    content = msgspec.msgpack.encode(group_body(peer.signer, label="<>", index=index))
    return msgspec.msgpack.encode([1, content, peer.signer.sign("group", NETWORK, content)])


def test_a_published_group_reaches_the_peer_at_once_and_once() -> None:
    mesh, alice, bob, _ = pair()
    envelopes = alice.share(mesh.now, 3)
    mesh.settle()
    assert sorted(bob.held()) == sorted(envelopes)
    assert alice.held() == []


def test_who_comes_later_is_offered_what_was_shared_before_unless_it_is_stale() -> None:
    mesh, alice, bob = Mesh(), Peer(1), Peer(2)
    fresh = alice.share(mesh.now, 2)
    stale = group(alice.signer, slot=SLOT - 7)
    alice.exchange.publish(stale, mesh.now)
    mesh.join(bob, alice)
    assert sorted(bob.held()) == sorted(fresh)
    assert Reason.TOO_OLD not in dict(bob.exchange.refusals)


@pytest.mark.parametrize("first", ["a frame", "a tick"])
def test_who_stood_still_blames_nobody_for_what_came_meanwhile(first: str) -> None:
    """A paused computer: its peers kept to their credit, and what they said is all read in one moment."""
    mesh, alice, relay, wire = pair()
    (_, to_relay), (_, at_relay) = wire.ends
    alice.share(mesh.now)
    alice.exchange.want([TASK], 8)
    mesh.wait(40)
    said = []
    for _ in range(100):
        mesh.now = Now(mesh.now.monotonic + 1, mesh.now.unix + 1)
        alice.share(mesh.now)
        alice.exchange.tick(mesh.now)
        said += to_relay.session.take()
    assert len(said) > 100
    if first == "a tick":
        relay.exchange.tick(mesh.now)
    for frame in said:
        relay.exchange.receive(at_relay, frame, mesh.now)
    assert list(relay.exchange.refusals) == []
    assert at_relay.session.is_open


def test_a_stall_lets_nobody_flood() -> None:
    mesh, alice, relay, wire = pair()
    mesh.wait(3600)
    mesh.now = Now(mesh.now.monotonic + 20, mesh.now.unix + 20)
    taken = int(limits.FIRST_GROUPS) * 5 // 4 + 20
    for index in range(taken + 5):
        push(wire, mesh, group(alice.signer, slot=SLOT + 6, index=index % 64, task=TASK))
    assert dict(relay.exchange.refusals)[Reason.OVERDRAWN] == 5


def test_only_who_sent_what_was_taken_counts_as_a_sender() -> None:
    """Otherwise a peer that sends rubbish would make a relay under load divide what it can take among more."""
    mesh, alice, _, wire = pair()
    (_, _), (_, link) = wire.ends
    push(wire, mesh, b"rubbish")
    assert link.published == float("-inf")
    alice.share(mesh.now)
    mesh.settle()
    assert link.published == mesh.now.monotonic


def test_a_relay_passes_on_what_authors_gave_it_and_says_where_from() -> None:
    mesh, alice, relay, carol = Mesh(), Peer(1), Peer(2), Peer(3)
    mesh.join(alice, relay, tag=b"alice's /24")
    mesh.join(carol, relay)
    (envelope,) = alice.share(mesh.now)
    mesh.settle()
    assert carol.held() == [], "nothing is pushed on; carol asks"
    carol.exchange.want([TASK], 8)
    mesh.wait(5)
    (entry,) = carol.exchange.pool
    assert entry.envelope == envelope
    assert entry.path == Path(relay.signer.key, relay.signer.key, b"alice's /24")


def test_a_relay_that_draws_nothing_keeps_what_it_serves_once() -> None:
    mesh, alice, relay, carol = Mesh(), Peer(1), Peer(2, draws=False), Peer(3)
    mesh.join(alice, relay)
    mesh.join(carol, relay)
    envelopes = alice.share(mesh.now, 3)
    mesh.settle()
    assert not relay.exchange.pool and relay.exchange.held_bytes == relay.exchange.giving.shelf.bytes > 0
    for envelope in envelopes:
        relay.exchange._digests.clear()
        assert relay.exchange.links[0].session.is_open
        alice.exchange.links[0].session.publish([envelope], mesh.now.monotonic)
    mesh.settle()
    assert relay.exchange.refusals[Reason.DUPLICATE] == 3, "what came before is known without a pool, too"
    carol.exchange.want([TASK], 8)
    mesh.wait(5)
    assert sorted(carol.held()) == sorted(envelopes)


def test_what_was_asked_for_is_never_served_on() -> None:
    mesh, alice, relay, carol, dave = Mesh(), Peer(1), Peer(2), Peer(3), Peer(4)
    mesh.join(alice, relay)
    mesh.join(carol, relay)
    mesh.join(dave, carol)
    alice.share(mesh.now)
    carol.exchange.want([TASK], 8)
    dave.exchange.want([TASK], 8)
    mesh.wait(30)
    assert len(carol.held()) == 1 and dave.held() == []


def test_only_what_is_missing_is_asked_for() -> None:
    mesh, alice, bob, _ = pair()
    alice.exchange.want([TASK], 3)
    bob.share(mesh.now, 5)
    mesh.wait(60)
    wants = [link.session for link in alice.exchange.links]
    assert len(alice.held()) == 5 and wants[0].credit(mesh.now.monotonic)[0] == 32
    drawn, one_source = alice.exchange.draw(4, mesh.now)
    assert (len(drawn), one_source, len(alice.held())) == (4, True, 1)
    mesh.wait(60)
    assert len(alice.held()) == 1, "what was drawn is held, so nobody sends it again"


def test_who_comes_by_is_offered_the_newest_own_groups_alone() -> None:
    mesh, alice, bob, carol, dave = Mesh(), Peer(1), Peer(2), Peer(3), Peer(4)
    envelopes = alice.share(mesh.now, 60)
    mesh.join(alice, bob)
    mesh.join(alice, carol, visit=True)
    mesh.join(dave, alice)
    mesh.wait(300)
    assert sorted(bob.held()) == sorted(envelopes)
    assert sorted(carol.held()) == sorted(dave.held()) == sorted(envelopes[-32:])


def test_all_who_are_visited_are_one_source() -> None:
    mesh, alice = Mesh(), Peer(1)
    for number in (2, 3, 4, 5):
        bob = Peer(number)
        bob.share(mesh.now)
        mesh.join(alice, bob, visit=number > 3)
    assert Counter(entry.path.link for entry in alice.exchange.pool)[VISITS] == 2
    assert len({entry.path.link for entry in alice.exchange.pool}) == 3


def full_next_to_another() -> tuple[Mesh, Peer, Peer, list[bytes]]:
    """Whose pool three links filled; a relay that it is not linked to, and what that one alone has."""
    mesh, alice, carol, elsewhere = Mesh(), Peer(1), Peer(8), Peer(9)
    for number in (2, 3, 4):
        bob = Peer(number)
        mesh.join(alice, bob)
        bob.share(mesh.now, 40)
    alice.exchange.want([TASK], 12)
    mesh.join(carol, elsewhere)
    theirs = carol.share(mesh.now)
    mesh.wait(60)
    return mesh, alice, elsewhere, theirs


def test_who_is_visited_is_asked_however_full_the_pool_is() -> None:
    mesh, alice, elsewhere, theirs = full_next_to_another()
    mesh.join(alice, elsewhere, visit=True)
    mesh.wait(60)
    assert set(theirs) <= set(alice.held())
    for number in range(20, 26):  # earlier visits leave room for later ones
        author, relay = Peer(number), Peer(100 + number)
        mesh.join(author, relay)
        theirs = author.share(mesh.now, 4)
        mesh.join(alice, relay, visit=True)
        mesh.wait(30)
        assert set(theirs) & set(alice.held())


def test_who_is_not_visited_is_not_asked_while_the_pool_is_full() -> None:
    mesh, alice, elsewhere, theirs = full_next_to_another()
    mesh.join(alice, elsewhere)
    mesh.join(elsewhere, alice, tag=b"anywhere")
    mesh.wait(60)
    assert not set(theirs) & set(alice.held())


def test_sharing_goes_on_as_credit_comes_back() -> None:
    mesh, alice, bob, _ = pair()
    alice.share(mesh.now, 60)
    mesh.settle()
    assert len(bob.held()) == 32
    mesh.wait(30)
    assert len(bob.exchange.pool) == len(alice.exchange.giving._own) == 60


def test_what_waited_until_nobody_takes_it_any_more_is_not_sent() -> None:
    mesh, alice, bob, wire = pair()
    wire.ends[1][1].session.pace(60_000, 8, mesh.now.monotonic)
    mesh.settle()
    alice.share(mesh.now, 120)
    mesh.settle()
    assert wire.ends[0][1].unsent
    mesh.wait((2 - limits.OLDEST_SLOT) * limits.SLOT_SECONDS, step=60)
    assert Reason.TOO_OLD not in dict(bob.exchange.refusals)
    assert not wire.ends[0][1].unsent


@pytest.mark.parametrize(
    ("forge", "reason"),
    [
        (lambda alice, n: group(alice)[:-1] + bytes([n]), Reason.BAD_SIGNATURE),
        (lambda alice, n: b"rubbish" + bytes([n]), Reason.MALFORMED),
        (lambda alice, n: group(alice, index=n), Reason.NOT_ITS_OWN),
    ],
    ids=["signature", "rubbish", "somebody else's"],
)
def test_a_link_is_charged_for_what_only_it_can_have_done(
    forge: Callable[[Signer, int], bytes], reason: Reason
) -> None:
    mesh, alice, mallory, victim = Mesh(), Peer(1), Peer(2), Peer(3)
    mesh.join(alice, victim)
    wire = mesh.join(mallory, victim)
    for n in range(9):
        push(wire, mesh, forge(alice.signer, n))
    assert wire.ends[1][1].goodbye is not None
    assert dict(victim.exchange.refusals) == {reason: 9}
    assert not victim.exchange.standing.is_shut_out(alice.signer.key, 0), "nobody else is blamed"
    alice.share(mesh.now)
    mesh.settle()
    assert len(victim.held()) == 1


def test_an_author_is_charged_for_what_it_signed_no_matter_who_brings_it() -> None:
    mesh, relay, victim, mallory = Mesh(), Peer(1), Peer(2), Peer(3)
    wire = mesh.join(victim, relay)
    (_, link), _ = wire.ends
    victim.exchange.want([TASK], 16)
    for n in range(6):
        ticket = bytes([n]) * 16
        link.session._wants[ticket] = (16, mesh.now.monotonic)
        batch = codec.pack_sourced([m.Sourced(envelope=badly_signed(mallory, n))])
        victim.exchange.receive(link, codec.encode(m.Groups(ticket=ticket, batch=batch)), mesh.now)
    assert victim.exchange.standing.is_shut_out(mallory.signer.key, mesh.now.monotonic)
    assert link.goodbye is None, "the relay is not to blame"
    assert dict(victim.exchange.refusals)[Reason.BAD_BODY] == 6


def test_a_peer_that_signs_rubbish_itself_is_shut_out_for_an_hour() -> None:
    mesh, mallory, victim = Mesh(), Peer(1), Peer(2)
    wire = mesh.join(mallory, victim)
    for n in range(6):
        push(wire, mesh, badly_signed(mallory, n))
    goodbye = wire.ends[1][1].goodbye
    assert goodbye is not None and (goodbye.reason, goodbye.retry_after) == ("shut out: bad_body", 3600)


@pytest.mark.parametrize("draws", [True, False])
def test_a_second_body_for_one_index_is_its_authors_fault_and_not_taken(draws: bool) -> None:
    mesh, alice, bob = Mesh(), Peer(1), Peer(2, draws=draws)
    wire = mesh.join(alice, bob)
    (first,) = alice.share(mesh.now)
    mesh.settle()
    push(wire, mesh, group(alice.signer, label="another"))
    assert bob.held() == [first] * draws and [entry.envelope for entry in bob.exchange.giving.shelf] == [first]
    assert dict(bob.exchange.refusals) == {Reason.SECOND_BODY: 1}
    assert wire.ends[1][1].traffic.groups_in == 1


def test_what_nobody_is_to_blame_for_is_only_counted() -> None:
    mesh, alice, bob, wire = pair()
    for _ in range(20):
        push(wire, mesh, group(alice.signer, slot=SLOT + 3))
    push(wire, mesh, group(alice.signer, task=b"u" * 32), group(alice.signer, slot=SLOT - 30))
    assert dict(bob.exchange.refusals) == {Reason.TOO_NEW: 20, Reason.UNKNOWN_TASK: 1, Reason.TOO_OLD: 1}
    assert wire.ends[1][1].goodbye is None


def test_a_clock_ten_minutes_off_is_corrected() -> None:
    mesh, alice, bob = Mesh(), Peer(1), Peer(2)
    wire = mesh.join(alice, bob)
    late = msgspec.structs.replace(group_body(alice.signer), slot=SLOT + 2)
    bob.exchange.clock.heard(alice.signer.key, mesh.now.unix + 600, mesh.now.unix)
    push(wire, mesh, group(alice.signer, slot=late.slot))
    assert len(bob.held()) == 1


def test_closed_links_are_forgotten() -> None:
    mesh, alice, bob, wire = pair()
    (_, mine), (_, theirs) = wire.ends
    mine.session.close("bye")
    mesh.settle()
    assert theirs.goodbye is not None and theirs.goodbye.reason == "bye"
    bob.exchange.detach(theirs)
    assert bob.exchange.links == [] and bob.exchange.clock.offset == 0.0
    alice.share(mesh.now)


@pytest.mark.parametrize("relayed", [False, True], ids=["directly", "through relays"])
def test_ten_percent_that_flood_at_twenty_times_the_rate_get_ten_percent_of_the_draws(relayed: bool) -> None:
    mesh, victim = Mesh(), Peer(1000)
    honest, loud = [Peer(n) for n in range(1, 19)], [Peer(n) for n in (101, 102)]
    relays = [Peer(2001), Peer(2002)]
    for relay in relays if relayed else []:
        mesh.join(victim, relay)
    for n, peer in enumerate([*honest, *loud]):
        mesh.join(peer, relays[n % 2] if relayed else victim, tag=n.to_bytes(2, "big"))
    victim.exchange.want([TASK], 64)
    loud_keys = {peer.signer.key for peer in loud}
    drawn: Counter[bool] = Counter()
    for _ in range(120):
        for peer in honest:
            peer.share(mesh.now)
        for peer in loud:
            peer.share(mesh.now, 20)
        mesh.wait(10, step=10)
        entries, _ = victim.exchange.draw(6, mesh.now)
        drawn.update(entry.name.author in loud_keys for entry in entries)
    assert sum(drawn.values()) > 700
    assert drawn[True] / sum(drawn.values()) <= 0.12


def test_who_was_sent_away_for_its_faults_is_not_welcomed_again_at_once() -> None:
    mesh, alice, mallory = Mesh(), Peer(1), Peer(2)
    mesh.join(alice, mallory)
    (link,) = alice.exchange.links
    for _ in range(20):
        alice.exchange.receive(link, b"rubbish", mesh.now)
    assert link.session.is_closed and link.goodbye is not None and link.goodbye.retry_after == 600
    mesh = Mesh(now=mesh.now)
    mesh.join(alice, mallory)
    again = alice.exchange.links[-1]
    assert again.goodbye is not None and again.goodbye.reason == "still shut out"
    later = Mesh(now=Now(mesh.now.monotonic + 601, mesh.now.unix + 601))
    later.join(alice, mallory)
    assert alice.exchange.links[-1].session.is_open


def test_while_there_are_other_links_the_local_network_gives_what_it_may_and_no_more() -> None:
    mesh, alice = Mesh(), Peer(1)
    neighbours, afar = [Peer(n) for n in (2, 3, 4)], Peer(5)
    for neighbour in neighbours:
        wire = mesh.join(alice, neighbour)
        wire.ends[0][1].lan = True
    for peer in neighbours:
        peer.share(mesh.now, 4)
    mesh.settle()
    alice.exchange.want([TASK], 8)
    alone, _ = alice.exchange.draw(4, mesh.now, most_lan=2)
    assert len(alone) == 4 and all(entry.path.lan for entry in alone)
    mesh.join(alice, afar)
    afar.share(mesh.now, 1)
    mesh.settle()
    drawn, _ = alice.exchange.draw(8, mesh.now, most_lan=2)
    assert sorted(entry.path.lan for entry in drawn) == [False, True, True]


def test_what_cannot_be_sent_is_not_packed_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    mesh, author, reader = Mesh(), Peer(1), Peer(2)
    mesh.join(author, reader)
    author.share(mesh.now, 12, answers=[Answer(text=f"{n} " * 1000) for n in range(10)])
    mesh.settle()
    packed: list[int] = []
    real = codec.pack_sourced
    monkeypatch.setattr(codec, "pack_sourced", lambda groups: packed.append(len(groups)) or real(groups))
    (link,) = author.exchange.links
    link.session.backlog = limits.SEND_QUEUE
    author.exchange.giving.serve(link, m.Want(ticket=bytes(16), tasks=[TASK]), mesh.now)
    assert packed == [0], "nobody reads: an empty answer, or none"
    link.session.backlog = limits.SEND_QUEUE - 2 * limits.KIB
    packed.clear()
    author.exchange.giving.serve(link, m.Want(ticket=bytes(16), tasks=[TASK]), mesh.now)
    assert len(packed) <= 6 and packed == sorted(packed, reverse=True)


def test_a_peer_that_dials_us_under_many_keys_is_one_source() -> None:
    mesh, victim, honest = Mesh(), Peer(1), Peer(2)
    mesh.join(victim, honest)
    sybils = [Peer(number) for number in range(10, 40)]
    for sybil in sybils:
        mesh.join(sybil, victim, tag=b"one /24")
    victim.exchange.want([TASK], 64)
    theirs = {sybil.signer.key for sybil in sybils}
    for _ in range(10):
        for peer in (honest, honest, *sybils):
            peer.share(mesh.now)
        mesh.wait(10, step=10)
        entries, one_source = victim.exchange.draw(4, mesh.now)
        assert not one_source and sum(entry.name.author in theirs for entry in entries) <= 2


def test_a_peer_that_dials_us_does_not_set_our_clock() -> None:
    mesh, victim, honest = Mesh(), Peer(1), Peer(2)
    mesh.join(victim, honest)
    for number in range(10, 40):
        mesh.join(Peer(number), victim, tag=bytes([number]), off=-1100)
    assert victim.exchange.clock.offset == 0


def test_an_idle_client_does_not_set_a_relays_clock() -> None:
    mesh, relay, honest = Mesh(), Peer(1, draws=False), Peer(2)
    mesh.join(Peer(3), relay, tag=b"idle", off=-2 * limits.SLOT_SECONDS)
    mesh.join(honest, relay, tag=b"honest")
    honest.exchange.publish(group(honest.signer, slot=SLOT + 1), mesh.now)
    mesh.settle()
    assert len(relay.exchange.giving.shelf) == 1 and relay.exchange.clock.offset == 0


def test_what_one_link_filled_the_pool_with_does_not_keep_us_from_asking_another() -> None:
    mesh, victim, loud, relay, alice = Mesh(), Peer(1), Peer(2), Peer(3), Peer(4)
    mesh.join(victim, loud)
    mesh.join(victim, relay)
    mesh.join(alice, relay)
    alice.share(mesh.now, 8)
    mesh.settle()
    (link,) = [link for link in victim.exchange.links if link.key == loud.signer.key]
    for number in range(100, 200):  # served by `loud` under keys and relays that it made up
        author = Signer(number.to_bytes(32, "big"))
        sourced = m.Sourced(envelope=group(author), relay=author.key, tag=b"")
        victim.exchange._take_in(link, sourced, mesh.now, published=False)
    victim.exchange.want([TASK], 16)
    mesh.wait(5)
    assert any(entry.name.author == alice.signer.key for entry in victim.exchange.pool)
    assert victim.exchange._missing_from(link, mesh.now) < 1, "of the one that filled it nothing more is asked"


def test_groups_that_nobody_here_draws_do_not_keep_us_from_asking() -> None:
    """A few strangers could else stop a node from learning, with groups of a task that it does not train on."""
    other = b"o" * 32
    mesh, victim, relay, alice = Mesh(), Peer(1, (TASK, other)), Peer(2), Peer(3)
    victim.exchange._check = lambda body: None
    mesh.join(alice, relay)
    for number in range(10, 18):
        stranger = Peer(number, (TASK, other))
        mesh.join(stranger, victim, tag=bytes([number % 2]))
        stranger.share(mesh.now, 8, task=other)
    mesh.join(victim, relay)
    theirs = alice.share(mesh.now, 3)
    victim.exchange.want([TASK], 32)
    mesh.wait(5)
    assert set(theirs) <= set(victim.held())


def test_of_a_peer_that_a_person_blocks_nothing_is_drawn_no_matter_who_had_it_first() -> None:
    mesh, victim, blocked = Mesh(), Peer(1), Peer(2)
    (_, link), _ = mesh.join(victim, blocked).ends
    victim.exchange._take_in(link, m.Sourced(envelope=group(ALICE), relay=b"r" * 32), mesh.now, published=False)
    assert victim.held()
    victim.exchange.shut_out(frozenset({blocked.signer.key}))
    assert not victim.held()


@pytest.mark.parametrize("held_up", [1, 5, 8])
def test_an_author_whose_backlog_had_to_wait_for_its_turn_is_no_flood(held_up: int) -> None:
    """A relay was away: its peer sends what waited, then a group a second; the first of it is looked at late."""
    mesh, author, relay = Mesh(), Peer(1), Peer(2, draws=False)
    (_, ours), (_, theirs) = mesh.join(author, relay).ends
    shared = author.share(mesh.now, 32)
    on_the_way = [(held_up, frame) for frame in ours.session.take()]
    for second in range(1, 30):
        at = Now(mesh.now.monotonic + second, mesh.now.unix + second)
        shared += author.share(at)
        author.exchange.tick(at)
        on_the_way += [(max(held_up, second), frame) for frame in ours.session.take()]
    reported = []
    for second, frame in on_the_way:
        reported += relay.exchange.receive(theirs, frame, Now(mesh.now.monotonic + second, mesh.now.unix + second))
    assert not reported and theirs.session.is_open
    assert {entry.envelope for entry in relay.exchange.giving.shelf} == set(shared)


def test_who_floods_loses_what_is_too_much_and_nothing_else() -> None:
    mesh, author, relay = Mesh(), Peer(1), Peer(2, draws=False)
    (_, (_, theirs)) = mesh.join(author, relay).ends
    for index in range(60):
        sealed = m.Sourced(envelope=group(author.signer, slot=SLOT, index=index))
        relay.exchange._take_in(theirs, sealed, mesh.now, published=True)
    assert len(relay.exchange.giving.shelf) == 40 and theirs.session.is_open
    assert relay.exchange.refusals[Reason.FLOODING] == 20
    assert not relay.exchange.standing.is_shut_out(author.signer.key, mesh.now.monotonic)


def test_a_full_shelf_keeps_no_own_group_from_the_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    mesh, author, peer = Mesh(), Peer(1), Peer(2)
    mesh.join(author, peer)

    def full(*given: object) -> None:
        raise Refused(Reason.POOL_FULL)

    monkeypatch.setattr(author.exchange.giving.shelf, "add", full)
    shared = author.share(mesh.now)
    mesh.settle()
    assert peer.held() == shared


def test_a_pool_is_counted_once_a_tick_and_only_for_those_that_may_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    mesh, node = Mesh(), Peer(1)
    for name in range(2, 12):
        mesh.join(node, Peer(name))
    node.exchange.want([TASK], 16)
    counted = []
    plain = node.exchange.pool.stock
    monkeypatch.setattr(node.exchange.pool, "stock", lambda *asked: counted.append(asked) or plain(*asked))
    mesh.wait(10, step=1.0)
    assert len(counted) <= 10
