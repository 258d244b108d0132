"""The number of threads follows the load: given up at once, tried again later; time is an argument."""

from __future__ import annotations

from itertools import pairwise

from sapo_desktop.engines.threads import FIRST_PATIENCE, ThreadPace, Used


class Machine:
    """Gives threads a share of the processor, second by second."""

    def __init__(self, most: int) -> None:
        self.wall = self.cpu = 0.0
        self.pace = ThreadPace(most, Used(0, 0))

    def run(self, seconds: int, share: float) -> int:
        for _ in range(seconds):
            self.wall += 1
            self.cpu += share * self.pace.count
            self.pace.passed(Used(self.wall, self.cpu))
        return self.pace.count


def test_alone_all_threads_are_kept() -> None:
    assert Machine(4).run(100, 1.0) == 4


def test_one_thread_is_never_given_up() -> None:
    assert Machine(1).run(100, 0.1) == 1


def test_on_a_busy_machine_one_thread_after_the_other_is_given_up() -> None:
    machine = Machine(4)
    assert [machine.run(1, 0.5) for _ in range(5)] == [3, 2, 1, 1, 1]


def test_a_thread_is_tried_again_once_the_others_had_their_processor_for_a_while() -> None:
    machine = Machine(2)
    assert machine.run(1, 0.5) == 1
    assert machine.run(int(FIRST_PATIENCE) - 1, 1.0) == 1
    assert machine.run(1, 1.0) == 2


def test_each_try_in_vain_doubles_the_time_to_the_next() -> None:
    machine = Machine(2)
    machine.run(1, 0.5)
    tries = []
    for second in range(200):
        if machine.pace.count == 2:
            tries.append(second)
            machine.run(1, 0.5)
        else:
            machine.run(1, 1.0)
    assert [later - earlier for earlier, later in pairwise(tries)] == [21, 41, 81]


def test_a_rest_between_two_generations_counts_for_nothing() -> None:
    machine = Machine(2)
    machine.wall += 1000
    machine.pace.begin(Used(machine.wall, machine.cpu))
    assert machine.run(1, 1.0) == 2


def test_looks_closer_together_than_the_window_decide_nothing() -> None:
    pace = ThreadPace(2, Used(0, 0))
    assert pace.passed(Used(0.1, 0.0)) == 2
    assert pace.passed(Used(0.6, 0.1)) == 1
