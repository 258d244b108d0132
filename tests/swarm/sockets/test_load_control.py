"""A relay allows as much as it can handle: it reduces at once and increases step by step."""

import pytest

from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.sockets.load_control import LoadControl


class Core:
    """A relay with so many senders that can take so many groups a second, each in a message of its own. `each`: the
    share of such a message's work that is the group's."""

    def __init__(self, capacity: float, senders: int, each: float = 1.0) -> None:
        self.alone, self.senders, self.each = capacity, senders, each
        self.control = LoadControl(0.0, 0.0)
        self.now = self.processor = self.groups = self.waiting = 0.0
        self.shares: list[float] = []

    def play(self, seconds: int, *, wanted: float = 1.0) -> None:
        """`wanted`: groups a second of each sender, as far as it may."""
        for _ in range(seconds):
            self.now += 1
            capacity = self.alone / (self.each + (1 - self.each) / self.control.together)
            self.waiting += self.senders * min(wanted, self.control.share)
            taken = min(self.waiting, capacity)
            self.waiting -= taken
            self.groups += taken
            self.processor += taken / capacity
            senders = self.senders if wanted else 0
            waits = int(self.waiting)
            if self.control.look(self.now, self.processor, int(self.groups), senders=senders, waiting=waits, late=0.0):
                self.shares.append(self.control.share)


def test_who_can_take_all_tells_nobody_anything() -> None:
    core = Core(2000, 500)
    core.play(600)
    assert core.shares == [] and core.control.share == 1 and core.control.ms_per_group == 1000


def test_what_is_allowed_is_soon_taken_at_once_and_hardly_ever_sent_again() -> None:
    core = Core(700, 2000)
    core.play(60)
    assert core.waiting == 0, "what piled up before is taken"
    core.shares.clear()
    core.play(600)
    assert core.waiting == 0 and len(core.shares) <= 3
    assert 0.7 * 700 < 2000 * core.control.share < 700, "and the core is used"


def test_once_there_is_time_again_more_is_allowed() -> None:
    core = Core(700, 2000)
    core.play(60)
    core.senders = 20
    core.play(300)
    assert (core.control.share, core.control.together) == (1, 1)


def test_where_messages_are_the_work_fewer_of_them_are_enough() -> None:
    core = Core(700, 2000, each=0.15)
    core.play(300)
    assert (core.control.share, core.control.together, core.waiting) == (1, 8, 0)
    core.shares.clear()
    core.play(600)
    assert not core.shares, "it does not go to and fro"


def test_a_busy_moment_or_one_without_senders_changes_nothing() -> None:
    control = LoadControl(0.0, 0.0)
    assert not control.look(1.0, 1.0, 500, senders=10, waiting=99, late=3.0)
    assert not control.look(2.0, 1.1, 510, senders=10, waiting=0, late=0.0)
    for second in range(3, 60):  # thousands shake hands, nobody sends
        assert not control.look(float(second), float(second), 510, senders=0, waiting=99, late=1.0)


def test_where_groups_are_not_the_work_their_senders_keep_what_they_need() -> None:
    """A flood of anything else, or other programs that keep the core."""
    control = LoadControl(0.0, 0.0)
    for second in range(1, 300):
        control.look(float(second), float(second), second, senders=6, waiting=200, late=1.0)
    assert control.share == 1
    for second in range(300, 600):
        control.look(float(second), float(second), 20 * second, senders=200, waiting=200, late=1.0)
    assert 200 * control.share >= 32
    for second in range(600, 700):  # also where it was cut for many who are gone
        control.look(float(second), float(second), 20 * second, senders=40, waiting=200, late=1.0)
    assert 40 * control.share >= 32


def test_there_is_a_least_that_is_always_allowed() -> None:
    control = LoadControl(0.0, 0.0)
    for second in range(1, 60):
        control.look(float(second), 0.0, 0, senders=2000, waiting=999, late=2.0)
    assert control.ms_per_group == limits.SLOWEST_MS


@pytest.mark.parametrize("seconds", [60, 3600, 8 * 3600])
def test_however_long_a_pace_was_kept_it_ends_as_soon(seconds: int) -> None:
    core = Core(700, 2000)
    core.play(seconds)
    core.senders = 20
    core.play(120)
    assert core.control.share == 1
