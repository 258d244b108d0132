"""Formulas are read as the dataset's own reader groups them, and only within bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.tasks.formulas import MAX_DEPTH, parse_formula

FORMULAS = st.recursive(
    st.sampled_from("PQRS"),
    lambda inner: st.one_of(
        inner.map(lambda text: "¬" + text),
        st.tuples(inner, st.sampled_from("∧∨→↔"), inner).map(lambda parts: f"({' '.join(parts)})"),
    ),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("P", "P"),
        ("(P)", "P"),
        ("P∨Q", "(P ∨ Q)"),
        ("¬P ∧ Q", "(¬P ∧ Q)"),
        ("¬(P ∧ Q)", "¬(P ∧ Q)"),
        ("¬¬P", "¬¬P"),
        ("P ∨ Q ∧ R", "(P ∨ (Q ∧ R))"),
        ("P → Q → R", "((P → Q) → R)"),
        ("P ↔ Q → R ∨ S", "(P ↔ (Q → (R ∨ S)))"),
        ("(P ∨ Q) ∧ (R ∨ S)", "((P ∨ Q) ∧ (R ∨ S))"),
    ],
)
def test_every_parenthesis_is_written(text: str, formula: str) -> None:
    assert parse_formula(text) == formula


@pytest.mark.parametrize(
    "text",
    ["", "p", "A", "P Q", "P ∨", "∨ P", "(P", "P)", "()", "¬", "P & Q", "P → Q.", "P ∨ Q so Q", "TRUE", "P\u202e"],
)
def test_what_is_no_formula_is_refused(text: str) -> None:
    assert parse_formula(text) is None


def test_depth_length_and_connectives_are_bounded() -> None:
    assert parse_formula("¬" * MAX_DEPTH + "P") is not None
    assert parse_formula("¬" * (MAX_DEPTH + 1) + "P") is None
    assert parse_formula("(" * 100_000) is None
    assert parse_formula("(" * 120 + "P" + ")" * 120) is None
    assert parse_formula(" ∨ ".join("P" * 33)) is not None
    assert parse_formula("∨".join("P" * 34)) is None
    assert parse_formula("P" + " " * 256) is None


@given(FORMULAS)
def test_a_canonical_formula_reads_as_itself(text: str) -> None:
    once = parse_formula(text)
    assert once is None or parse_formula(once) in (once, None)


@given(st.text(alphabet="PQ ()¬∧∨→↔", max_size=300))
def test_never_raises(text: str) -> None:
    parse_formula(text)
