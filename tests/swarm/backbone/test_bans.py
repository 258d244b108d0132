"""Bans between relays: accepted only from followed relays, and lifted again."""

from sapo_desktop.swarm.backbone.bans import MOST_BANS, SAY_SECONDS, BansBody, SharedBans
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.protocol.envelope import seal
from sapo_desktop.swarm.protocol.signing import Signer
from tests.swarm.mesh import START
from tests.swarm.peers import NETWORK

ONE, OTHER, STRANGER = (Signer(name * 32) for name in (b"1", b"2", b"3"))
BAD, WORSE = b"b" * 32, b"w" * 32


def later(seconds: float) -> Now:
    return Now(START.monotonic + seconds, START.unix + seconds)


def pair() -> tuple[SharedBans, SharedBans]:
    return SharedBans(ONE, NETWORK, []), SharedBans(OTHER, NETWORK, [ONE.key])


def test_a_ban_reaches_who_follows_and_is_lifted_with_the_next_list() -> None:
    one, other = pair()
    assert one.due(START) is None, "without a list there is nothing to say"
    one.say(frozenset({BAD, WORSE}))
    message = one.due(START)
    assert message and other.heard(ONE.key, message, START)
    assert other.followed == {BAD, WORSE} and one.followed == frozenset()
    assert one.due(later(SAY_SECONDS - 1)) is None
    again = one.due(later(SAY_SECONDS))
    assert again and not other.heard(ONE.key, again, later(SAY_SECONDS)), "nothing changed"
    one.say(frozenset({BAD}))
    lifted = one.due(later(SAY_SECONDS + 1))
    assert lifted and other.heard(ONE.key, lifted, later(SAY_SECONDS + 1))
    assert other.followed == {BAD}
    assert not other.heard(ONE.key, message, later(SAY_SECONDS + 2)), "an older list does not come back"


def test_nobody_else_can_ban_anybody() -> None:
    _, other = pair()
    forged = seal(STRANGER, BansBody(network=NETWORK, key=STRANGER.key, time=int(START.unix), banned=[BAD]), 65536)
    stale = seal(ONE, BansBody(network=NETWORK, key=ONE.key, time=int(START.unix) - 3600, banned=[BAD]), 65536)
    for name, message in ((STRANGER.key, forged), (ONE.key, forged), (ONE.key, stale), (ONE.key, b"x"), (b"", b"")):
        assert not other.heard(name, message, START)
    assert other.followed == frozenset()


def test_a_relay_bans_neither_itself_nor_whom_it_follows() -> None:
    one, other = pair()
    one.say(frozenset({ONE.key, OTHER.key, BAD}))
    message = one.due(START)
    assert message and other.heard(ONE.key, message, START) and other.followed == {BAD}


def test_the_longest_list_fits_into_a_message() -> None:
    one, other = pair()
    one.say(frozenset(number.to_bytes(32, "big") for number in range(2 * MOST_BANS)))
    message = one.due(START)
    assert message and other.heard(ONE.key, message, START) and len(other.followed) == MOST_BANS
