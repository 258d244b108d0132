"""Scores of answers in canonical form, without reasoning_gym."""

from typing import Any

import pytest

from sapo_desktop.tasks.scoring import SOLVED, canonical_truth, is_rounded, right_answers, same_letters, score


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


QUESTION = "Please solve this problem to a maximum of 5 significant digits.\n{} = ?"


@pytest.mark.parametrize(
    ("answer", "right"),
    [("3.0303", True), ("3.0304", True), ("3.03", False), ("3.1", False), ("3", False), ("-3.0303", False)],
)
def test_decimals_may_be_one_unit_of_the_last_asked_digit_away(answer: str, right: bool) -> None:
    assert is_rounded(answer, "3.0303", QUESTION.format("10.0/3.3"), 5) is right


def test_a_decimal_is_right_whether_or_not_every_step_was_rounded() -> None:
    question = QUESTION.format("((5.8/6.6)-0.9)")
    assert is_rounded("-0.02121", "-0.02121", question, 5)  # .87879 - .9, as the dataset has it
    assert is_rounded("-0.021212", "-0.02121", question, 5)
    assert not is_rounded("-0.0212", "-0.02121", question, 5)


def test_a_decimal_that_is_nothing_is_nothing() -> None:
    assert is_rounded("0", "0.0", QUESTION.format("2.5-2.5"), 5)
    assert not is_rounded("0.00001", "0.0", QUESTION.format("2.5-2.5"), 5)


def test_a_premise_is_no_conclusion() -> None:
    logic = {"question": "", "answer": None, "metadata": {"premises": ["P", "(P → Q)"], "variables": ["P", "Q"]}}
    marks = {
        formula: score("propositional_logic", "formula", {}, formula, logic, never)
        for formula in ("Q", "P", "(P ∨ Q)", "(P ∧ (P → Q))")
    }
    assert marks == {"Q": 1.0, "P": 0.0, "(P ∨ Q)": 0.0, "(P ∧ (P → Q))": 0.0}
    assert right_answers("propositional_logic", "formula", logic) == ("Q",)


def test_letters_after_the_right_ones_never_make_it_solved() -> None:
    assert same_letters("tac" + "x" * 60, "tac") < SOLVED
    assert same_letters("tacx", "tac") == 0.75
    assert same_letters("cat", "tac") == pytest.approx(1 / 3)


def test_a_truth_that_does_not_parse_stays_as_it_is() -> None:
    assert canonical_truth("capitals", "FOR AËRIAL TRADE") == "FOR AËRIAL TRADE"
