"""How many characters this node reasons before it answers, task by task: what a foreign answer's length is held to.

Kept as the last lengths themselves, a few bytes each in the checkpoint, so that the median is one and follows the model
as it learns to write shorter or longer. Left out: the bound that is made of it (worker/membership/foreign.py).
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from sapo_desktop.core.extraction import CLOSE, OPEN
from sapo_desktop.core.records import Group
from sapo_desktop.tasks.catalogue import TaskKey

Lengths = Mapping[TaskKey, Sequence[int]]
"""Characters before the answer, oldest first."""
KEPT = 32
"""Of a task: four groups of the usual size."""


def lengths_in(own: Sequence[Group]) -> dict[TaskKey, list[int]]:
    """Of the own answers that the marker could read in their tags: who runs on without an answer says nothing of how
    long it takes to find one."""
    seen: dict[TaskKey, list[int]] = {}
    for group in own:
        for completion, mark in zip(group.completions, group.marks, strict=True):
            place = completion.text.rfind(OPEN, 0, max(0, completion.text.rfind(CLOSE)))
            if mark.answer is not None and place >= 0:
                seen.setdefault(group.question.task, []).append(place)
    return seen


def with_new(kept: Lengths, seen: Lengths) -> dict[TaskKey, list[int]]:
    """The newest of both, `KEPT` of a task."""
    return {task: [*kept.get(task, ()), *seen.get(task, ())][-KEPT:] for task in [*kept, *(seen.keys() - kept.keys())]}


def medians(kept: Lengths) -> dict[TaskKey, float]:
    """Half of the answers to a task took at most so many characters."""
    return {task: float(statistics.median(lengths)) for task, lengths in kept.items() if lengths}
