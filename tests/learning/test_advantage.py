import math

import pytest

from sapo_desktop.learning.advantage import group_advantages


def test_one_solved_of_eight() -> None:
    # mean 1/8, population variance (1/8)(7/8) = 7/64, deviation sqrt(7)/8
    # solved: (7/8) / (sqrt(7)/8) = sqrt(7); the others: (-1/8) / (sqrt(7)/8) = -1/sqrt(7)
    result = group_advantages([1, 0, 0, 0, 0, 0, 0, 0])
    assert result[0] == pytest.approx(math.sqrt(7))
    assert result[1:] == pytest.approx([-1 / math.sqrt(7)] * 7)


def test_half_solved_is_plus_and_minus_one() -> None:
    assert group_advantages([1, 1, 0, 0]) == [1, 1, -1, -1]


def test_partial_rewards() -> None:
    # mean 2, population variance (4 + 0 + 4) / 3 = 8/3
    assert group_advantages([0, 2, 4]) == pytest.approx([-2 / math.sqrt(8 / 3), 0, 2 / math.sqrt(8 / 3)])


@pytest.mark.parametrize("rewards", [[], [0.3], [0.1] * 8, [0.0] * 3, [1.0] * 5])
def test_equal_rewards_give_exact_zeros(rewards: list[float]) -> None:
    assert group_advantages(rewards) == [0.0] * len(rewards)
