"""Counts that outlive links and starts, and the latest results: in memory for whoever looks, behind it in the history.

What peers say they used of ours is counted since each of them started, and anew at each of their starts. So of every
peer the last number is kept, and only what it grew by is added; the first one says from where on. It is their word,
shown as such and used for nothing.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from sapo_desktop.core.records import EvalReport, Record, RoundReport

MOST_PEERS = 4096
"""Whose last number is kept; whoever told it longest ago is forgotten first."""
MOST_AT_ONCE = 10_000
"""That one claim may add; they come once a minute."""


KEEP_SECONDS = 30.0
"""Between writes of what peers told: each of them tells once a minute."""


class Totals(Record, frozen=True):
    """Counts over all history."""

    rounds: int = 0
    """That count."""
    answers_own: int = 0
    """Marked, of lost rounds too."""
    answers_shared: int = 0
    used: int = 0
    """Groups of ours that peers say they used."""


class Latest(Record, frozen=True):
    """What the last round and the scores so far came to, as clients were told."""

    last: RoundReport | None = None
    rounds: int = 0
    answers_own: int = 0
    best_validation: float | None = None
    base_validation: float | None = None

    def after_round(self, report: RoundReport) -> Latest:
        """Once clients are told of this round."""
        answers = self.answers_own + sum(mark.answers for mark in report.tasks)
        return msgspec.structs.replace(self, last=report, rounds=self.rounds + 1, answers_own=answers)

    def after_eval(self, report: EvalReport) -> Latest:
        """Once clients are told of this score."""
        if report.which != "validation" or report.samples:
            return self
        base = report.score if report.round == 0 else self.base_validation
        best = report.score if self.best_validation is None else max(self.best_validation, report.score)
        return msgspec.structs.replace(self, base_validation=base, best_validation=best)


class Book(Protocol):
    """Where the counts are kept; worker/store/history.py."""

    def totals(self) -> Totals: ...

    def claims(self) -> dict[str, int]: ...

    def note_shared(self, answers: int) -> None: ...

    def note_claims(self, told: Mapping[str, int], gained: int) -> None: ...


class Lasting:
    """The counts that no round makes. `later`: has work done in the thread that the book belongs to."""

    def __init__(
        self,
        book: Book,
        later: Callable[[Callable[[], None]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        totals = book.totals()
        self.answers_shared = totals.answers_shared
        self.used = totals.used
        self._book = book
        self._later = later
        self._told = OrderedDict(book.claims())
        """What each peer told last, who told longest ago first."""
        self._clock = clock
        self._kept_at = clock()
        self._unkept: dict[str, int] = {}
        """What was told and is not written yet."""
        self._gained = 0
        """By which the numbers grew since the last write."""

    def shared(self, answers: int) -> None:
        """So many own answers were published."""
        self.answers_shared += answers
        self._later(lambda: self._book.note_shared(answers))

    def claimed(self, peer: str, used: int) -> None:
        """A peer (hex key) says that it used so many groups of ours since it started."""
        before = self._told.get(peer, used)
        gained = min(used - before if used >= before else used, MOST_AT_ONCE)
        self.used += gained
        self._gained += gained
        self._told[peer] = used
        self._told.move_to_end(peer)  # unchanged ones too: a peer that is here is not to be forgotten
        if len(self._told) > MOST_PEERS:
            self._told.popitem(last=False)
        self._unkept.pop(peer, None)
        self._unkept[peer] = used
        if self._clock() - self._kept_at >= KEEP_SECONDS:
            self.keep()

    def keep(self) -> None:
        """Have what was told written now."""
        told, gained = self._unkept, self._gained
        self._unkept, self._gained, self._kept_at = {}, 0, self._clock()
        if told:
            self._later(lambda: self._book.note_claims(told, gained))
