"""A new key continues where its old one was, and nobody gains by saying so."""

import msgspec
import pytest

from sapo_desktop.swarm.protocol.events import Opened
from sapo_desktop.swarm.protocol.refusals import Reason, Refused
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.trust import rotation
from sapo_desktop.swarm.trust.standing import NEW_SECONDS, Standing
from tests.swarm.mesh import Mesh, Peer
from tests.swarm.peers import ALICE, BOB, NETWORK, Link, me, session

TIME = 1_700_000_000
CAROL = Signer(b"c" * 32)
SHOWN = rotation.rotate(ALICE, BOB.key, NETWORK, TIME)


def test_the_old_key_signs_for_the_new_one() -> None:
    assert len(SHOWN) == rotation.ROTATION_BYTES == 104
    assert rotation.old_key(SHOWN, BOB.key, NETWORK, TIME + 5) == ALICE.key
    assert rotation.is_recent(SHOWN, TIME) and not rotation.is_recent(SHOWN, TIME + rotation.LASTING)
    assert not rotation.is_recent(b"", TIME)


@pytest.mark.parametrize(
    ("shown", "key", "network", "time", "reason"),
    [
        (SHOWN, CAROL.key, NETWORK, TIME, Reason.BAD_SIGNATURE),
        (SHOWN, BOB.key, bytes(32), TIME, Reason.BAD_SIGNATURE),
        (SHOWN[:-1], BOB.key, NETWORK, TIME, Reason.BAD_SIGNATURE),
        (bytes(104), BOB.key, NETWORK, 0, Reason.BAD_SIGNATURE),
        (CAROL.key + SHOWN[32:], BOB.key, NETWORK, TIME, Reason.BAD_SIGNATURE),
        (rotation.rotate(BOB, BOB.key, NETWORK, TIME), BOB.key, NETWORK, TIME, Reason.BAD_SIGNATURE),
        (SHOWN, BOB.key, NETWORK, TIME + 86_400, Reason.TOO_OLD),
        (SHOWN, BOB.key, NETWORK, TIME - 1201, Reason.TOO_NEW),
    ],
)
def test_everything_else_is_refused(shown: bytes, key: bytes, network: bytes, time: int, reason: Reason) -> None:
    with pytest.raises(Refused) as refused:
        rotation.old_key(shown, key, network, time)
    assert refused.value.reason is reason


def test_both_have_one_quota_and_the_history_moves() -> None:
    standing = Standing({ALICE.key: 0.0})
    day = NEW_SECONDS
    for _ in range(20):
        standing.admit(ALICE.key, 0.0, day, published=True)
    assert not standing.is_new(ALICE.key, day) and standing.is_new(BOB.key, day)
    standing.join(ALICE.key, BOB.key, 0.0, day)
    assert not standing.is_new(BOB.key, day)
    assert standing.is_new(ALICE.key, day), "a history is not multiplied"
    for _ in range(20):
        standing.admit(BOB.key, 0.0, day, published=True)
    with pytest.raises(Refused) as refused:
        standing.admit(BOB.key, 0.0, day, published=True)
    assert refused.value.reason is Reason.FLOODING
    standing.join(ALICE.key, CAROL.key, 0.0, day)
    assert standing.is_new(CAROL.key, day)


@pytest.mark.parametrize("faulty", [ALICE, BOB])
def test_both_have_the_faults_of_each(faulty: Signer) -> None:
    """A fresh old key washes none away."""
    standing = Standing()
    for _ in range(5):
        standing.charge(faulty.key, Reason.BAD_TEXT, 0.0, 0.0)
    standing.join(ALICE.key, BOB.key, 1.0, 1.0)
    assert standing.is_shut_out(BOB.key, 1.0)


def test_it_is_shown_in_the_handshake_for_a_day() -> None:
    def heard(shown: bytes) -> bytes:
        link = Link(client=session("client", me(BOB, rotation=shown)), server=session("server", me(CAROL))).run()
        (opened,) = [event for event in link.events("server") if isinstance(event, Opened)]
        return opened.hello.rotation

    assert heard(SHOWN) == SHOWN
    assert heard(rotation.rotate(ALICE, BOB.key, NETWORK, TIME - rotation.LASTING)) == b""


def test_a_rotation_that_says_nothing_about_its_key_is_counted_and_left_alone() -> None:
    mesh, alice, bob = Mesh(), Peer(1), Peer(2)
    mesh.join(alice, bob)
    (link,) = bob.exchange.links
    assert link.hello is not None
    changed = msgspec.structs.replace(link.hello, rotation=bytes(104))
    bob.exchange._follow_rotation(link, changed, mesh.now)
    assert link.session.is_open
    assert sum(count for _, count in bob.exchange.refusals) == 1


def test_a_fresh_old_key_brings_no_fresh_quota() -> None:
    standing = Standing()
    for _ in range(40):
        standing.admit(BOB.key, 0.0, 0.0, published=True)
    standing.join(ALICE.key, BOB.key, 0.0, 0.0)
    with pytest.raises(Refused):
        standing.admit(BOB.key, 0.0, 0.0, published=True)
