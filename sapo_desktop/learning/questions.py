"""Questions to train on: drawn again with the next seed until none is on the held-out side of the split.

The source of seeds differs (silo, the swarm, a person who answers), so the caller passes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.records import Question
from sapo_desktop.tasks.catalogue import TaskKey, family_of
from sapo_desktop.tasks.service import QuestionRef
from sapo_desktop.tasks.split import held_out_side

TRIES = 20
"""Seeds tried for one question before its task counts as a mistake in the catalogue; one in eight is held out."""


class Setter(Protocol):
    """Makes questions; worker/hosts/examiner.py implements it with a process."""

    async def set_questions(self, items: Sequence[QuestionRef]) -> list[Question | None]: ...


@dataclass(frozen=True)
class Place:
    """The origin of a question: its seed and, if others can ask it too, slot and index."""

    seed: int
    slot: int = 0
    index: int | None = None


async def training_questions(
    setter: Setter,
    tasks: Sequence[TaskKey],
    following: Callable[[Sequence[TaskKey]], Sequence[Place]],
    tries: int = TRIES,
) -> list[Question]:
    """A question of the training side for each entry of `tasks`, in their order.

    Args:
        following: gives each of these tasks (repeats are allowed) its next place; may raise TaskError.

    Raises:
        TaskError: a task had none in `tries` tries.
    """
    found: list[Question | None] = [None] * len(tasks)
    for _ in range(tries):
        missing = [number for number, question in enumerate(found) if question is None]
        if not missing:
            break
        asked = [tasks[number] for number in missing]
        places = following(asked)
        made = await setter.set_questions(
            [QuestionRef(task=task, seed=place.seed) for task, place in zip(asked, places, strict=True)]
        )
        for number, question, place in zip(missing, made, places, strict=True):
            if question is not None and not held_out_side(family_of(question.task), question.text):
                found[number] = msgspec.structs.replace(question, slot=place.slot, index=place.index)
    done = [question for question in found if question is not None]
    if len(done) < len(tasks):
        lacking = next(task for task, question in zip(tasks, found, strict=True) if question is None)
        raise TaskError(
            "None of {count} questions of {task} may be used for training. Choose other tasks.",
            task=str(lacking),
            count=tries,
        )
    return done
