"""The output of BF loop programs; the examiner's slow test compares it with the interpreter's."""

from __future__ import annotations

import pytest

from sapo_desktop.core.errors import TaskError
from sapo_desktop.tasks.bf_loops import loop_output


def two_steps(target: int, x: int, y: int) -> str:
    return f"int acc = 0; int target = {target}; int x = {x}; int y = {y}; while (acc < target) {{ .. }}"


def with_condition(target: int, x: int, y: int, bound: int) -> str:
    return two_steps(target, x, y) + f" if (acc > {bound}) {{ acc = acc + y; }}"


def test_both_steps_are_added_until_the_target() -> None:
    assert loop_output(two_steps(21, 4, 4)) == "24"


def test_the_second_step_counts_above_the_bound_only() -> None:
    # 2, 4, .. 40, then 42 + 2 = 44 and so on in fours: 48, 52, .. 72.
    assert loop_output(with_condition(72, 2, 2, 40)) == "72"


def test_cells_hold_eight_bits() -> None:
    # Target 394 is 138, bound 377 is 121: 7 .. 119, then 126 + 7 = 133, then 140 + 7 = 147.
    assert loop_output(with_condition(394, 7, 7, 377)) == "147"


def test_a_program_that_never_ends_has_no_output() -> None:
    with pytest.raises(TaskError, match="never ends"):
        loop_output(with_condition(249, 6, 8, 236))


def test_another_program_is_refused() -> None:
    with pytest.raises(TaskError, match="shape"):
        loop_output('int main() { print("hello"); }')
