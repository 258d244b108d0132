"""The limit of tokens follows the lengths that a model needs."""

import msgspec

from sapo_desktop.core.records import Completion, FinishReason, Group, Mark
from sapo_desktop.learning.limit import LEAST, Lengths, first_limit, lengths_of, next_limit
from tests.builders import QUESTION


def answer(tokens: int, finish: FinishReason = "closed") -> Completion:
    return Completion(tokens=[1] * tokens, logprobs=[-1.0] * tokens, text="", finish=finish)


def lengths(answers: list[Completion], readable: list[bool]) -> Lengths:
    return lengths_of([group(answers, readable)])


def group(answers: list[Completion], readable: list[bool], level: str = "easy") -> Group:
    marks = [
        Mark(solved=False, partial=0.0, reward=0.0, answer=None, verdict="wrong", readable=one) for one in readable
    ]
    question = msgspec.structs.replace(QUESTION, task=f"gcd/{level}")
    return Group(question=question, completions=answers, marks=marks)


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
    assert limit == 20, "with room for twice what is needed"
    assert next_limit(limit, Lengths(needed=2, answers=64, ended=60), 512) == 18
    assert next_limit(LEAST, Lengths(needed=2, answers=64, ended=60), 512) == LEAST


def test_a_level_whose_answers_are_cut_gets_room_next_to_shorter_ones_once_most_can_be_read() -> None:
    bare = group([answer(8)] * 24, [True] * 24, "first")
    steps = group([answer(20, "length")] * 6 + [answer(14)] * 2, [False] * 6 + [True] * 2)
    assert next_limit(20, lengths_of([bare]), 512) == 18
    assert next_limit(20, lengths_of([bare, steps]), 512) == 30
    assert lengths_of([bare, steps]).needed == 14, "by the longest level, however few its answers"
    chatter = group([answer(48, "length")] * 8, [False] * 8)
    assert not lengths_of([group([answer(30)] * 24, [False] * 24, "first"), chatter]).cut, "nothing can be read yet"


def test_where_hardly_an_answer_ends_the_limit_may_be_the_reason() -> None:
    assert next_limit(64, Lengths(needed=0, answers=64, ended=2), 512) == 96
    assert next_limit(64, Lengths(needed=0, answers=64, ended=20), 512) == 64, "they end, and are no answers yet"
    assert next_limit(64, Lengths(), 512) == 64, "nothing was answered"


def test_a_model_that_answers_in_worked_steps_begins_with_all_that_it_may_take() -> None:
    assert first_limit(256, tiny=True) == 256
    assert first_limit(512, tiny=False) < 100
