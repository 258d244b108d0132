"""How long own answers reason, with what success, and what that says of a peer's answer."""

import msgspec
import pytest

from sapo_desktop.core.records import Group
from sapo_desktop.learning.reasoning import KEPT, Kept, Reasoned, medians, reasoned_in, with_new, worth
from tests.builders import group


def own(*texts: str) -> Group:
    """A group of own answers, each read where it ends with a 6."""
    made = group(*[0.0] * len(texts), texts=texts)
    marks = [
        msgspec.structs.replace(mark, answer="6" if "6" in text else None)
        for mark, text in zip(made.marks, texts, strict=True)
    ]
    return msgspec.structs.replace(made, marks=marks)


def answers(right: int, wrong: int, characters: int = 0) -> list[Reasoned]:
    return [Reasoned(characters, solved=True)] * right + [Reasoned(characters, solved=False)] * wrong


REASONER: Kept = {"gcd/easy": answers(14, 6, 40), "lcm/easy": answers(9, 3, 60)}
"""A trained starter."""
BARE: Kept = {"chain_sum/first": answers(20, 6), "products/first": answers(12, 12)}
"""A language model at one-step questions."""
GUESSER: Kept = {
    "gcd/easy": answers(3, 25) + answers(6, 6, 40),
    "lcm/easy": answers(4, 28),
    "ab/easy": answers(7, 8, 30) + answers(1, 12),
}
"""A new starter: most answers are bare guesses, and a third of its right ones."""


def test_only_answers_that_were_read_in_their_tags_say_how_long_reasoning_is() -> None:
    texts = ["12345<answer>6</answer>", "<answer>6</answer>", "on and on", "or 6", "1<answer>?</answer>", "6</answer>"]
    found = reasoned_in([own(*texts), own("123456789<answer>1</answer> no <answer>6</answer>\n")])
    assert {task: [one.characters for one in rows] for task, rows in found.items()} == {"gcd/easy": [5, 0, 31]}
    assert reasoned_in([own("no answer")]) == {}


def test_whether_an_answer_was_right_is_kept_next_to_its_length() -> None:
    solved = group(1, 0, texts=["because <answer>6</answer>", "<answer>6</answer>"])
    assert reasoned_in([solved]) == {"gcd/easy": [Reasoned(8, solved=True), Reasoned(0, solved=False)]}


def test_the_median_follows_the_last_answers_of_a_task() -> None:
    before = {"gcd/easy": answers(KEPT, 0, 10), "lcm/easy": answers(1, 0, 3)}
    kept = with_new(before, {"gcd/easy": answers(0, KEPT // 2 + 1, 100), "bf/easy": answers(0, 1, 7)})
    assert {task: len(lengths) for task, lengths in kept.items()} == {"gcd/easy": KEPT, "lcm/easy": 1, "bf/easy": 1}
    assert medians(kept) == {"gcd/easy": 100.0, "lcm/easy": 3.0, "bf/easy": 7.0}
    assert medians({}) == {} and with_new({}, {}) == {}


@pytest.mark.parametrize("task", ["gcd/easy", "never asked"])
def test_a_bare_answer_is_worth_nothing_to_a_node_that_reasons(task: str) -> None:
    assert worth(REASONER, task, 0) == 0.0
    assert worth(REASONER, task, 1) == 0.0, "nor is a word before it"
    assert worth(REASONER, task, 40) == 1.0


def test_a_length_that_differs_by_question_is_fine() -> None:
    """Own right answers take 40 characters: those of a question that takes a quarter are welcome."""
    assert worth(REASONER, "gcd/easy", 10) == 1.0


@pytest.mark.parametrize("task", ["chain_sum/first", "products/first", "never asked"])
def test_where_own_right_answers_are_bare_a_bare_answer_is_honest(task: str) -> None:
    assert worth(BARE, task, 0) == 1.0


def test_the_bound_is_the_tasks_own() -> None:
    """One node that answers one-step questions barely, and others with reasoning."""
    both = {**BARE, **REASONER}
    assert worth(both, "chain_sum/first", 0) == 1.0
    assert worth(both, "gcd/easy", 0) == 0.0


@pytest.mark.parametrize("task", [*GUESSER, "never asked"])
def test_own_lucky_guesses_do_not_make_bare_answers_welcome(task: str) -> None:
    assert worth(GUESSER, task, 0) < 0.75
    assert worth(GUESSER, "gcd/easy", 40) == 1.0


@pytest.mark.parametrize("kept", [{}, {"gcd/easy": answers(0, 30, 50)}])
def test_while_nothing_was_ever_right_every_form_is_welcome(kept: Kept) -> None:
    """The form itself may be what there is to learn."""
    assert worth(kept, "gcd/easy", 0) == worth(kept, "lcm/easy", 0) == 1.0
