"""Identities, their rates and their faults."""

import pytest

from sapo_desktop.swarm.protocol.refusals import Reason, Refused
from sapo_desktop.swarm.trust import standing
from sapo_desktop.swarm.trust.standing import SHUT_OUT_SECONDS, Standing

KEY, DAY = b"k" * 32, 24 * 3600.0


def admitted(it: Standing, now: float = 0.0, *, key: bytes = KEY, published: bool = True) -> Reason | None:
    try:
        it.admit(key, now, now, published=published)
    except Refused as refused:
        return refused.reason
    return None


def test_an_identity_publishes_at_its_rate_and_no_faster() -> None:
    it = Standing()
    assert [admitted(it) for _ in range(41)] == [None] * 40 + [Reason.FLOODING]
    assert admitted(it, 1.0) is None and admitted(it, 1.0) is Reason.FLOODING
    assert admitted(it, 1.0, key=b"other" + bytes(27)) is None


def test_what_we_asked_others_for_is_no_flood() -> None:
    it = Standing()
    assert [admitted(it, published=False) for _ in range(1000)] == [None] * 1000


def test_faults_shut_out_for_an_hour_and_heal() -> None:
    it = Standing()
    for _ in range(5):
        assert not it.is_shut_out(KEY, 0)
        it.charge(KEY, Reason.BAD_BODY, 0, 0)
    assert admitted(it) is Reason.SHUT_OUT
    assert admitted(it, SHUT_OUT_SECONDS) is None
    for quarter in range(100):
        it.charge(KEY, Reason.BAD_BODY, 10**5 + 900.0 * quarter, 0)
    assert not it.is_shut_out(KEY, 10**6)


@pytest.mark.parametrize("reason", [Reason.BAD_SIGNATURE, Reason.OTHER_QUESTION, Reason.DUPLICATE, Reason.OVERSIZE])
def test_nobody_is_charged_for_what_is_not_provably_theirs(reason: Reason) -> None:
    it = Standing()
    for _ in range(100):
        it.charge(KEY, reason, 0, 0)
    assert not it.is_shut_out(KEY, 0)


def test_who_was_seen_a_day_ago_is_known_and_stays_so_over_a_restart() -> None:
    it = Standing()
    admitted(it)
    assert it.is_new(KEY, DAY - 1) and not it.is_new(KEY, DAY)
    admitted(it, DAY)
    again = Standing(it.first_seen(10))
    assert again.is_new(KEY, DAY)  # not heard of yet since the restart
    admitted(again, DAY)
    assert not again.is_new(KEY, DAY)


def test_who_comes_every_day_becomes_known_on_a_node_that_is_on_for_a_few_hours_a_day() -> None:
    it = Standing()
    for day in range(3):
        it = Standing(it.first_seen(10))
        for hour in range(8):
            admitted(it, DAY * day + 3600 * hour)
    assert not it.is_new(KEY, 3 * DAY)


def test_a_start_without_a_word_from_them_forgets_nobody_and_a_flood_pushes_no_history_out() -> None:
    histories = {bytes([n]) * 32: -2.0 * DAY for n in range(8)}
    it = Standing(histories)
    assert it.first_seen(10) == histories
    admitted(it, key=bytes(32))
    for n in range(1, 1000):
        admitted(it, n, key=n.to_bytes(32, "big"))
    kept = it.first_seen(10)
    assert histories.items() <= kept.items() and list(kept)[-1] == bytes(32), "who was heard just now goes last"
    assert set(kept.values()) == {-2.0 * DAY, 1.0, 2.0}, "of the others those that came first"


def test_those_that_come_no_more_leave_room_for_others() -> None:
    it = Standing({n.to_bytes(32, "big"): -2 * DAY for n in range(1, 11)})
    for n in range(10):
        admitted(it, key=b"fresh" + bytes([n]) * 27)
    assert len(it.first_seen(10)) == 10 and len([1 for since in it.first_seen(10).values() if since == 0]) == 2


def test_a_first_sighting_in_the_future_is_none() -> None:
    it = Standing({KEY: 10 * DAY})
    admitted(it, DAY)
    assert it.is_new(KEY, DAY + 1) and not it.is_new(KEY, 2 * DAY)


def test_fresh_identities_push_out_only_fresh_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "_MOST_NEW", 100)
    it = Standing({KEY: -DAY})
    admitted(it)
    for n in range(1000):
        admitted(it, key=n.to_bytes(32, "big"))
    assert not it.is_new(KEY, 0)
    assert len(it._new) == 100
