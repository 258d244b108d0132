"""The part of a completion that a person reads."""

import pytest

from sapo_desktop.view.completion import Parted, in_plain_signs, parted, without_tags


@pytest.mark.parametrize(
    ("completion", "answer", "steps"),
    [
        ("7+5=12\n12-3=9\n<answer>9</answer>", "9", "7+5=12\n12-3=9"),
        ("<answer>gorf</answer>", "gorf", ""),
        ("first\nsecond\n", "second", "first"),
        ("9", "9", ""),
        ("a <answer>1</answer> b <answer>2</answer>", "2", "a 1 b"),
        ("so <answer>4", "so 4", ""),
        ("", "", ""),
        (" \n ", "", ""),
    ],
)
def test_the_answer_stands_by_itself(completion: str, answer: str, steps: str) -> None:
    assert parted(completion) == Parted(answer, steps)


@pytest.mark.parametrize("text", ["12 - 3 = 9 <", "12 - 3 = 9 <answ", "12 - 3 = 9 <answer>", "12 - 3 = 9</"])
def test_a_tag_that_is_being_written_is_not_shown(text: str) -> None:
    assert without_tags(text) == "12 - 3 = 9"


def test_what_is_less_stays() -> None:
    assert without_tags("3 < 4") == "3 < 4"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"Simplify $\dfrac{6}{21}$ to its lowest terms", "Simplify 6/21 to its lowest terms"),
        (r"$\frac{-2}{7}$", "-2/7"),
        (r"\dfrac{1}{3}", "1/3"),
        (r"$\dfrac{x}{3}$ costs $5", r"$\dfrac{x}{3}$ costs $5"),
        (r"\dfrac{1}{", r"\dfrac{1}{"),
    ],
)
def test_fractions_are_read_as_people_type_them(written: str, read: str) -> None:
    assert in_plain_signs(written) == read
