"""Conclusions: a step of deduction counts as solved; a premise, a conjunction of all, or a weaker form does not."""

import pytest

from sapo_desktop.tasks.conclusions import Premises, premises_of, table_of
from sapo_desktop.tasks.formulas import parse_formula

MODUS_PONENS = ["P", "(P → Q)"]
CHAIN = ["(P → Q)", "(Q → R)"]
BOTH_WAYS = ["(P ↔ R)", "(R ↔ Q)"]
CASES = ["(P ∨ Q)", "(P → R)", "(Q → R)"]


def given(formulas: list[str], variables: str = "PQR") -> Premises:
    return premises_of({"premises": formulas, "variables": list(variables)})


def concluded(premises: list[str], formula: str) -> bool:
    parsed = parse_formula(formula)
    assert parsed is not None
    return given(premises).concludes(parsed)


@pytest.mark.parametrize(
    ("premises", "formula"),
    [
        (MODUS_PONENS, "Q"),
        (MODUS_PONENS, "¬¬Q"),
        (MODUS_PONENS, "Q ∧ (Q ∨ R)"),
        (CHAIN, "P → R"),
        (CHAIN, "¬P ∨ R"),
        (CHAIN, "¬R → ¬P"),
        (BOTH_WAYS, "P ↔ Q"),
        (BOTH_WAYS, "P → Q"),
        (CASES, "R"),
        (["(P ∨ Q)", "¬P", "(Q → R)"], "Q ∧ R"),
    ],
)
def test_a_deduction_is_solved_in_any_spelling(premises: list[str], formula: str) -> None:
    assert concluded(premises, formula)


@pytest.mark.parametrize(
    ("premises", "formula"),
    [
        (MODUS_PONENS, "P"),  # a premise
        (MODUS_PONENS, "P ∨ Q"),  # a weaker one
        (MODUS_PONENS, "P → Q"),
        (MODUS_PONENS, "P ∧ (P → Q)"),  # all of them
        (MODUS_PONENS, "P ∧ Q"),  # the same in other words
        (MODUS_PONENS, "Q ∨ R"),  # the conclusion watered down
        (MODUS_PONENS, "(P ∧ Q) ∨ R"),
        (MODUS_PONENS, "P ∧ (Q ∨ R)"),
        (MODUS_PONENS, "R"),  # does not follow
        (MODUS_PONENS, "Q ∨ ¬Q"),  # always holds
        (MODUS_PONENS, "Q ∧ ¬Q"),
        (MODUS_PONENS, "S"),  # nobody spoke of it
        (CHAIN, "(P → Q) ∧ (P → R)"),  # a premise next to the conclusion
        (CHAIN, "(P ∧ Q) → R"),
        (CASES, "(P → R) ∧ (Q → R)"),  # two of three
        (CASES, "R ∨ (P ↔ Q)"),
    ],
)
def test_what_premises_say_and_what_is_less_than_a_clause_is_not(premises: list[str], formula: str) -> None:
    assert not concluded(premises, formula)


def test_premises_that_contradict_each_other_or_only_repeat_have_no_conclusion() -> None:
    for premises in (["P", "¬P"], ["P", "Q"], ["P", "P"], ["(P ∨ ¬P)", "Q"], ["(P ∨ Q)", "(P ∨ ¬Q)"]):
        assert given(premises).accepted == ()


def test_right_answers_are_single_clauses_the_shortest_first() -> None:
    assert [str(clause) for clause in given(CASES).accepted] == ["R"]
    assert [str(clause) for clause in given(BOTH_WAYS).accepted] == ["(P ∨ ¬Q)", "(¬P ∨ Q)"]
    for premises in (MODUS_PONENS, CHAIN, BOTH_WAYS, CASES):
        assert all(concluded(premises, str(clause)) for clause in given(premises).accepted)


def test_tables_are_those_worked_out_by_hand() -> None:
    assert [table_of(f, 2) for f in ("P", "Q", "¬P", "(P ∧ Q)", "(P ∨ Q)", "(P → Q)", "(P ↔ Q)")] == [
        0b1010, 0b1100, 0b0101, 0b1000, 0b1110, 0b1101, 0b1001,
    ]  # fmt: skip
    with pytest.raises(ValueError, match="R is none of the first 2"):
        table_of("(P ∧ R)", 2)


def test_premises_must_be_formulas() -> None:
    with pytest.raises(ValueError, match="no formulas"):
        given(["P and Q"])
