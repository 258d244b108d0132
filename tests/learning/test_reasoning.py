"""How long answers reason before they say what they found, task by task."""

import msgspec

from sapo_desktop.core.records import Group
from sapo_desktop.learning.reasoning import KEPT, lengths_in, medians, with_new
from tests.builders import group


def own(*texts: str) -> Group:
    """A group of own answers, each read where it ends with a 6."""
    made = group(*[0.0] * len(texts), texts=texts)
    marks = [
        msgspec.structs.replace(mark, answer="6" if "6" in text else None)
        for mark, text in zip(made.marks, texts, strict=True)
    ]
    return msgspec.structs.replace(made, marks=marks)


def test_only_answers_that_were_read_in_their_tags_say_how_long_reasoning_is() -> None:
    texts = ["12345<answer>6</answer>", "<answer>6</answer>", "on and on", "or 6", "1<answer>?</answer>", "6</answer>"]
    assert lengths_in([own(*texts), own("123456789<answer>1</answer> no <answer>6</answer>\n")]) == {
        "gcd/easy": [5, 0, 31]
    }
    assert lengths_in([own("no answer")]) == {}


def test_the_median_follows_the_last_answers_of_a_task() -> None:
    kept = with_new({"gcd/easy": [10] * KEPT, "lcm/easy": [3]}, {"gcd/easy": [100] * (KEPT // 2 + 1), "bf/easy": [7]})
    assert {task: len(lengths) for task, lengths in kept.items()} == {"gcd/easy": KEPT, "lcm/easy": 1, "bf/easy": 1}
    assert medians(kept) == {"gcd/easy": 100.0, "lcm/easy": 3.0, "bf/easy": 7.0}
    assert medians({}) == {} and with_new({}, {}) == {}
