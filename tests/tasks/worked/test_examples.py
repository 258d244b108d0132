"""Worked examples before a question: right, short, from the training side, and never the question itself."""

from sapo_desktop.core.records import Exchange, Question
from sapo_desktop.tasks.worked import WRITERS
from sapo_desktop.tasks.worked.examples import OF_A_FAMILY, FamilyExamples, free_question, shown_with
from tests.tasks.examiner.test_examiner import scene

STEPS = [Exchange(question=f"q{number}", answer=f"a{number}") for number in range(4)]
SHOWN = FamilyExamples(longer=STEPS)


def asked(text: str, first_byte: int = 0, task: str = "gcd/easy") -> Question:
    return Question(task=task, seed=1, text=text, hash=bytes([first_byte, *range(7)]))


def test_the_same_question_is_shown_the_same_examples_and_never_itself() -> None:
    assert shown_with(asked("other", 2), SHOWN, 1) == (STEPS[2],)
    assert shown_with(asked("other", 3), SHOWN, 2) == (STEPS[3], STEPS[0])
    assert STEPS[2] not in shown_with(asked("q2", 2), SHOWN, 4)
    assert shown_with(asked("other"), FamilyExamples(), 2) == () and shown_with(asked("other"), SHOWN, 0) == ()


def test_a_question_of_one_step_is_shown_one_step_and_others_are_shown_all_of_theirs() -> None:
    line, steps = Exchange(question="l", answer="2 + 2 = 4"), Exchange(question="s", answer="2+2=4 4+1=5")
    both = FamilyExamples(first=[line], longer=[steps])
    assert shown_with(asked("q", task="gcd/first"), both, 2) == (line,)
    assert shown_with(asked("q", 1, task="gcd/easy"), both, 2) == (steps,)
    assert shown_with(asked("q", task="gcd/first"), FamilyExamples(longer=[steps]), 1) == (steps,), "better than none"


def test_what_a_person_asks_is_shown_the_examples_of_a_family_that_everybody_can_read() -> None:
    question = free_question("What is 17 + 25?")
    assert question.task.partition("/")[0] in WRITERS and shown_with(question, SHOWN, 1) == (STEPS[0],)


def test_examples_of_every_family_are_right_and_give_no_held_out_answer_away() -> None:
    found = scene("examples")
    assert all(count % OF_A_FAMILY == 0 for count in found["counts"].values())
    assert found["counts"].keys() == WRITERS.keys() and min(found["counts"].values()) >= OF_A_FAMILY
    assert found["not solved"] == found["held out"] == found["misplaced"] == []
