"""The curriculum: at which level each task family trains.

Pure. A family goes up when more than 70% of its recent answers at a level are solved and down below 20%,
never before 32 answers at that level. A level that it fell back from has to be earned with twice the answers
next time, so that a family between two levels settles instead of swinging. Left out: choosing which families
train; every one takes its turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.records import Record, TaskMark
from sapo_desktop.core.sentences import sentence

UP_ABOVE, DOWN_BELOW = 0.70, 0.20
LEAST_ANSWERS, MOST_ANSWERS = 32, 512
WINDOW = 64
"""Answers that the smoothed solve rate looks back on."""
_SHARE_BELOW = 0.25
"""One question in four comes from the level below: what was learned there would fade otherwise."""


class FamilyProgress(Record, frozen=True):
    """Where one family stands; part of every checkpoint."""

    level: str
    answers: int = 0
    """At this level since the last move."""
    rate: float = 0.0
    """Solve rate: the mean of the first `WINDOW` answers, an exponential average over as many after that."""
    fell_from: str = ""
    """The level it last fell back from."""
    patience: int = LEAST_ANSWERS
    """Answers needed before it may go up to that level again."""


class Move(Record, frozen=True):
    """A family changed its level."""

    family: str
    before: str
    after: str
    rate: float


class LevelWeight(Record, frozen=True):
    """Share of a family's questions that come from a level."""

    level: str
    weight: float


class Observed(Record, frozen=True):
    """The families after a round, and who moved."""

    families: dict[str, FamilyProgress]
    moves: list[Move]


def start(levels: Mapping[str, Sequence[str]]) -> dict[str, FamilyProgress]:
    """Every family at its first, easiest level. `levels`: per family, from easy to hard."""
    return {family: FamilyProgress(level=order[0]) for family, order in levels.items()}


def current(families: Mapping[str, FamilyProgress], levels: Mapping[str, Sequence[str]]) -> dict[str, FamilyProgress]:
    """Where every family of `levels` stands; one that `families` does not name, or whose level is gone, starts
    anew."""
    return start(levels) | {f: p for f, p in families.items() if p.level in levels.get(f, ())}


def observe(
    families: Mapping[str, FamilyProgress], levels: Mapping[str, Sequence[str]], marks: Sequence[TaskMark]
) -> Observed:
    """Take in a round's marks of own answers (tasks named `family/level`); other levels than the current do
    not count."""
    after = current(families, levels)
    moves: list[Move] = []
    for mark in marks:
        family, _, level = mark.task.partition("/")
        if family not in after or level != after[family].level or mark.answers == 0:
            continue
        counted = _count(after[family], mark)
        after[family] = _move(counted, levels[family])
        if after[family].level != level:
            moves.append(Move(family=family, before=level, after=after[family].level, rate=counted.rate))
    return Observed(families=after, moves=moves)


def _count(progress: FamilyProgress, mark: TaskMark) -> FamilyProgress:
    answers = progress.answers + mark.answers
    weight = min(1.0, mark.answers / min(answers, WINDOW))
    rate = progress.rate + weight * (mark.solved - progress.rate)
    return msgspec.structs.replace(progress, answers=answers, rate=rate)


def _move(progress: FamilyProgress, order: Sequence[str]) -> FamilyProgress:
    place = order.index(progress.level)
    if progress.answers < LEAST_ANSWERS:
        return progress
    if progress.rate > UP_ABOVE and place + 1 < len(order):
        above = order[place + 1]
        if above == progress.fell_from and progress.answers < progress.patience:
            return progress
        return FamilyProgress(level=above, fell_from=progress.fell_from, patience=progress.patience)
    if progress.rate < DOWN_BELOW and place > 0:
        again = progress.patience if progress.level == progress.fell_from else LEAST_ANSWERS
        patience = min(2 * again, MOST_ANSWERS)
        return FamilyProgress(level=order[place - 1], fell_from=progress.level, patience=patience)
    return progress


def level_weights(order: Sequence[str], progress: FamilyProgress | None) -> list[LevelWeight]:
    """From which levels of a family questions are drawn; weights add up to 1.

    With the curriculum off (`progress` None) it is the second level alone, or the only one, in every round: of the
    first, 97% of the starter's groups are solved throughout and teach nothing. With it on the family's current level
    counts 3/4 and the one below 1/4.

    Raises:
        TaskError: the family has no level, or not the one it is said to be at.
    """
    if not order:
        raise TaskError(sentence("A task family without a level cannot be trained on; name one in the catalogue."))
    if progress is not None and progress.level not in order:
        raise TaskError(
            sentence("There is no level {level}; known are {levels}.", level=progress.level, levels=", ".join(order))
        )
    if progress is None:
        return [LevelWeight(level=order[min(1, len(order) - 1)], weight=1.0)]
    place = order.index(progress.level)
    if place == 0:
        return [LevelWeight(level=order[0], weight=1.0)]
    return [
        LevelWeight(level=order[place - 1], weight=_SHARE_BELOW),
        LevelWeight(level=order[place], weight=1 - _SHARE_BELOW),
    ]
