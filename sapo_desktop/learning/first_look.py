"""A first look at a model, before its first round: how it is best asked, and where it can begin.

*How it is asked.* A chat model that only reads instructions hardly ever writes the form. After one finished exchange of
the same family it does, and some of its answers are right. How many examples help most differs from model to model
(zero-, one- and few-shot prompting), so each number is tried on a few held-out questions of the easiest level.

*Where it begins.* At the easiest level of which it does not solve half: what it solves teaches little, and what it
never solves teaches nothing.

The result stays with the model in its checkpoints, and scores are compared only if it is the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from sapo_desktop.core.records import Mark, Question, Record, Sampling
from sapo_desktop.core.task_list import LEVELS
from sapo_desktop.learning.form import READABLE_REWARD
from sapo_desktop.learning.heldout import Engine, Examiner
from sapo_desktop.learning.round import Progress
from sapo_desktop.tasks.catalogue import family_of, level_of

QUESTIONS = 12
"""Questions asked of a level."""
MOST_TOKENS = 48
"""Maximum tokens of an answer to them."""
_MASTERED = 0.5
_PRICE = 0.25
"""Additional right answers, of `QUESTIONS`, that justify an example, since it is read with every question."""


class FirstLook(Record, frozen=True):
    """The result of a first look."""

    shots: int
    """Worked examples to show before each question."""
    level: str
    """The level where training begins."""


async def first_look(
    engine: Engine, examiner: Examiner, held_out: Sequence[Question], ways: Sequence[int], progress: Progress
) -> FirstLook:
    """Ask the untrained model. `held_out`: the questions to take some of; `ways`: the numbers of examples to try.

    Right answers decide between two numbers, then readable ones; an example must be worth its reading time.
    """
    levels = [level for level in LEVELS if any(level_of(one.task) == level for one in held_out)]
    easiest, *harder = levels
    tried = _some_of(held_out, easiest)
    rows = await _answers(engine, examiner, tried, ways, progress)
    best = max(zip(ways, rows, strict=True), key=lambda way: _worth(way[1]) - _PRICE * way[0])
    shots, marks = best
    reached = easiest
    for level in harder:
        if sum(mark.solved for mark in marks) < _MASTERED * len(marks):
            break
        (marks,) = await _answers(engine, examiner, _some_of(held_out, level), [shots], progress)
        reached = level
    return FirstLook(shots=shots, level=reached)


async def _answers(
    engine: Engine, examiner: Examiner, questions: Sequence[Question], ways: Sequence[int], progress: Progress
) -> list[list[Mark]]:
    """The scores of greedy answers: a row for each number of examples."""
    prompts = [prompt for shots in ways for prompt in await examiner.prompts(questions, shots)]
    sampling = Sampling(max_tokens=MOST_TOKENS, greedy=True)
    answered = await engine.generate_with(None, prompts, sampling, progress, live=False)
    texts = [[row[0].text] for row in answered.completions]
    marks = [row[0] for row in await examiner.mark([*questions] * len(ways), texts, strict=True)]
    return [marks[at : at + len(questions)] for at in range(0, len(marks), max(1, len(questions)))]


def _some_of(held_out: Sequence[Question], level: str) -> list[Question]:
    """One question each of up to `QUESTIONS` families that have this level, evenly over all of them."""
    of_family = {family_of(one.task): one for one in held_out if level_of(one.task) == level}
    found = [*of_family.values()]
    step = max(1.0, len(found) / QUESTIONS)
    return [found[int(place * step)] for place in range(min(QUESTIONS, len(found)))]


def _worth(marks: Sequence[Mark]) -> float:
    return sum(mark.solved + READABLE_REWARD * mark.readable for mark in marks)
