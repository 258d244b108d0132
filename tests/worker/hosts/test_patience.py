"""Time-outs by progress: what a host did between two checks, and how long it has left."""

import math

import pytest

from sapo_desktop.system.processes import Effort, Processors
from sapo_desktop.worker.hosts.patience import Patience, Sight

CORES = 2


def sight(at: float, cpu: float, *, read: int = 0, node: float = 0.0, busy: float = 0.0) -> Sight:
    """A look after `at` seconds, in which the processors computed for `busy` and the host for `cpu`."""
    return Sight(at, Effort(cpu, read), node, Processors(busy, CORES * at))


@pytest.mark.parametrize("way", [{"loading": True}, {"computes": True}])
@pytest.mark.parametrize("moves", [{"cpu": 0.05}, {"cpu": 0.0, "read": 4096}])
def test_what_loads_or_computes_may_take_as_long_as_it_gets_on(moves: dict[str, float], way: dict[str, bool]) -> None:
    patience = Patience(180.0, **way)
    for number in range(1000):
        before = sight(5.0 * number, number * moves["cpu"], read=int(number * moves.get("read", 0)))
        now = sight(5.0 * number + 5, (number + 1) * moves["cpu"], read=int((number + 1) * moves.get("read", 0)))
        patience.count(5.0, before, now)
    assert patience.left == 180.0


@pytest.mark.parametrize("way", [{"loading": True}, {"computes": True}])
def test_what_loads_or_computes_and_does_nothing_at_all_is_given_up(way: dict[str, bool]) -> None:
    patience = Patience(180.0, **way)
    patience.count(5.0, None, sight(5, 1.0))
    for number in range(1, 37):
        assert patience.left > 0
        patience.count(5.0, sight(5.0 * number, 1.0), sight(5.0 * number + 5, 1.0))
    assert patience.left == 0


def test_who_tells_how_far_it_is_gets_on_but_for_one_that_has_a_limit_of_its_whole_time() -> None:
    elsewhere, marks = Patience(20.0, computes=True), Patience(20.0)  # a server computes, of whose time nothing is seen
    for patience in (elsewhere, marks):
        patience.count(5.0, sight(0, 1.0), sight(5, 1.0))
        assert patience.left == 15.0
        patience.heard()
    assert (elsewhere.left, marks.left) == (20.0, 15.0)


def test_a_starved_host_is_charged_what_it_computed_and_a_hung_one_the_time() -> None:
    starved = Patience(20.0)
    starved.count(5.0, sight(0, 0.0), sight(5, 0.1, busy=10.0))
    assert starved.left == pytest.approx(19.9)
    spinning = Patience(20.0)
    spinning.count(5.0, sight(0, 0.0), sight(5, 5.0, busy=10.0))
    assert spinning.left == pytest.approx(15.0)
    waking = Patience(20.0)  # it has all processors it could want, and only looks around now and then
    waking.count(5.0, sight(0, 0.0), sight(5, 0.1, busy=0.5))
    assert waking.left == pytest.approx(15.0)
    asleep = Patience(20.0)
    asleep.count(5.0, sight(0, 1.0), sight(5, 1.0, busy=10.0))
    assert asleep.left == pytest.approx(15.0)


def test_without_a_limit_there_is_no_end() -> None:
    assert Patience(None).left == math.inf


def test_a_busy_computer_is_said_once_and_only_where_others_are_busy() -> None:
    patience = Patience(180.0, loading=True)
    patience.count(5.0, None, sight(5, 0.5, node=1.0, busy=10.0))
    assert patience.busy(sight(10, 1.0, node=2.0, busy=20.0)) is None, "it has not taken long yet"
    late = sight(20, 2.0, node=4.0, busy=40.0)
    said = patience.busy(late)
    assert said is not None and "other programs use 90% of its processors" in str(said)
    assert patience.busy(late) is None

    own = Patience(180.0, loading=True)
    own.count(5.0, None, sight(5, 0.0))
    assert own.busy(sight(20, 29.0, node=29.0, busy=30.0)) is None, "the node itself is what computes"
    idle = Patience(180.0, loading=True)
    idle.count(5.0, None, sight(5, 0.0))
    assert idle.busy(sight(20, 0.5, node=0.5, busy=3.0)) is None, "it waits for a disk"
