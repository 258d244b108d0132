"""What share of its answers each author solved, by our own marks: what the `capable` weighting goes by.

Kept in one small file between starts, like the other things that are known of peers; a kill loses the last minutes
of it, and one that cannot be read is begun anew. Left out: tasks. An author is one figure over all that we marked of
it, so the ratio that the weighting takes of it is clipped (learning/external.py).
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from sapo_desktop.core.files.durable import write_atomically
from sapo_desktop.core.files.reading import read_json
from sapo_desktop.core.records import Mark

log = logging.getLogger(__name__)

LEAST_ANSWERS = 32
"""Marked answers of an author before its share counts."""
MOST_AUTHORS = 2000
"""The longest silent go first: a flood of identities costs this much memory, some 0.5 MB, and no more."""
KEEP_SECONDS = 600.0
"""Between two writings."""
_REMEMBERED = 256.0
"""Answers: a mark counts 1/e after so many later ones, as authors learn too."""

_Count = Annotated[float, Meta(ge=0, le=2 * _REMEMBERED)]


class _Author(msgspec.Struct, frozen=True, kw_only=True):
    """Discounted counts of one author's marked answers."""

    key: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    answers: _Count = 0.0
    solved: _Count = 0.0


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    format: int = 1
    authors: Annotated[list[_Author], Meta(max_length=MOST_AUTHORS)] = []
    """The latest heard of last."""


class AuthorRates:
    """Smoothed shares solved, by author. `now`: monotonic seconds."""

    def __init__(self, path: Path, now: float) -> None:
        self._path = path
        self._kept_at = now
        self._authors = OrderedDict((author.key, author) for author in _read(path).authors)

    def observe(self, author: bytes, marks: Sequence[Mark]) -> None:
        """Take in our marks of one group, whether or not it is then trained on."""
        key = author.hex()
        before = self._authors.pop(key, None) or _Author(key=key)
        fade = (1 - 1 / _REMEMBERED) ** len(marks)
        self._authors[key] = _Author(
            key=key,
            answers=fade * before.answers + len(marks),
            solved=fade * before.solved + sum(mark.solved for mark in marks),
        )
        if len(self._authors) > MOST_AUTHORS:
            self._authors.popitem(last=False)

    def rates(self) -> dict[str, float]:
        """Share solved by hex key, of the authors of whom enough was marked."""
        return {
            key: min(1.0, author.solved / author.answers)
            for key, author in self._authors.items()
            if author.answers >= LEAST_ANSWERS
        }

    def keep_in_time(self, now: float) -> None:
        """Write the file where that was not done lately."""
        if now - self._kept_at >= KEEP_SECONDS:
            self.keep(now)

    def keep(self, now: float) -> None:
        """Write the file; a full disk costs only what is known of authors."""
        self._kept_at = now
        try:
            write_atomically(self._path, msgspec.json.encode(_Kept(authors=list(self._authors.values()))))
        except OSError as error:
            log.warning("What is known of authors cannot be kept: %s.", error.strerror)


def _read(path: Path) -> _Kept:
    try:
        return read_json(path, _Kept)
    except FileNotFoundError:
        return _Kept()
    except (OSError, msgspec.DecodeError) as error:
        log.warning("What was known of authors cannot be read (%s): it is learned again.", type(error).__name__)
        return _Kept()
