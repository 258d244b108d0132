"""The limit of tokens per answer: what this model needs now, and some room to grow.

A model that chatters uses the whole limit. With a limit for the longest questions of the largest models, each round of
a small model would wait for its longest answer. So the limit follows the lengths of readable answers: up if they come
close to it, since similar ones are cut, and slowly down if none does. Each level counts for itself: bare answers to
one-step questions must not cut the steps that the next level takes. A limit set by a person stays unchanged. Memory is
considered elsewhere (models/fit/).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from sapo_desktop.core.records import Group, Record
from sapo_desktop.tasks.catalogue import level_of

_FIRST = 48
"""Initial limit in tokens, if the model may use more."""
LEAST = 16
_ROOM = 2.0
"""The limit as a multiple of what answers need."""
_NEAR = 0.75
"""Part of the limit above which an answer counts as close to it."""
_UP, _DOWN = 1.5, 0.9
"""Largest factors by which the limit rises and falls in one round."""
_FEW = 1 / 16
"""Share of answers that end; with fewer, the limit itself may be the reason."""
_MOST = 1 / 2
"""Share of readable answers above which a level whose answers are cut needs more room: they are not chatter."""


class Lengths(Record, frozen=True):
    """Tokens used by a round's own answers."""

    needed: int = 0
    """Tokens that suffice for 19 in 20 readable answers, at the level where they are longest; 0: none was readable."""
    answers: int = 0
    ended: int = 0
    """Number of answers that were not cut."""
    cut: bool = False
    """Whether most answers at some level were cut, although most answers were readable."""


def first_limit(most: int, tiny: bool) -> int:
    """The limit of a model without answers yet. `tiny`: its answers are worked steps from the start."""
    return most if tiny else min(most, _FIRST)


def lengths_of(own: Sequence[Group]) -> Lengths:
    """The lengths of these groups' answers."""
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
    """One level's answers, how many of them ended, and the lengths of the readable ones."""

    answers: int = 0
    ended: int = 0
    read: list[int] = field(default_factory=list)

    @property
    def needed(self) -> int:
        return sorted(self.read)[math.ceil(0.95 * len(self.read)) - 1] if self.read else 0


def next_limit(limit: int, lengths: Lengths, most: int) -> int:
    """The limit of the next round. `limit`: this round's; `most`: the model's maximum."""
    if not lengths.answers:
        return limit
    if lengths.needed >= _NEAR * limit or lengths.cut or lengths.ended < _FEW * lengths.answers:
        return min(most, math.ceil(_UP * limit))
    if not lengths.needed:
        return limit
    return min(most, max(LEAST, math.ceil(_ROOM * lengths.needed), math.ceil(_DOWN * limit)))
