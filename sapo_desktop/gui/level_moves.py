"""When the level at which a family is asked went up or down, read from the rounds' marks. No Qt.

The curriculum's moves are not kept, but their traces are: three questions in four come from a family's current level
and the others from the one below. A level that was not asked before is a move up at once; one that stayed away for
`MISSES` rounds with that family is a move down (by chance that happens once in 65,536).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sapo_desktop.core.records import TaskMark

MISSES = 8


class LevelMove(NamedTuple):
    """A family changed its level, first seen in this round."""

    round: int
    before: str
    after: str
    up: bool


@dataclass
class _Trail:
    """Where one family stands."""

    level: int = -1
    asked: int = 0
    """Rounds that had it."""
    misses: int = 0
    missed_since: int = 0
    below: int = 0
    """The highest level asked since."""
    move: LevelMove | None = None


class LevelMoves:
    """Fed with rounds in their order; knows each family's last move."""

    def __init__(self, catalogue: Mapping[str, Sequence[str]]) -> None:
        self._order = {family: {level: at for at, level in enumerate(levels)} for family, levels in catalogue.items()}
        self._names = {family: list(levels) for family, levels in catalogue.items()}
        self._trails: dict[str, _Trail] = {}
        self._from_the_start = False

    def add(self, number: int, marks: Iterable[TaskMark]) -> None:
        """A round's marks of own answers."""
        if not self._trails:
            self._from_the_start = number <= 1
        highest: dict[str, int] = {}
        for mark in marks:
            family, _, level = mark.task.partition("/")
            at = self._order.get(family, {}).get(level)
            if at is not None and mark.answers:
                highest[family] = max(at, highest.get(family, at))
        for family, at in highest.items():
            self._asked(self._trails.setdefault(family, _Trail()), family, number, at)

    def last(self, family: str) -> LevelMove | None:
        """The family's last move; None where none was seen."""
        trail = self._trails.get(family)
        return trail.move if trail else None

    def _asked(self, trail: _Trail, family: str, number: int, at: int) -> None:
        trail.asked += 1
        if at > trail.level:
            # The first rounds that are seen may show the lower of two levels only, which is no move.
            settled = trail.asked > MISSES or (self._from_the_start and trail.level >= 0)
            self._go(trail, family, number, at, seen=settled)
        elif at == trail.level:
            trail.misses = 0
        else:
            if not trail.misses:
                trail.missed_since, trail.below = number, at
            trail.misses += 1
            trail.below = max(trail.below, at)
            if trail.misses >= MISSES:
                self._go(trail, family, trail.missed_since, trail.below, seen=True)

    def _go(self, trail: _Trail, family: str, number: int, at: int, *, seen: bool) -> None:
        if seen:
            names = self._names[family]
            trail.move = LevelMove(number, names[trail.level], names[at], at > trail.level)
        trail.level, trail.misses = at, 0
