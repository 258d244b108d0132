"""External answers, weighed: values worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.core.records import Completion, Mark, WeightingName
from sapo_desktop.learning.external import LEAST, WEIGHTINGS, external_advantages, least_probability
from tests.builders import group


def marks(*rewards: float) -> list[Mark]:
    """By a scorer's own score; solved is 1."""
    return group(*rewards).marks


ONE_OF_EIGHT = marks(1, 0, 0, 0, 0, 0, 0, 0)
HALF = 0.5
"""Share of the task that this node solves."""


@pytest.mark.parametrize(
    ("weighting", "first", "second"),
    [
        ("paper", math.sqrt(7), -1 / math.sqrt(7)),
        ("guarded", 0.5, 0.0),
    ],
)
def test_one_right_answer_among_eight(weighting: WeightingName, first: float, second: float) -> None:
    treated = WEIGHTINGS[weighting](ONE_OF_EIGHT, HALF)
    assert treated[:2] == pytest.approx([first, second])
    assert treated[1:] == [treated[1]] * 7


def test_what_this_node_always_solves_teaches_it_nothing() -> None:
    assert WEIGHTINGS["guarded"](marks(1, 1), 1.0) == [0.0, 0.0]
    assert WEIGHTINGS["guarded"](marks(1, 1), 0.0) == [1.0, 1.0]
    assert WEIGHTINGS["paper"](marks(1, 1), 0.0) == [0.0, 0.0]


def test_a_wrong_answer_teaches_nothing_whatever_its_partial_score() -> None:
    """With `reward = partial`, where this node solves less than a wrong answer's score."""
    assert WEIGHTINGS["guarded"](marks(0.5, 1, 0.3), 0.1) == [0.0, 0.9, 0.0]


def test_a_group_weighs_the_same_whatever_its_length() -> None:
    for answers, tokens in ((8, 20), (8, 200), (2, 80)):
        advantages = external_advantages(
            "guarded", marks(*[1] * answers), [tokens] * answers, HALF, own_group_tokens=400
        )
        assert sum(a * tokens for a in advantages) == pytest.approx(0.5 * 400)


def test_who_leaves_wrong_answers_out_makes_the_right_one_weigh_no_more() -> None:
    """Ten tokens an answer, and own groups of eight such: 1 - b each, however many stand beside it."""
    for sent in (ONE_OF_EIGHT, marks(1, 0), marks(1)):
        weighed = external_advantages("guarded", sent, [10] * len(sent), 0.25, own_group_tokens=80, answers=8)
        assert weighed == [0.75, *[0.0] * (len(sent) - 1)]
    sixteen = external_advantages("guarded", marks(*[1] * 16), [10] * 16, 0.25, own_group_tokens=80, answers=8)
    assert sum(sixteen) * 10 == pytest.approx(0.75 * 80), "and more than an own group weighs none"


def test_a_single_short_answer_is_not_blown_up_without_end() -> None:
    assert external_advantages("guarded", marks(1), [3], HALF, own_group_tokens=400) == [4.0]


def test_nothing_to_learn_is_exactly_nothing() -> None:
    assert external_advantages("guarded", marks(0, 0), [5, 5], HALF, 100) == [0.0, 0.0]
    assert external_advantages("paper", marks(1, 0), [0, 0], HALF, 100) == [0.0, 0.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=16), st.floats(0, 1))
def test_senders_choose_no_size(rewards: list[float], own_rate: float) -> None:
    assert all(0 <= a <= 1 for a in WEIGHTINGS["guarded"](marks(*rewards), own_rate))


def test_a_peer_may_write_what_is_as_unlikely_as_what_we_drew_ourselves() -> None:
    def drawn(*probabilities: float) -> Completion:
        return Completion(
            tokens=[1] * len(probabilities), logprobs=[math.log(p) for p in probabilities], text="", finish="stop"
        )

    assert least_probability([drawn(0.9, 0.2), drawn(0.5)]) == LEAST
    assert least_probability([drawn(0.9, 2e-5), drawn(0.5, 1e-4), drawn()]) == pytest.approx(2e-5)
    assert least_probability([drawn()]) == least_probability([]) == LEAST, "a server that tells no probabilities"
