"""Questions are asked again until each is one to train on, under places in the order of their tasks."""

from collections.abc import Sequence

import pytest

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.records import Question
from sapo_desktop.learning.questions import Place, training_questions
from sapo_desktop.tasks.service import QuestionRef
from sapo_desktop.tasks.split import held_out_side

GOOD, HELD = (
    next(text for number in range(100) if held_out_side("gcd", text := f"gcd of {number} and 7?") is held)
    for held in (False, True)
)


class Setter:
    """Makes what a seed stands for: 0 a question to train on, 1 one that is held out, 2 none."""

    def __init__(self) -> None:
        self.asked: list[list[tuple[str, int]]] = []

    async def set_questions(self, items: Sequence[QuestionRef]) -> list[Question | None]:
        self.asked.append([(item.task, item.seed) for item in items])
        return [self._made(item) for item in items]

    @staticmethod
    def _made(item: QuestionRef) -> Question | None:
        if item.seed == 2:
            return None
        return Question(task=item.task, seed=item.seed, text=(GOOD, HELD)[item.seed], hash=b"")


async def drawn(tasks: Sequence[str], seeds: Sequence[int], tries: int = 20) -> tuple[list[Question], Setter]:
    setter, left = Setter(), iter(enumerate(seeds))

    def following(asked: Sequence[str]) -> list[Place]:
        return [Place(seed, slot=5, index=index) for _, (index, seed) in zip(asked, left, strict=False)]

    return await training_questions(setter, tasks, following, tries), setter


async def test_only_what_cannot_be_trained_on_is_asked_again() -> None:
    questions, setter = await drawn(["gcd/a", "gcd/b", "gcd/a"], [0, 1, 2, 1, 0, 0])
    assert setter.asked == [[("gcd/a", 0), ("gcd/b", 1), ("gcd/a", 2)], [("gcd/b", 1), ("gcd/a", 0)], [("gcd/b", 0)]]
    assert [(question.task, question.slot, question.index) for question in questions] == [
        ("gcd/a", 5, 0),
        ("gcd/b", 5, 5),
        ("gcd/a", 5, 4),
    ]


async def test_a_task_without_questions_is_named() -> None:
    with pytest.raises(TaskError, match="None of 3 questions of gcd/b"):
        await drawn(["gcd/a", "gcd/b"], [0, 1, 2, 1, 0], tries=3)


async def test_the_last_try_counts() -> None:
    questions, _ = await drawn(["gcd/a"], [1, 1, 0], tries=3)
    assert questions[0].index == 2


async def test_nothing_asked_is_nothing_made() -> None:
    assert (await drawn([], []))[0] == []
