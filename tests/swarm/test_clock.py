"""The corrected clock and the slots it accepts."""

import contextlib

import pytest

from sapo_desktop.swarm.clock import MANY_NETWORKS, Clock
from sapo_desktop.swarm.protocol.refusals import Reason, Refused

NOW = 600.0 * 1000


def heard(*offsets: float) -> Clock:
    clock = Clock()
    for link, offset in enumerate(offsets):
        clock.heard(bytes([link]), NOW + offset, NOW)
    return clock


@pytest.mark.parametrize(
    ("offsets", "offset", "wrong"),
    [
        ((), 0.0, False),
        ((600.0,), 600.0, False),
        ((600.0, 0.0, 1.0), 1.0, False),
        ((10**9, -3.0, 5.0), 5.0, False),
        ((1201.0,), 0.0, True),
        ((-5000.0, -5000.0, 0.0), 0.0, True),
    ],
)
def test_the_median_corrects_within_twenty_minutes(offsets: tuple[float, ...], offset: float, wrong: bool) -> None:
    clock = heard(*offsets)
    assert (clock.offset, clock.is_wrong) == (offset, wrong)


def test_a_closed_link_no_longer_counts() -> None:
    clock = heard(600.0)
    clock.closed(b"\0")
    assert clock.offset == 0.0


@pytest.mark.parametrize(("slot", "reason"), [(993, Reason.TOO_OLD), (1002, Reason.TOO_NEW)])
def test_slots_outside_the_window_are_refused(slot: int, reason: Reason) -> None:
    with pytest.raises(Refused) as refused:
        Clock().check(slot, NOW)
    assert refused.value.reason is reason


def visited(*offsets: float) -> Clock:
    """A relay's: each of the offsets is that of a network that dials in."""
    clock = Clock()
    for part, offset in enumerate(offsets):
        clock.heard(bytes([part]), NOW + offset, NOW, dialled=False)
    return clock


FEW, MANY = MANY_NETWORKS - 1, MANY_NETWORKS


@pytest.mark.parametrize(
    ("offsets", "offset", "contradicting"),
    [
        ([1100.0], 0.0, 1),
        ([1100.0] * FEW, 0.0, FEW),
        ([1100.0] * MANY, 1100.0, 0),
        ([-1100.0] * MANY, -1100.0, 0),
        ([1100.0] * 12 + [0.0] * 5, 0.0, 12),
        ([1100.0] * 8 + [0.0] * 8, 0.0, 0),
        ([1100.0] * 10 + [-1100.0] * 10, 0.0, 20),
        ([30.0] * FEW, 0.0, 0),
        ([], 0.0, 0),
    ],
)
def test_a_relay_trusts_its_own_clock_until_three_quarters_of_many_networks_agree(
    offsets: list[float], offset: float, contradicting: int
) -> None:
    clock = visited(*offsets)
    assert (clock.offset, clock.contradicting) == (offset, contradicting)


def test_a_peer_that_a_relay_dials_outvotes_all_that_dial_in() -> None:
    clock = visited(*[1100.0] * MANY)
    clock.heard(b"dialled", NOW + 2, NOW)
    assert (clock.offset, clock.contradicting) == (2.0, MANY)


def test_slots_inside_the_window_are_taken_and_the_window_moves_with_the_peers() -> None:
    def accepted(clock: Clock) -> list[int]:
        taken = []
        for slot in range(990, 1006):
            with contextlib.suppress(Refused):
                clock.check(slot, NOW)
                taken.append(slot)
        return taken

    assert accepted(Clock()) == list(range(994, 1002))
    assert accepted(heard(600.0)) == list(range(995, 1003))
