"""When the level at which a family is asked went up or down, read from the rounds' marks. No Qt.

The curriculum's moves are not kept, but their traces are: three questions in four come from a family's current level
and the others from the one below. A level that was not asked before is a move up at once; one that stayed away for
`MISSES` rounds with that family is a move down (by chance that happens once in 65,536).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from sapo_desktop.core.records import TaskMark

LEVELS = ("easy", "middle", "hard", "paper")
"""From easy to hard, as in tasks/catalogue.py, which a window may not load; a test compares them."""
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

    def __init__(self) -> None:
        self._trails: dict[str, _Trail] = {}
        self._from_the_start = False

    def add(self, number: int, marks: Iterable[TaskMark]) -> None:
        """A round's marks of own answers."""
        if not self._trails:
            self._from_the_start = number <= 1
        highest: dict[str, int] = {}
        for mark in marks:
            family, _, level = mark.task.partition("/")
            if level in LEVELS and mark.answers:
                highest[family] = max(LEVELS.index(level), highest.get(family, 0))
        for family, at in highest.items():
            _asked(self._trails.setdefault(family, _Trail()), number, at, from_the_start=self._from_the_start)

    def last(self, family: str) -> LevelMove | None:
        """The family's last move; None where none was seen."""
        trail = self._trails.get(family)
        return trail.move if trail else None


def _asked(trail: _Trail, number: int, at: int, *, from_the_start: bool) -> None:
    trail.asked += 1
    if at > trail.level:
        # The first rounds that are seen may show the lower of two levels only, which is no move.
        is_settled = trail.asked > MISSES or (from_the_start and trail.level >= 0)
        _go(trail, number, at, is_move=is_settled)
    elif at == trail.level:
        trail.misses = 0
    else:
        if not trail.misses:
            trail.missed_since, trail.below = number, at
        trail.misses += 1
        trail.below = max(trail.below, at)
        if trail.misses >= MISSES:
            _go(trail, trail.missed_since, trail.below, is_move=True)


def _go(trail: _Trail, number: int, at: int, *, is_move: bool) -> None:
    if is_move:
        trail.move = LevelMove(number, LEVELS[trail.level], LEVELS[at], at > trail.level)
    trail.level, trail.misses = at, 0
