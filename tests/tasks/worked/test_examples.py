"""Worked examples, shown before a question: right, short, of the training side, and never the question itself."""

from sapo_desktop.core.records import Exchange, Question
from sapo_desktop.tasks.worked import WRITERS
from sapo_desktop.tasks.worked.examples import OF_A_FAMILY, free_question, shown_with
from tests.tasks.examiner.test_examiner import scene

SHOWN = [Exchange(question=f"q{number}", answer=f"a{number}") for number in range(4)]


def asked(text: str, first_byte: int = 0) -> Question:
    return Question(task="gcd/easy", seed=1, text=text, hash=bytes([first_byte, *range(7)]))


def test_the_same_question_is_shown_the_same_examples_and_never_itself() -> None:
    assert shown_with(asked("other", 2), SHOWN, 1) == (SHOWN[2],)
    assert shown_with(asked("other", 3), SHOWN, 2) == (SHOWN[3], SHOWN[0])
    assert SHOWN[2] not in shown_with(asked("q2", 2), SHOWN, 4)
    assert shown_with(asked("other"), [], 2) == () and shown_with(asked("other"), SHOWN, 0) == ()


def test_what_a_person_asks_is_shown_the_examples_of_a_family_that_everybody_can_read() -> None:
    question = free_question("What is 17 + 25?")
    assert question.task.partition("/")[0] in WRITERS and shown_with(question, SHOWN, 1) == (SHOWN[0],)


def test_examples_of_every_family_are_right_and_give_no_held_out_answer_away() -> None:
    found = scene("examples")
    assert found["counts"] == dict.fromkeys(WRITERS, OF_A_FAMILY)
    assert found["not solved"] == found["held out"] == []
