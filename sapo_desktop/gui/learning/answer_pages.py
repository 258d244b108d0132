"""Reading kept answers page by page, newest first, under filters. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from sapo_desktop.worker.control.messages.rollouts import ExportRollouts, GetRollouts, Rollout, Rollouts

PAGE = 200
MOST = 10_000
"""Answers that are shown at once; a filter, or the export, reaches those beyond."""


@dataclass(frozen=True)
class Filter:
    """What is looked for; what is empty leaves all in."""

    task: str = ""
    origin: str = ""
    verdict: str = ""
    search: str = ""

    @property
    def any(self) -> bool:
        return self != Filter()


class AnswerPages:
    """The pages so far. A page is taken only where nothing else was asked for since."""

    def __init__(self) -> None:
        self.filter = Filter()
        self.items: list[Rollout] = []
        self.more = False
        self.loaded = False
        """Whether the first page is there."""
        self._asked: GetRollouts | None = None

    @property
    def waiting(self) -> bool:
        """Whether a page is under way."""
        return self._asked is not None

    def begin(self, wanted: Filter) -> GetRollouts:
        """Ask for the newest answers that pass this filter."""
        self.filter = wanted
        self._asked = GetRollouts(
            task=wanted.task,
            origin=wanted.origin,
            verdict=wanted.verdict,
            search=wanted.search,
            limit=PAGE,
            newest_first=True,
        )
        return self._asked

    def further(self) -> GetRollouts | None:
        """Ask for the page after the last one; None where there is none, or one is under way."""
        if not (self.more and self.loaded) or self.waiting:
            return None
        before = self.items[-1].id
        self._asked = msgspec.structs.replace(self.begin(self.filter), before=before)
        return self._asked

    def take(self, request: GetRollouts, reply: Rollouts) -> bool:
        """A page arrived; False where it is not the one that is waited for."""
        if request is not self._asked:
            return False
        self._asked = None
        self.items = [*self.items, *reply.items] if request.before is not None else list(reply.items)
        self.more = reply.more and bool(reply.items) and len(self.items) < MOST
        self.loaded = True
        return True

    def gave_up(self, request: GetRollouts) -> bool:
        """A page did not arrive; False where it is not the one that is waited for."""
        if request is not self._asked:
            return False
        self._asked = None
        return True

    def export(self, to: str, *, replace: bool) -> ExportRollouts:
        """Everything that passes the filter, also what is not shown."""
        wanted = self.filter
        return ExportRollouts(
            task=wanted.task,
            origin=wanted.origin,
            verdict=wanted.verdict,
            search=wanted.search,
            to=to,
            replace=replace,
        )
