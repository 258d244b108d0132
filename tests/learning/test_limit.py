"""The limit of tokens follows the lengths that a model needs."""

from sapo_desktop.core.records import Completion, FinishReason, Group, Mark
from sapo_desktop.learning.limit import LEAST, Lengths, first_limit, lengths_of, next_limit
from tests.builders import QUESTION


def answer(tokens: int, finish: FinishReason = "closed") -> Completion:
    return Completion(tokens=[1] * tokens, logprobs=[-1.0] * tokens, text="", finish=finish)


def lengths(answers: list[Completion], readable: list[bool]) -> Lengths:
    marks = [
        Mark(solved=False, partial=0.0, reward=0.0, answer=None, verdict="wrong", readable=one) for one in readable
    ]
    return lengths_of([Group(question=QUESTION, completions=answers, marks=marks)])


def test_what_is_needed_is_by_answers_that_ended_and_could_be_read() -> None:
    found = lengths([answer(10), answer(20), answer(40), answer(64, "length")], [True, True, False, False])
    assert (found.needed, found.answers, found.ended) == (20, 4, 3)
    assert lengths([answer(10)], [False]).needed == 0


def test_it_goes_up_where_readable_answers_come_near_and_down_in_small_steps_where_none_does() -> None:
    near = Lengths(needed=50, answers=64, ended=60)
    assert next_limit(64, near, 512) == 96
    assert next_limit(400, Lengths(needed=390, answers=64, ended=60), 512) == 512, "and no further than ever"
    short = Lengths(needed=10, answers=64, ended=60)
    assert next_limit(64, short, 512) == 58
    limit = 64
    for _ in range(40):
        limit = next_limit(limit, short, 512)
    assert limit == LEAST, "with room for twice what is needed, and no less than that"


def test_where_hardly_an_answer_ends_the_limit_may_be_the_reason() -> None:
    assert next_limit(64, Lengths(needed=0, answers=64, ended=2), 512) == 96
    assert next_limit(64, Lengths(needed=0, answers=64, ended=20), 512) == 64, "they end, and are no answers yet"
    assert next_limit(64, Lengths(), 512) == 64, "nothing was answered"


def test_a_model_that_answers_in_worked_steps_begins_with_all_that_it_may_take() -> None:
    assert first_limit(256, tiny=True) == 256
    assert first_limit(512, tiny=False) < 100
