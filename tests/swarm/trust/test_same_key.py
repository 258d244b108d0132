"""One key on several links: one quota, reported to both, no alarm where a node is merely linked twice."""

import msgspec

from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.link import Link
from sapo_desktop.swarm.protocol import codec, events
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.refusals import Reason
from sapo_desktop.swarm.trust import same_key
from tests.swarm.mesh import SLOT, Mesh, Peer, Wire
from tests.swarm.peers import TASK, group, opened


def elsewhere(peer: Peer) -> int:
    return same_key.seen_elsewhere(peer.exchange.links)


def twins(mesh: Mesh, relay: Peer) -> tuple[Peer, Peer, Wire, Wire]:
    """Two nodes with one key, linked to a relay."""
    first, second = Peer(1), Peer(1)
    return first, second, mesh.join(first, relay), mesh.join(second, relay)


def served_by(wire: Wire) -> Link:
    return wire.ends[1][1]


def hang_up(wire: Wire) -> None:
    for peer, link in wire.ends:
        link.session.close("bye")
        peer.exchange.detach(link)


def test_both_are_reported_once_both_are_alive_and_again_when_one_is_left() -> None:
    mesh, relay = Mesh(), Peer(9)
    first, second, one, _ = twins(mesh, relay)
    mesh.wait(5)
    assert (elsewhere(first), elsewhere(second)) == (0, 0), "the older link may be a dead one"
    mesh.wait(60)  # after 45 silent seconds it is asked for a sign of life
    assert (elsewhere(first), elsewhere(second)) == (1, 1)
    assert same_key.doubled(relay.exchange.links) == 1
    hang_up(one)
    mesh.wait(60)
    assert (elsewhere(second), same_key.doubled(relay.exchange.links)) == (0, 0)


def test_a_connection_whose_peer_is_gone_is_no_second_place() -> None:
    mesh, relay, node = Mesh(), Peer(9), Peer(1)
    dead = mesh.join(node, relay)
    mesh.wires.remove(dead)
    node.exchange.detach(dead.ends[0][1])
    mesh.now = Now(1.0, mesh.now.unix + 1)
    mesh.join(node, relay)
    mesh.wait(180)
    assert elsewhere(node) == 0 and served_by(dead).twins_sent == 1


def test_two_nodes_that_dialled_each_other_share_a_quota_without_alarm() -> None:
    mesh, alice, bob = Mesh(), Peer(1), Peer(2)
    wires = mesh.join(alice, bob), mesh.join(bob, alice)
    mesh.wait(120)
    assert (elsewhere(alice), elsewhere(bob)) == (0, 0)
    assert same_key.doubled(alice.exchange.links) == 1
    assert wires[0].ends[1][1].quota is wires[1].ends[0][1].quota is not None
    hang_up(wires[0])
    assert wires[1].ends[0][1].quota is None


def test_wants_of_both_are_answered_from_one_quota_and_nobody_is_charged() -> None:
    mesh, relay, author = Mesh(), Peer(9), Peer(5)
    first, second, one, other = twins(mesh, relay)
    mesh.join(author, relay)
    for _ in range(8):
        author.share(mesh.now, 30)
        mesh.wait(30, step=30)
    for peer in (first, second):
        peer.exchange.want([TASK], 1000)
    out = [served_by(wire).traffic.groups_out for wire in (one, other)]
    mesh.wait(60)
    got = [served_by(wire).traffic.groups_out - before for wire, before in zip((one, other), out, strict=True)]
    assert min(got) > 0
    # 32 groups of a fresh link and one a second more; without the quota each twin would get so many.
    assert 60 <= sum(got) <= 32 + 60
    assert not dict(relay.exchange.refusals) and served_by(one).goodbye is None


def test_what_both_publish_is_one_identitys_and_no_reason_to_shut_it_out() -> None:
    mesh, relay = Mesh(), Peer(9)
    first, second, one, other = twins(mesh, relay)
    for peer in (first, second):
        for index in range(31):
            instance = (b"1" if peer is first else b"2") * 16
            peer.exchange.publish(group(peer.signer, slot=SLOT, index=index, instance=instance), mesh.now)
    mesh.settle()
    assert dict(relay.exchange.refusals)[Reason.FLOODING] > 20
    assert not relay.exchange.standing.is_shut_out(first.signer.key, mesh.now.monotonic)
    assert served_by(one).goodbye is None and served_by(other).goodbye is None


def test_links_that_come_and_go_make_nobody_talk() -> None:
    mesh, relay = Mesh(), Peer(9)
    first = Peer(1)
    wire = mesh.join(first, relay)
    said = 0
    for _ in range(60):
        thief = mesh.join(Peer(1), relay)
        mesh.wait(1, step=1)
        wire.ends[0][1].session._say(m.Ping())
        mesh.settle()
        before = served_by(wire).twins_sent
        mesh.wait(9, step=9)
        said += served_by(wire).twins_sent != before
        hang_up(thief)
        mesh.wires.remove(thief)
    assert 0 < said <= 10, "once a minute at most"
    assert served_by(wire).session.is_open and not dict(first.exchange.refusals)


def test_a_count_of_links_is_sent_once_a_minute_and_may_be_missing() -> None:
    link = opened()
    assert link.client.receive(codec.encode(m.Credit()), 0) == []
    assert link.server.tell_links(2, 0) and not link.server.tell_links(3, 59)
    assert link.run().events("client") == [events.SameKey(2)]
    for links in (-1, 2**60, "2"):
        reported = link.client.receive(msgspec.msgpack.encode({"type": "credit", "links": links}), 0)
        assert [event.reason for event in reported if isinstance(event, events.RefusedMessage)] == [Reason.MALFORMED]
