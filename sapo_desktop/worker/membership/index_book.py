"""Which question indices of the current slot are used up: a number must never stand for two answers.

A group is published under (key, instance, slot, task, index), and peers keep the first body they see, so an index that
is used twice would look like a lie. The counts are written before the questions are answered. They are outside the
checkpoints, because rolling back training does not undo what was published. Indices below 64 may be published; those
from 64 on are for own training only. A busy node uses up the first in minutes, so the last of them are reserved for a
person's answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import HistoryError, HistoryUnavailable
from sapo_desktop.core.files.durable import write_atomically
from sapo_desktop.core.files.reading import read_json
from sapo_desktop.tasks.questions import FIRST_OWN_INDEX

FIRST_PERSON_INDEX = 56
"""From here to 63: eight questions of a task that a person may get in ten minutes."""
_SLOTS_KEPT = 16


class _Slot(msgspec.Struct, kw_only=True):
    used: dict[str, int] = {}
    """Next unused index by task key."""
    posed: dict[str, int] = {}
    """Questions posed to a person, by task key."""


class _Book(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    slots: dict[int, _Slot] = {}
    forgotten: int = -1
    """The latest slot whose counts were dropped."""


class IndexBook:
    """The counts of one data folder for the latest slots, because the clock may be set back or have run ahead.
    `path`: None if they need not outlive the process."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._book = _read(path) if path else _Book()

    def take(self, slot: int, tasks: Sequence[str]) -> list[int]:
        """A new index for each entry of `tasks`, in order; for a dropped slot only unpublished ones."""
        first = FIRST_OWN_INDEX if slot <= self._book.forgotten else 0
        used = self._slot(slot).used
        indices = []
        for task in tasks:
            index = max(first, used.get(task, 0))
            if index >= FIRST_PERSON_INDEX:
                index = max(index, FIRST_OWN_INDEX)
            used[task] = index + 1
            indices.append(index)
        return indices

    def take_for_person(self, slot: int, task: str) -> int | None:
        """A new index for a question to a person; None if all of this slot are used up."""
        if slot <= self._book.forgotten:
            return None
        posed = self._slot(slot).posed
        index = FIRST_PERSON_INDEX + posed.get(task, 0)
        if index >= FIRST_OWN_INDEX:
            return None
        posed[task] = posed.get(task, 0) + 1
        return index

    def write(self) -> None:
        """Write all counts to the disk. Raises HistoryUnavailable."""
        if self._path is None:
            return
        try:
            write_atomically(self._path, msgspec.json.encode(self._book))
        except OSError as error:
            raise HistoryUnavailable(
                "{path} cannot be written: {error}. Free some disk space.",
                path=str(self._path),
                error=error.strerror or str(error),
            ) from error

    def _slot(self, slot: int) -> _Slot:
        slots = self._book.slots
        if slot not in slots:
            slots[slot] = _Slot()
            while len(slots) > _SLOTS_KEPT:
                oldest = min(key for key in slots if key != slot)
                del slots[oldest]
                self._book.forgotten = max(self._book.forgotten, oldest)
        return slots[slot]


def _read(path: Path) -> _Book:
    try:
        return read_json(path, _Book)
    except FileNotFoundError:
        return _Book()
    except (OSError, msgspec.DecodeError) as error:
        raise HistoryError(
            "{path} cannot be read ({error}). It records which question numbers were used. Delete it, "
            "and wait ten minutes before you share again.",
            path=str(path),
            error=str(error),
        ) from error
