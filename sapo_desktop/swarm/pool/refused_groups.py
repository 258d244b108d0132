"""Groups of peers that were not taken lately, to be looked at: why, whose, and what was in them.

Counts of all refusals are in refusals.py. Here are only reasons that say something about the group itself, the newest
few hundred, of one author no more than a few, with their texts cut: a key that floods pushes out nothing but its own.
Who floods under many keys pushes out the oldest of all; what stays is for looking at, and nothing is decided by it.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from sapo_desktop.swarm.protocol.envelope import GroupBody
from sapo_desktop.swarm.protocol.refusals import Reason

MOST, MOST_OF_ONE = 300, 16
LONGEST_TEXT = 1000
"""Characters of an answer."""
_SHOWN = {
    Reason.BAD_BODY,
    Reason.OTHER_NETWORK,
    Reason.NOT_ADMITTED,
    Reason.BAD_TEXT,
    Reason.SECOND_BODY,
    Reason.UNKNOWN_TASK,
    Reason.UNUSED_TASK,
    Reason.HELD_OUT,
    Reason.UNFIT,
    Reason.OTHER_QUESTION,
    Reason.TIMED_OUT,
}


@dataclass(frozen=True)
class RefusedGroup:
    """One of them. `task`: its id, and `answers`: none of a body that could not be read."""

    reason: Reason
    author: bytes
    task: bytes
    answers: tuple[str, ...]
    round: int
    unix: float


class RefusedGroups:
    """The newest. `reached`: tells the round in hand; `clock`: Unix time."""

    def __init__(self, reached: Callable[[], int] = lambda: 0, clock: Callable[[], float] = time.time) -> None:
        self._reached = reached
        self._clock = clock
        self._groups: deque[RefusedGroup] = deque()
        self._of: Counter[bytes] = Counter()

    def add(self, reason: Reason, author: bytes, body: GroupBody | None) -> None:
        """Remember a group, where the reason says something about it."""
        if reason not in _SHOWN:
            return
        if self._of[author] >= MOST_OF_ONE:
            self._forget(next(group for group in self._groups if group.author == author))
        elif len(self._groups) >= MOST:
            self._forget(self._groups[0])
        texts = tuple(answer.text[:LONGEST_TEXT] for answer in body.answers) if body else ()
        task = body.task if body else b""
        self._groups.append(RefusedGroup(reason, author, task, texts, self._reached(), self._clock()))
        self._of[author] += 1

    def newest(self, limit: int) -> list[RefusedGroup]:
        """The newest first, at most `limit`."""
        return list(islice(reversed(self._groups), limit))

    def _forget(self, group: RefusedGroup) -> None:
        self._groups.remove(group)
        self._of[group.author] -= 1
        if not self._of[group.author]:
            del self._of[group.author]
