"""How a model is best asked, and where it begins."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from sapo_desktop.core.records import Exchange, Generated, Mark, Prompt, Question, Sampling
from sapo_desktop.learning.first_look import QUESTIONS, FirstLook, first_look
from sapo_desktop.learning.round import Progress, unwatched
from tests.worker.fakes import FakeExaminer, answered

FAMILIES = [f"f{number:02d}" for number in range(20)]
HELD_OUT = [
    Question(task=f"{family}/{level}", seed=place, text=f"{level} {family} {place}", hash=bytes(8))
    for family in FAMILIES
    for level in ("first", "easy", "middle")
    for place in range(2)
]


class Examiner(FakeExaminer):
    """Shows examples, and can read every answer but an empty one."""

    async def prompts(self, questions: Sequence[Question], shots: int) -> list[Prompt]:
        return [Prompt(question=one.text, shown=(Exchange(question="q", answer="a"),) * shots) for one in questions]

    async def mark(
        self, questions: Sequence[Question], texts: Sequence[Sequence[str]], *, strict: bool
    ) -> list[list[Mark]]:
        rows = await super().mark(questions, texts, strict=strict)
        return [
            [Mark(solved=m.solved, partial=0.0, reward=0.0, answer=None, verdict=m.verdict, readable=bool(text))]
            for (m,), (text,) in zip(rows, texts, strict=True)
        ]


class Model:
    """Solves so many of each twelve questions of a level, by the number of examples shown."""

    def __init__(self, solves: dict[str, dict[int, int]], silent: Sequence[int] = ()) -> None:
        self._solves, self._silent = solves, silent
        self.asked: list[Prompt] = []

    async def generate_with(
        self, checkpoint: Path | None, prompts: Sequence[Prompt], sampling: Sampling, progress: Progress, *, live: bool
    ) -> Generated:
        assert checkpoint is None and not live and sampling.greedy, "the likeliest answers of the untrained model"
        self.asked += prompts
        seen: dict[tuple[str, int], int] = {}
        rows = []
        for prompt in prompts:
            level, shots = prompt.question.split()[0], len(prompt.shown)
            place = seen[level, shots] = seen.get((level, shots), 0) + 1
            right = place <= self._solves.get(level, {}).get(shots, 0)
            rows.append([answered("" if shots in self._silent else "right" if right else "wrong")])
        return Generated(prompt_tokens=[[1]] * len(prompts), completions=rows, seconds=0.1, batch=8)


async def look(model: Model, ways: Sequence[int] = (0, 1, 2)) -> FirstLook:
    return await first_look(model, Examiner(), HELD_OUT, ways, unwatched)


async def test_the_way_that_brings_the_most_right_answers_is_taken() -> None:
    found = await look(Model({"first": {0: 0, 1: 3, 2: 5}}))
    assert found == FirstLook(shots=2, level="first")


async def test_an_example_has_to_be_worth_what_it_takes_to_read() -> None:
    assert (await look(Model({"first": {0: 3, 1: 3, 2: 3}}))).shots == 0
    assert (await look(Model({"first": {1: 3, 2: 3}}, silent=[0]))).shots == 1


async def test_where_nothing_is_right_readable_answers_decide() -> None:
    assert (await look(Model({}, silent=[0]))).shots == 1
    assert (await look(Model({}))).shots == 0


@pytest.mark.parametrize(
    ("solves", "level"),
    [
        ({"first": {0: 5}}, "first"),
        ({"first": {0: 8}, "easy": {0: 4}}, "easy"),
        ({"first": {0: 12}, "easy": {0: 9}, "middle": {0: 0}}, "middle"),
    ],
)
async def test_it_begins_at_the_easiest_level_of_which_it_does_not_solve_half(
    solves: dict[str, dict[int, int]], level: str
) -> None:
    model = Model(solves)
    assert (await look(model, ways=[0])).level == level
    assert len({prompt.question.split()[1] for prompt in model.asked}) == QUESTIONS, "one question a family"
