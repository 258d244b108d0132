"""Expressions: exact values, and one text for expressions that differ only in the order of terms and factors."""

from fractions import Fraction

import pytest

from sapo_desktop.tasks.expressions import exact, folded


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1 + 2 - 3", "2 - 3 + 1"),
        ("1 + (2 - 3)", "-3 + (1 + 2)"),
        ("-(4 - 5)", "5 - 4"),
        ("2 * 3 / 4", "3 / 4 * 2"),
        ("2 * (3 * 5)", "5 * 3 * 2"),
        ("7 - 2 * 3", "-3 * 2 + 7"),
        ("-( 2 * 3 )", "3 * -2"),
        ("(1 + 2) * 3", "3 * (2 + 1)"),
        ("2*a + 3", "3 + b*2"),
        ("1.50 + 2", "2 + 1.5"),
        ("8 / (4 / 2)", "2 * 8 / 4"),
    ],
)
def test_order_says_nothing(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("1 - 2", "2 - 1"), ("6 / 2", "2 / 6"), ("-3 - 4", "3 - 4"), ("(3 - 4) * 2", "3 - 4 * 2"), ("1 + 1", "1")],
)
def test_what_means_something_else_stays_apart(one: str, other: str) -> None:
    assert folded(one) != folded(other)


def test_values_are_exact() -> None:
    assert exact("(5.8-6.6)/1.3") == Fraction(-8, 13)
    assert exact("-( -75 / 3 ) - 38") == -13
    with pytest.raises(ZeroDivisionError):
        exact("1 / (2 - 2)")


@pytest.mark.parametrize("text", ["", "1 +", "2 ** 3", "f(1)", "'a'", "1 if 2 else 3", "[1]"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an expression"):
        folded(text)


def test_an_unknown_has_no_value() -> None:
    with pytest.raises(ValueError, match="not an expression of numbers"):
        exact("x + 1")
