"""How much this node reasons before it answers (in characters), by task, and with what success.

This bounds external answers on both sides. The upper bound comes from the median (worker/membership/external.py). The
lower one is `worth`. An answer without the reasoning that own right answers to its task need teaches to omit that
reasoning, even if it is right. An answer key consists of such answers, and so do lucky guesses.

The checkpoint keeps the last answers themselves, a few bytes each, so the bounds follow the model as it learns.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from sapo_desktop.core.extraction import CLOSE, OPEN
from sapo_desktop.core.records import Group
from sapo_desktop.tasks.catalogue import TaskKey

KEPT = 32
"""Kept answers of a task: four groups of the usual size."""
AS_SHORT, AS_SHORT_ELSEWHERE = 5, 20
"""An answer is compared with own ones that reason up to so many times as long, as lengths differ by question, and with
own ones to other tasks, as lengths differ more by task."""
_PRIOR = 8.0
"""Number of right answers for which the evidence from other tasks counts."""
_SPEAKS_AGAINST = 2.0
"""Right answers with longer reasoning that halve what other tasks say for short ones."""
_NOTHING, _ALL = 0.25, 0.6
"""Success with such short reasoning, relative to overall success, at which it begins to teach, and teaches fully."""


class Reasoned(msgspec.Struct, frozen=True, array_like=True):
    """One readable own answer."""

    characters: int
    """Characters of reasoning before its answer."""
    solved: bool


Kept = Mapping[TaskKey, Sequence[Reasoned]]
"""Own answers by task, oldest first."""


def reasoned_in(own: Sequence[Group]) -> dict[TaskKey, list[Reasoned]]:
    """The own answers that the scorer could read in their tags. One that runs on without an answer does not show how
    much reasoning an answer takes."""
    seen: dict[TaskKey, list[Reasoned]] = {}
    for group in own:
        for completion, mark in zip(group.completions, group.marks, strict=True):
            place = completion.text.rfind(OPEN, 0, max(0, completion.text.rfind(CLOSE)))
            if mark.answer is not None and place >= 0:
                seen.setdefault(group.question.task, []).append(Reasoned(place, mark.solved))
    return seen


def with_new(kept: Kept, seen: Kept) -> dict[TaskKey, list[Reasoned]]:
    """The newest answers of both, at most `KEPT` per task."""
    return {task: [*kept.get(task, ()), *seen.get(task, ())][-KEPT:] for task in [*kept, *(seen.keys() - kept.keys())]}


def medians(kept: Kept) -> dict[TaskKey, float]:
    """The median length of reasoning for a task, in characters."""
    return {task: float(statistics.median(one.characters for one in rows)) for task, rows in kept.items() if rows}


def worth(kept: Kept, task: TaskKey, characters: int) -> float:
    """The weight of a right answer to `task` with so much reasoning, from 0 to 1.

    1 if own answers with as little reasoning succeed about as often as all own answers to that task. Such an answer is
    honest for a one-step question, and so is any form while nothing is known. 0 if they seldom succeed, or if all own
    right answers reason longer. Own answers to other tasks count as long as there are few to this one.

    The measure is right answers with so little reasoning, divided by how many there would be if its length made no
    difference. So a few lucky guesses among many do not speak for guessing.
    """
    here = _short([kept.get(task, ())], AS_SHORT * characters)
    there = _short(kept.values(), AS_SHORT_ELSEWHERE * characters)
    ratio = (here.right + _PRIOR * _elsewhere(there) / (1 + here.longer / _SPEAKS_AGAINST)) / (here.expected + _PRIOR)
    return min(1.0, max(0.0, (ratio - _NOTHING) / (_ALL - _NOTHING)))


class _Short(NamedTuple):
    """Number of own answers with little reasoning."""

    right: int
    expected: float
    """Expected right ones, if they were right as often as all own answers to their task."""
    longer: int
    """Number of right answers that reason longer."""


def _short(tasks: Iterable[Sequence[Reasoned]], most: int) -> _Short:
    right = longer = 0
    expected = 0.0
    for rows in tasks:
        all_right = sum(one.solved for one in rows)
        short = [one.solved for one in rows if one.characters <= most]
        right += sum(short)
        longer += all_right - sum(short)
        expected += len(short) * all_right / max(1, len(rows))
    return _Short(right, expected, longer)


def _elsewhere(all_tasks: _Short) -> float:
    """What own answers to all tasks say for such short reasoning, from 0 to 1: the share of right answers that do with
    it, less where such answers are right less often than others. 1 where nothing was ever right."""
    share = (all_tasks.right + 1) / (all_tasks.right + all_tasks.longer + 1)
    return share * min(1.0, (all_tasks.right + 1) / (all_tasks.expected + 1))
