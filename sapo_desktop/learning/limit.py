"""How many tokens an answer may have: what this model needs now, and some room to grow.

A model that chatters takes as long as the limit lets it, and a limit that was chosen for the longest questions of the
largest models makes each round of a small one wait for its longest answer. So the limit follows the lengths of answers
that could be read: up where they come near it, since others like them are cut, and slowly down where nobody does. Each
level counts for itself: bare answers to one-step questions must not cut the steps that the next level takes.
A limit that a person sets holds as it is. Left out: what the memory bears (models/fit/).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from sapo_desktop.core.records import Group, Record
from sapo_desktop.tasks.catalogue import level_of

_FIRST = 48
"""Tokens, before anything was answered, where the model may take more."""
LEAST = 16
_ROOM = 2.0
"""Times what answers need."""
_NEAR = 0.75
"""Part of the limit from which on an answer counts as near it."""
_UP, _DOWN = 1.5, 0.9
"""By which the limit moves in one round, at most."""
_FEW = 1 / 16
"""Share of answers that end; with fewer the limit itself may be what keeps them from it."""
_MOST = 1 / 2
"""Once so many answers can be read, a level where fewer end needs more room: its answers are no chatter."""


class Lengths(Record, frozen=True):
    """Tokens that a round's own answers took."""

    needed: int = 0
    """By 19 in 20 of the answers that could be read, at the level where they are longest; 0: none could."""
    answers: int = 0
    ended: int = 0
    """Answers that were not cut."""
    cut: bool = False
    """Whether most answers at some level were cut, though most of all could be read."""


def first_limit(most: int, tiny: bool) -> int:
    """The limit of a model that has answered nothing yet. `tiny`: its answers are worked steps from the start."""
    return most if tiny else min(most, _FIRST)


def lengths_of(own: Sequence[Group]) -> Lengths:
    """How long the answers of these groups are."""
    levels: dict[str, _Level] = {}
    for group in own:
        level = levels.setdefault(level_of(group.question.task), _Level())
        level.answers += len(group.completions)
        for one, mark in zip(group.completions, group.marks, strict=True):
            if one.finish != "length":
                level.ended += 1
                level.read += [len(one.tokens)] * mark.readable
    answers = sum(level.answers for level in levels.values())
    readable = sum(len(level.read) for level in levels.values())
    return Lengths(
        needed=max((level.needed for level in levels.values()), default=0),
        answers=answers,
        ended=sum(level.ended for level in levels.values()),
        cut=readable >= _MOST * answers and any(level.ended < _MOST * level.answers for level in levels.values()),
    )


@dataclass
class _Level:
    """Of one level: its answers, how many of them ended, and the lengths of those that could be read."""

    answers: int = 0
    ended: int = 0
    read: list[int] = field(default_factory=list)

    @property
    def needed(self) -> int:
        return sorted(self.read)[math.ceil(0.95 * len(self.read)) - 1] if self.read else 0


def next_limit(limit: int, lengths: Lengths, most: int) -> int:
    """The limit of the next round; `limit`: of this one, `most`: what the model may ever take."""
    if not lengths.answers:
        return limit
    if lengths.needed >= _NEAR * limit or lengths.cut or lengths.ended < _FEW * lengths.answers:
        return min(most, math.ceil(_UP * limit))
    if not lengths.needed:
        return limit
    return min(most, max(LEAST, math.ceil(_ROOM * lengths.needed), math.ceil(_DOWN * limit)))
