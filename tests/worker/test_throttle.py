"""Processor time that is bounded, whoever takes it."""

import pytest

from sapo_desktop.worker.throttle import TICK_SECONDS, Throttle


class Machine:
    """Processes that take `greed` cores while they are not held."""

    def __init__(self, greed: float) -> None:
        self.now = 0.0
        self.greed = greed
        self.spent = {1: 100.0, 2: 7.0}
        self.held = False
        self.throttle = Throttle(lambda: self.spent, self._hold, lambda: self.now)

    def _hold(self, held: bool) -> None:
        self.held = held

    def run(self, seconds: float, cores: float) -> float:
        """Cores used in so many seconds, as a mean."""
        before = sum(self.spent.values())
        for _ in range(round(seconds / TICK_SECONDS)):
            self.now += TICK_SECONDS
            if not self.held:
                self.spent = {pid: spent + self.greed * TICK_SECONDS / 2 for pid, spent in self.spent.items()}
            self.throttle.look(cores)
        return (sum(self.spent.values()) - before) / seconds


@pytest.mark.parametrize(("greed", "cores"), [(2.0, 1.0), (8.0, 0.5), (1.05, 1.0), (16.0, 0.25)])
def test_who_takes_too_much_gets_no_more_than_its_share(greed: float, cores: float) -> None:
    machine = Machine(greed)
    assert machine.run(600, cores) == pytest.approx(cores, rel=0.05)
    assert machine.throttle.used == pytest.approx(cores, rel=0.5)


def test_who_takes_less_is_never_held_and_a_changed_share_holds_within_two_seconds() -> None:
    machine = Machine(1.0)
    assert machine.run(10, 1.5) == pytest.approx(1.0) and not machine.held
    machine.run(2, 0.5)
    assert machine.run(2, 0.5) == pytest.approx(0.5, rel=0.1)


def test_a_process_that_comes_or_goes_is_no_processor_time() -> None:
    machine = Machine(0.0)
    machine.spent = {2: 7.0, 3: 500.0}
    machine.run(1, 1.0)
    assert not machine.held
