"""What a person reads of a completion."""

import pytest

from sapo_desktop.view.completion import Parted, parted, without_tags


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
