"""The reward for the form of an answer, which a model must learn before it can be right.

A round with right answers teaches the form by itself, since right answers have it. In a round without any, all answers
of a group earn the same and nothing is learned. So with the reward `auto` a readable answer of such a round
earns a tenth of a right one, until nine in ten of a node's recent own answers can be read. What others wrote counts by
right answers alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sapo_desktop.core.extraction import FORM_KNOWN
from sapo_desktop.core.records import Group, Mark

READABLE_REWARD = 0.1
_RECENT = 0.3
"""Weight of the newest round in the smoothed share."""


def form_reward(reward: str, readable: float) -> float:
    """The reward of a readable answer under the setting `reward`; `readable`: the smoothed share so far."""
    return READABLE_REWARD if reward == "auto" and readable < FORM_KNOWN else 0.0


def rewarded(marks: Sequence[Sequence[Mark]], form: float) -> list[list[Mark]]:
    """A round's scores, a row for each question; if none is solved, with the reward `form` for readable answers."""
    if any(mark.solved for row in marks for mark in row):
        form = 0.0
    return [[_with_form(mark, form) for mark in row] for row in marks]


def _with_form(mark: Mark, form: float) -> Mark:
    return msgspec.structs.replace(mark, reward=form) if mark.readable and mark.reward < form else mark


def share_readable(own: Sequence[Group]) -> float | None:
    """Share of own answers that the examiner could read; None if there are none."""
    marks = [mark for group in own for mark in group.marks]
    return sum(mark.readable for mark in marks) / len(marks) if marks else None


def smoothed(before: float | None, newest: float | None) -> float | None:
    """The smoothed share of readable answers."""
    if before is None or newest is None:
        return newest if before is None else before
    return (1 - _RECENT) * before + _RECENT * newest
