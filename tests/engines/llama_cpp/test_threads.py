"""The number of threads follows the load: halved at once, doubled again later; time is an argument."""

from itertools import pairwise

from sapo_desktop.engines.llama_cpp.threads import FIRST_PATIENCE, LONGEST_PATIENCE, ThreadPace, Used


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


def alone(most: int) -> Machine:
    """A machine on which all threads are at work."""
    machine = Machine(most)
    machine.run(10, 1.0)
    return machine


def test_alone_threads_are_doubled_up_to_what_is_allowed() -> None:
    machine = Machine(6)
    assert [machine.run(1, 1.0) for _ in range(5)] == [2, 4, 6, 6, 6]


def test_one_thread_is_never_given_up() -> None:
    assert Machine(1).run(100, 0.1) == 1


def test_a_busy_machine_is_never_tried_with_more() -> None:
    assert Machine(8).run(100, 0.7) == 1


def test_where_others_come_threads_are_halved() -> None:
    machine = alone(8)
    assert [machine.run(1, 0.5) for _ in range(4)] == [4, 2, 1, 1]


def test_more_are_tried_once_the_processor_was_ours_for_a_while() -> None:
    machine = alone(2)
    assert machine.run(1, 0.5) == 1
    assert machine.run(int(FIRST_PATIENCE) - 1, 1.0) == 1
    assert machine.run(1, 1.0) == 2


def test_each_try_in_vain_doubles_the_time_to_the_next_up_to_a_limit() -> None:
    machine = Machine(2)
    tries = []
    for _ in range(2000):
        if machine.run(1, 1.0 if machine.pace.count == 1 else 0.5) == 2:
            tries.append(machine.wall)
    gaps = [later - earlier for earlier, later in pairwise(tries)]
    assert gaps[:4] == [11, 21, 41, 81]
    assert gaps[-1] == LONGEST_PATIENCE + 1


def test_a_rest_between_two_generations_counts_for_nothing() -> None:
    machine = alone(2)
    machine.wall += 1000
    machine.pace.begin(Used(machine.wall, machine.cpu))
    assert machine.run(1, 1.0) == 2


def test_looks_closer_together_than_the_window_decide_nothing() -> None:
    pace = ThreadPace(2, Used(0, 0))
    assert pace.passed(Used(0.1, 0.1)) == 1
    assert pace.passed(Used(0.6, 0.6)) == 2
