"""Groups with a person's answer, from when it was given until a round has learned from it."""

from __future__ import annotations

from collections.abc import Sequence

from sapo_desktop.core.records import Group
from sapo_desktop.learning.round import EncodedGroup

_MOST_WAITING = 32
_A_ROUND = 4
"""How many of them one step takes: they are heard, and drown nothing."""


class HumanGroups:
    """Those that wait for rounds to come, in the order of their answers."""

    def __init__(self) -> None:
        self._waiting: list[EncodedGroup] = []

    def add(self, group: EncodedGroup) -> bool:
        """Have it learned from in one of the next rounds; False where too many wait already."""
        if len(self._waiting) >= _MOST_WAITING:
            return False
        self._waiting.append(group)
        return True

    def next(self) -> tuple[EncodedGroup, ...]:
        """What the next round takes; it waits until that round is done."""
        return tuple(self._waiting[:_A_ROUND])

    def learned(self, groups: Sequence[Group]) -> None:
        """A round with these groups is done."""
        self._waiting = [one for one in self._waiting if not any(one.group is group for group in groups)]
