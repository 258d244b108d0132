"""One link, message by message."""

import itertools

import msgspec
import pytest

from sapo_desktop.swarm.protocol import codec, events, limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.refusals import Reason
from sapo_desktop.swarm.protocol.session import Session
from tests.swarm.peers import ALICE, BOB, TASK, Link, group, me, opened, session, want


def closed_because(link: Link) -> tuple[str, str]:
    """Why each side's session ended."""
    last = [link.events(side)[-1] for side in ("client", "server")]
    assert all(isinstance(event, events.Closed) for event in last), last
    return last[0].reason, last[1].reason  # type: ignore[union-attr]


def refusals(reported: list[events.Event]) -> list[Reason]:
    return [event.reason for event in reported if isinstance(event, events.RefusedMessage)]


# -- the handshake -------------------------------------------------------------------------------------------


@pytest.fixture
def link() -> Link:
    return opened()


def test_both_sides_learn_whom_they_talk_to() -> None:
    link = Link().run()
    (at_client,), (at_server,) = link.events("client"), link.events("server")
    assert isinstance(at_client, events.Opened) and isinstance(at_server, events.Opened)
    assert (at_client.hello.key, at_server.hello.key) == (BOB.key, ALICE.key)
    assert at_client.hello.time == 1_700_000_000


def test_a_newer_side_talks_the_older_version() -> None:
    link = Link(client=session("client", me(ALICE, versions=(2, 1)))).run()
    (reported,) = link.events("server")
    assert isinstance(reported, events.Opened)


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        (Link(client=session("client", me(ALICE, versions=(2,)))), "no common version: this side speaks 1"),
        (Link(client=session("client", me(ALICE, network=b"o" * 32))), "another network"),
        (Link(client=session("client", me(BOB))), "this is my own key"),
        (Link(client=session("client", me(ALICE), expected_key=b"k" * 32)), "not the key that this address belongs to"),
        (Link(client=session("client", me(ALICE), certificate=b"x" * 32)), "handshake: bad_signature"),
    ],
    ids=["version", "network", "echo", "pinned key", "another certificate"],
)
def test_a_handshake_that_must_fail(link: Link, reason: str) -> None:
    assert closed_because(link.run()) == (reason, reason)


def test_a_proof_does_not_pass_for_the_other_side() -> None:
    """Mallory has no key of Bob's, names it, and sends Alice's own proof back to her."""
    client = session("client", me(ALICE))
    client.take()
    mallory = session("server", me(BOB))
    mallory.receive(codec.encode(client._handshake.hello), 0)
    hello, _ = mallory.take()
    assert client.receive(hello, 0) == []
    stolen = m.Auth(signature=ALICE.sign("auth", b"n" * 32, b"whatever"))
    reported = client.receive(codec.encode(stolen), 0)
    assert refusals(reported) == [Reason.BAD_SIGNATURE] and client.is_closed


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\xc1",
        b"GET / HTTP/1.1\r\n",
        b"\x91" * 5000,
        bytes(limits.MAX_HELLO + 1),
        codec.encode(m.Ping()),
        codec.encode(m.Auth(signature=bytes(64))),
        msgspec.msgpack.encode({"type": "hello"}),
        msgspec.msgpack.encode({"type": "from_the_future"}),
    ],
    ids=["empty", "no msgpack", "http", "nested", "large", "ping", "auth first", "half a hello", "unknown"],
)
def test_rubbish_before_auth_ends_the_link_at_once(frame: bytes) -> None:
    server = session("server", me(BOB))
    reported = server.receive(frame, 0)
    assert isinstance(reported[-1], events.Closed) and server.is_closed
    (goodbye,) = (codec.decode(frame) for frame in server.take())
    assert isinstance(goodbye, m.Goodbye) and goodbye.reason.startswith("handshake: ")
    assert server.receive(frame, 0) == []


def test_a_slow_handshake_is_given_up() -> None:
    server = session("server", me(BOB), now=100.0)
    assert server.tick(109.9) == []
    (reported,) = server.tick(110.0)
    assert isinstance(reported, events.Closed) and reported.reason == "handshake: too slow"


# -- messages ------------------------------------------------------------------------------------------------


def test_published_groups_arrive_as_their_bytes() -> None:
    link, envelopes = opened(), [group(), group(index=1)]
    assert link.client.publish(envelopes, 0)
    assert link.run().events("server") == [events.Published(envelopes)]


def test_a_want_is_answered_once(link: Link) -> None:
    assert link.client.want(want(n=2), 0)
    (wanted,) = link.run().events("server")
    assert isinstance(wanted, m.Want) and wanted.tasks == [TASK]
    sourced = [m.Sourced(envelope=group(), relay=BOB.key, tag=b"somewhere")]
    assert link.server.serve(wanted.ticket, sourced, 0)
    assert link.run().events("client") == [events.Served(sourced)]
    assert link.server.serve(wanted.ticket, sourced, 0)
    assert refusals(link.run().events("client")) == [Reason.UNASKED]


def test_more_groups_than_asked_for_are_not_taken(link: Link) -> None:
    link.client.want(want(n=1), 0)
    link.run()
    link.server.serve(b"w" * 16, [m.Sourced(envelope=group(index=i)) for i in range(2)], 0)
    assert refusals(link.run().events("client")) == [Reason.OVERDRAWN]


def test_a_sender_knows_its_credit_and_never_overdraws_it(link: Link) -> None:
    sent = 0
    while link.client.publish([group(index=sent % 64)], 0.0):
        sent += 1
    assert sent == limits.FIRST_GROUPS
    assert all(isinstance(reported, events.Published) for reported in link.run().events("server"))
    assert not link.client.publish([group()], 0.5)
    assert link.client.publish([group()], 1.0)
    assert refusals(link.run(1.0).events("server")) == []


def test_a_peer_that_is_asked_to_send_less_does_so_and_is_read_all_the_while(link: Link) -> None:
    link.server.pace(4000, 8, 0.0)
    link.run()
    assert link.client.credit(0.0)[0] < 8, "what was saved up before no longer counts"
    sent = 0
    for second in range(120):
        now = float(second)
        while link.client.publish([group(index=sent % 64)], now):
            sent += 1
        link.run(now)
        assert link.server.overdue(now) == 0 and not refusals(link.events("server")), second
    assert 119 // 4 <= sent < 8 + 120 // 4
    assert link.client.groups_together == 8
    assert link.server.credit(119.0)[0] <= limits.FIRST_GROUPS / 4, "and it sends no more itself"
    link.server.pace(1000, 1, 120.0)
    link.run(120.0)
    assert link.client.credit(200.0)[0] == limits.FIRST_GROUPS and link.client.groups_together == 1


def test_those_that_are_asked_to_send_less_do_not_all_send_at_once() -> None:
    links = [Link(client=session("client", me(ALICE), nonce=bytes([n]) * 32)).run() for n in range(0, 256, 32)]
    for link in links:
        link.server.pace(4000, 4, 0.0)
        link.run()
    assert [link.client.credit(0.0)[0] for link in links] == [number / 2 for number in range(8)]
    for link in links:  # each keeps its point of the turn
        link.server.pace(8000, 2, 0.0)
        link.run()
    assert [link.client.credit(0.0)[0] for link in links] == [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75]


@pytest.mark.parametrize("left", [0.0, 0.9])
def test_a_pace_gives_nothing_to_a_link_that_has_used_up_what_it_may_send(link: Link, left: float) -> None:
    link.client._sending.groups.hold(left)
    for ms, together in ((1250, 6), (2000, 4), (1000, 8)):
        link.server.pace(ms, together, 0.0)
        link.run()
        assert link.client.credit(0.0)[0] <= left * 2, "but for what its place in the turn is worth"


def test_a_peer_that_does_not_heed_it_is_not_read_for_a_while(link: Link) -> None:
    link.server.pace(10_000, 8, 0.0)
    link.server.take()  # it never hears of it
    for now in range(120):
        link.client.publish([group(index=now % 64)], float(now))
        link.run(float(now))
    assert not refusals(link.events("server")), "what was sent is taken, and no fault"
    assert 400 < link.server.overdue(120.0) < 1200
    assert link.server.overdue(1400.0) == 0


def test_a_paced_peer_asks_less_often(link: Link) -> None:
    link.server.pace(3000, 5, 0.0)
    link.run()
    asked = [now for now in range(60) if link.client.want(want(bytes([now]) * 16), float(now))]
    assert len(asked) == 4 and all(15 <= after - before <= 16 for before, after in itertools.pairwise(asked))


@pytest.mark.parametrize("reported", [1, 2**53])
def test_however_little_is_allowed_a_link_goes_on(link: Link, reported: int) -> None:
    link.server._say(m.Credit(ms_per_group=reported, together=reported))
    link.run()
    assert 1 / 60 <= link.client._sending.groups.rate <= 1
    assert link.client.credit(600.0)[0] >= limits.PACED_GROUPS >= link.client.groups_together >= 1


def test_overdrawn_credit_counts_against_the_link_until_it_is_closed(link: Link) -> None:
    frame = codec.encode(m.Publish(batch=codec.pack_published([group(index=i) for i in range(16)])))
    reported = [event for _ in range(20) for event in link.server.receive(frame, 0)]
    taken = sum(isinstance(event, events.Published) for event in reported)
    assert taken == 2  # 32 groups, and a quarter more only where another batch still fits
    assert refusals(reported) == [Reason.OVERDRAWN] * 9
    assert isinstance(reported[-1], events.Closed) and reported[-1].retry_after == 600


def test_wants_come_at_most_every_five_seconds(link: Link) -> None:
    assert link.client.want(want(), 0) and not link.client.want(want(), 4.9)
    reported = [event for _ in range(8) for event in link.server.receive(codec.encode(want()), 0)]
    assert sum(isinstance(event, m.Want) for event in reported) == 2
    assert refusals(reported) == [Reason.TOO_OFTEN] * 6


def test_unanswered_wants_are_forgotten_and_only_so_many_are_open(link: Link) -> None:
    asked = [link.client.want(want(bytes([n]) * 16), 5.0 * n) for n in range(13)]
    assert asked == [True] * 8 + [False] * 4 + [True]  # the first is forgotten after a minute


def test_unknown_messages_are_counted_and_their_flood_is_a_fault(link: Link) -> None:
    frame = msgspec.msgpack.encode({"type": "from_the_future", "x": [1, {"y": None}]})
    reported = [event for _ in range(60) for event in link.server.receive(frame, 0)]
    assert refusals(reported)[:32] == [Reason.UNKNOWN_MESSAGE] * 32
    assert refusals(reported)[32:] == [Reason.TOO_OFTEN] * 9
    assert link.server.is_closed


def test_unknown_fields_are_ignored(link: Link) -> None:
    frame = msgspec.msgpack.encode({"type": "ping", "number": 7, "colour": "red"})
    assert link.server.receive(frame, 0) == []
    assert codec.decode(link.server.take()[0]) == m.Pong(number=7)


def test_a_catalogue_is_sent_once_and_taken_only_when_asked_for(link: Link) -> None:
    link.client.ask_catalogue()
    assert link.run().events("client") == [m.Catalogue(tasks=[TASK])]
    assert refusals(link.server.receive(codec.encode(m.CatalogueReq()), 9)) == [Reason.TOO_OFTEN]
    assert refusals(link.client.receive(codec.encode(m.Catalogue(tasks=[])), 0)) == [Reason.UNASKED]


def test_addresses_and_statistics(link: Link) -> None:
    assert link.client.ask_peers(0) and not link.client.ask_peers(599)
    assert link.run().events("server") == [m.PeersReq()]
    link.server.give_peers([b"record"])
    assert link.client.tell_stats(b"stats", 0) and not link.client.tell_stats(b"stats", 59)
    link.run()
    assert link.events("client") == [m.Peers(records=[b"record"])]
    assert link.events("server") == [m.Stats(envelope=b"stats")]
    assert refusals(link.client.receive(codec.encode(m.Peers(records=[])), 0)) == [Reason.UNASKED]


def test_silence_is_asked_about_and_then_given_up(link: Link) -> None:
    assert link.client.tick(limits.IDLE_SECONDS) == []
    link.run(limits.IDLE_SECONDS)
    link.client.tick(2 * limits.IDLE_SECONDS)
    (reported,) = link.client.tick(limits.IDLE_SECONDS + limits.DEAD_SECONDS)
    assert isinstance(reported, events.Closed) and reported.reason == "silent for too long"


def test_goodbye_ends_both_sides_and_nothing_is_sent_after(link: Link) -> None:
    link.client.close("going to sleep", retry_after=30)
    assert not link.client.publish([group()], 0)
    assert link.run().events("server") == [events.Closed("going to sleep", 30, by_peer=True)]
    assert link.server.receive(codec.encode(m.Ping()), 0) == [] and link.server.take() == []


def test_faults_heal_with_time(link: Link) -> None:
    for minute in range(100):
        assert not any(isinstance(e, events.Closed) for e in link.server.receive(b"rubbish", 60.0 * minute))


def test_a_message_too_large_for_a_frame_is_not_sent() -> None:
    session_ = opened().client
    import random

    noise = random.Random(1)
    answers = [noise.randbytes(limits.MAX_GROUP - 8) for _ in range(4)]
    assert not session_.publish(answers, 0)
    assert isinstance(session_, Session) and session_.take() == []


# -- how long an answer takes -----------------------------------------------------------------------------------


def test_the_latency_is_that_of_the_last_ping_or_want_that_was_answered(link: Link) -> None:
    client, server = link.client, link.server
    assert client.latency is None
    client.tick(limits.IDLE_SECONDS)
    (ping,) = client.take()
    server.receive(ping, limits.IDLE_SECONDS)
    (pong,) = server.take()
    client.receive(pong, limits.IDLE_SECONDS + 0.25)
    assert client.latency == 0.25
    client.receive(pong, limits.IDLE_SECONDS + 9)  # again: it says nothing
    client.receive(codec.encode(m.Pong(number=7)), limits.IDLE_SECONDS + 9)
    assert client.latency == 0.25
    client.want(want(), 60.0)
    (asked,) = client.take()
    server.receive(asked, 60.0)
    server.serve(b"w" * 16, [], 60.0)
    (served,) = server.take()
    client.receive(served, 60.5)
    assert client.latency == 0.5
