"""Scores of answers in canonical form, without reasoning_gym."""

from typing import Any

import pytest

from sapo_desktop.tasks.scoring import SOLVED, canonical_truth, is_rounded, right_answers, same_letters, score


def never(answer: str, entry: dict[str, Any]) -> float:
    raise AssertionError("this dataset's own scorer must not be called")


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


def test_the_datasets_own_scorer_is_called_for_those_that_keep_it() -> None:
    assert score("prime_factorization", "factors", {}, "2 × 3", entry("2 × 3"), lambda a, e: 0.5) == 0.5


QUESTION = "Please solve this problem to a maximum of 5 significant digits.\n{} = ?"


@pytest.mark.parametrize(
    ("answer", "right"),
    [("3.0303", True), ("3.0304", True), ("3.03", False), ("3.1", False), ("3", False), ("-3.0303", False)],
)
def test_decimals_may_be_one_unit_of_the_last_asked_digit_away(answer: str, right: bool) -> None:
    assert is_rounded(answer, QUESTION.format("10.0/3.3"), 5) is right


def test_a_decimal_that_is_nothing_is_nothing() -> None:
    assert is_rounded("0", QUESTION.format("2.5-2.5"), 5)
    assert not is_rounded("0.00001", QUESTION.format("2.5-2.5"), 5)


def test_a_premise_is_no_conclusion() -> None:
    logic = {"question": "", "answer": None, "metadata": {"premises": ["P", "(P → Q)"], "variables": ["P", "Q"]}}
    marks = {
        formula: score("propositional_logic", "formula", {}, formula, logic, never)
        for formula in ("Q", "P", "(P ∨ Q)", "(P ∧ (P → Q))")
    }
    assert marks == {"Q": 1.0, "P": 0.0, "(P ∨ Q)": 0.0, "(P ∧ (P → Q))": 0.0}
    assert right_answers("propositional_logic", "formula", logic) == ("Q",)


@pytest.mark.parametrize(
    ("dataset", "grammar", "truth", "metadata"),
    [
        ("basic_arithmetic", "integer", "-4", {"expression": "-7 / 2"}),
        ("basic_arithmetic", "integer", "0", {"expression": "1 / ( 1 / 2 - 1 / 2 )"}),
        ("base_conversion", "digits", "0", {"source_repr": ""}),
        ("simple_equations", "integer", "7", {"variable": "x", "equation": "0 = 0"}),
        ("simple_geometry", "decimal", "187", {"missing_angle_rounded": 187}),
        ("fraction_simplification", "fraction", "2/4", {"simplified_numerator": 2, "simplified_denominator": 4}),
        ("letter_counting", "integer", "2", {"target_letter": "e", "span": ["End", "the"]}),
        ("letter_counting", "integer", "2", {"target_letter": "8", "span": ["2889"]}),
        (
            *("calendar_arithmetic", "calendar", "50"),
            {"task": "count_business_days", "start_date": "2023-10-31", "end_date": "2024-01-08"},
        ),
        (
            *("calendar_arithmetic", "calendar", "Friday"),
            {"task": "weekday_of_date_from_first_date", "year": 2023, "target_date": "2023-03-01"},
        ),
        ("caesar_cipher", "capitals", "FOR AËRIAL TRADE", {}),
    ],
)
def test_a_question_that_cannot_be_answered_has_no_right_answer(
    dataset: str, grammar: str, truth: str, metadata: dict[str, Any]
) -> None:
    assert right_answers(dataset, grammar, {"question": "?", "answer": truth, "metadata": metadata}) == ()


def test_a_decimal_that_rounding_on_the_way_took_from_its_value_has_no_right_answer() -> None:
    question = QUESTION.format("((5.8/6.6)-0.9)")  # .87879 - .9, as the dataset has it; its value is -.021212
    asked = {"question": question, "answer": "-0.02121", "metadata": {}}
    assert right_answers("decimal_arithmetic", "decimal", asked) == ()
    assert is_rounded("-0.021212", question, 5)


def test_letters_after_the_right_ones_never_make_it_solved() -> None:
    assert same_letters("tac" + "x" * 60, "tac") < SOLVED
    assert same_letters("tacx", "tac") == 0.75
    assert same_letters("cat", "tac") == pytest.approx(1 / 3)


def test_a_truth_that_does_not_parse_stays_as_it_is() -> None:
    assert canonical_truth("capitals", "FOR AËRIAL TRADE") == "FOR AËRIAL TRADE"
