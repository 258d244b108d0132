"""Peers' claims about themselves are shown as claims, and have no effect."""

import math

import pytest

from sapo_desktop.swarm.link import Link
from sapo_desktop.swarm.protocol.envelope import StatsBody, seal
from sapo_desktop.swarm.protocol.messages import Stats
from sapo_desktop.swarm.protocol.refusals import Reason
from sapo_desktop.swarm.trust import claims
from sapo_desktop.swarm.trust.claims import About
from tests.swarm.mesh import Mesh, Peer
from tests.swarm.peers import ALICE, BOB, NETWORK, TASK


def tell(mesh: Mesh, peer: Peer, about: About) -> None:
    claims.tell(peer.exchange.links, peer.exchange, peer.signer, NETWORK, b"", about, mesh.now)
    mesh.settle()


def heard(mesh: Mesh, peer: Peer) -> list[Stats]:
    return [event for who, event in mesh.heard if who is peer and isinstance(event, Stats)]


def test_a_peer_hears_how_often_its_groups_were_handed_on() -> None:
    mesh, author, relay, third = Mesh(), Peer(1), Peer(2), Peer(3)
    mesh.join(author, relay)
    mesh.join(third, relay)
    author.share(mesh.now, 3)
    third.exchange.want([TASK], 8)
    mesh.wait(10)
    assert len(third.held()) == 3
    tell(mesh, relay, About(round=7, reward=0.5, label="relay"))
    (claim,) = heard(mesh, author)
    (link,) = author.exchange.links
    assert claims.hear(link, claim.envelope, NETWORK, None) is None
    assert (link.claim.round, link.claim.reward, link.claim.label, link.claim.used) == (7, 0.5, "relay", 3)


def test_a_claim_is_sent_once_a_minute() -> None:
    mesh, first, second = Mesh(), Peer(1), Peer(2)
    mesh.join(first, second)
    for _ in range(13):
        tell(mesh, first, About())
        mesh.wait(10, step=10)
    assert len(heard(mesh, second)) == 3
    assert not any(reason for reason, _ in second.exchange.refusals)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (StatsBody(network=NETWORK, key=ALICE.key, time=1), Reason.NOT_ITS_OWN),
        (StatsBody(network=bytes(32), key=BOB.key, time=1), Reason.BAD_SIGNATURE),
        (StatsBody(network=NETWORK, key=BOB.key, time=1, reward=math.nan), Reason.BAD_BODY),
        (StatsBody(network=NETWORK, key=BOB.key, time=1, reward=-math.inf), Reason.BAD_BODY),
    ],
)
def test_what_is_no_claim_of_the_peers_own_is_refused(body: StatsBody, reason: Reason) -> None:
    link = Link(session=None, part=b"", key=BOB.key)  # type: ignore[arg-type]
    signer = ALICE if body.key == ALICE.key else BOB
    assert claims.hear(link, seal(signer, body), NETWORK, None) is reason
    assert link.claim is None
    assert claims.hear(link, b"rubbish", NETWORK, None) is not None
