"""Scores of answers in canonical form, without reasoning_gym."""

from __future__ import annotations

from decimal import localcontext
from typing import Any

import pytest

from sapo_desktop.tasks.scoring import SOLVED, canonical_truth, same_letters, score, within


def never(answer: str, entry: dict[str, Any]) -> float:
    raise AssertionError("this dataset's own marker must not be called")


def entry(answer: str | None) -> dict[str, Any]:
    return {"question": "?", "answer": answer, "metadata": {}}


@pytest.mark.parametrize(
    ("dataset", "grammar", "answer", "truth", "expected"),
    [
        ("gcd", "integer", "6", "6", 1.0),
        ("gcd", "integer", "66", "6", 0.0),
        ("binary_matrix", "matrix", "0 1\n1 0", "0 1\n1 0", 1.0),
        ("base_conversion", "digits", "ff", "ff", 1.0),
        ("base_conversion", "digits", "0", "", 1.0),
        ("simple_geometry", "decimal", "75", "75.0", 1.0),
        ("ab", "ab", "", "", 1.0),
        ("spell_backward", "word", "TAC", "tac", 1.0),
    ],
)
def test_exact_answers(dataset: str, grammar: str, answer: str, truth: str, expected: float) -> None:
    assert score(dataset, grammar, {}, answer, entry(truth), never) == expected


def test_the_datasets_own_marker_is_called_for_those_that_keep_it() -> None:
    assert score("prime_factorization", "factors", {}, "2 × 3", entry("2 × 3"), lambda a, e: 0.5) == 0.5


def test_decimals_may_be_one_unit_of_the_questions_last_place_away() -> None:
    assert within("1.25", "1.234", 1) == 1.0
    assert within("1.335", "1.234", 1) == 0.0
    assert within("1.334", "1.234", 1) == 1.0


def test_decimals_are_compared_exactly_whatever_the_precision_around() -> None:
    with localcontext() as context:
        context.prec = 2
        assert within("100000.5", "100000.1", 1) == 0.0


def test_letters_after_the_right_ones_never_make_it_solved() -> None:
    assert same_letters("tac" + "x" * 60, "tac") < SOLVED
    assert same_letters("tacx", "tac") == 0.75
    assert same_letters("cat", "tac") == pytest.approx(1 / 3)


def test_a_truth_that_does_not_parse_stays_as_it_is() -> None:
    assert canonical_truth("capitals", "FOR AËRIAL TRADE") == "FOR AËRIAL TRADE"
