"""Clients' requests about what the node has stored: checkpoints, rounds, scores, and single answers, also in a file."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

import msgspec

from sapo_desktop.core.errors import SapoError, UsageError
from sapo_desktop.core.link.handlers import Handlers
from sapo_desktop.core.records import json_line
from sapo_desktop.core.sentences import sentence
from sapo_desktop.learning.counters import Counters
from sapo_desktop.worker.control.messages import replies, requests
from sapo_desktop.worker.control.messages.base import Exported
from sapo_desktop.worker.control.messages.rollouts import (
    ExportRollouts,
    GetRollouts,
    Rollout,
    RolloutFilter,
    Rollouts,
)
from sapo_desktop.worker.scores import BASE_NUMBER
from sapo_desktop.worker.store.keeper import Keeper

_MOST_SHOWN, _PAGE = 1000, 1000


class HistoryRequests:
    """Answers them."""

    def __init__(self, keeper: Keeper, counters: Callable[[], Counters]) -> None:
        self._keeper = keeper
        self._counters = counters
        self.handlers = handlers = Handlers()
        handlers.on(requests.ListCheckpoints).by(self.checkpoints)
        handlers.on(requests.GetHistory).by(self.rounds)
        handlers.on(requests.GetCurve).by(self.curve)
        handlers.on(requests.GetAhas).by(self.ahas)
        handlers.on(requests.GetComparisons).by(self.comparisons)
        handlers.on(requests.GetWeek).by(self.week)
        handlers.on(requests.GetSources).by(self.sources)
        handlers.on(GetRollouts).by(self.page)
        handlers.on(ExportRollouts).by(self.export)

    async def checkpoints(self, request: requests.ListCheckpoints) -> replies.Checkpoints:
        scores = await self._keeper.call(self._keeper.history.checkpoint_scores)
        found = await self._keeper.call(self._keeper.store.summaries)
        counters = self._counters()
        best = counters.guard.best_checkpoint
        base = replies.CheckpointInfo(
            number=BASE_NUMBER,
            round=0,
            created=0.0,
            bytes=0,
            validation=scores.get("base"),
            best=best == BASE_NUMBER,
            last=False,
        )
        items = [
            replies.CheckpointInfo(
                number=checkpoint.number,
                round=checkpoint.round,
                created=checkpoint.created,
                bytes=checkpoint.bytes,
                validation=scores.get(str(checkpoint.number)),
                best=best == checkpoint.number,
                last=checkpoint is found[-1],
                other_model=checkpoint.model != counters.model,
                model=checkpoint.model[: len(counters.short_model)],
            )
            for checkpoint in found
        ]
        return replies.Checkpoints(items=[base, *items])

    async def rounds(self, request: requests.GetHistory) -> replies.History:
        return await self._keeper.call(self._keeper.history.rounds, request.after, min(request.limit, 10_000))

    async def curve(self, request: requests.GetCurve) -> replies.Curve:
        return await self._keeper.call(self._keeper.history.curve, request.after, request.limit)

    async def ahas(self, request: requests.GetAhas) -> replies.Ahas:
        return replies.Ahas(items=await self._keeper.call(self._keeper.history.ahas))

    async def comparisons(self, request: requests.GetComparisons) -> replies.Comparisons:
        return replies.Comparisons(items=await self._keeper.call(self._keeper.history.comparisons))

    async def week(self, request: requests.GetWeek) -> replies.Week:
        return await self._keeper.call(self._keeper.history.week)

    async def sources(self, request: requests.GetSources) -> replies.Sources:
        return replies.Sources(items=await self._keeper.call(self._keeper.history.sources))

    async def page(self, request: GetRollouts) -> Rollouts:
        limited = msgspec.structs.replace(request, limit=max(1, min(request.limit, _MOST_SHOWN)))
        return await self._keeper.call(self._keeper.history.rollouts, limited)

    async def export(self, request: ExportRollouts) -> Exported:
        """Export them. Raises UsageError if the file exists, or the name is not a full path."""
        path = Path(request.to)
        if not path.is_absolute():
            raise UsageError(sentence("The file to export to must be a full path."))
        with _writing(path, replace=request.replace) as stream:
            async for items in self._pages(request):
                await asyncio.to_thread(stream.writelines, [json_line(item) for item in items])
        return Exported(folder=str(path.parent), files=[path.name])

    async def _pages(self, request: ExportRollouts) -> AsyncIterator[Sequence[Rollout]]:
        """All matches, page by page, so that rounds can be recorded meanwhile; a page ends with a round's last
        answer."""
        wanted = GetRollouts(**{name: getattr(request, name) for name in RolloutFilter.__struct_fields__}, limit=_PAGE)
        while True:
            page = await self._keeper.call(self._keeper.history.rollouts, wanted)
            yield page.items
            if not page.more:
                return
            wanted = msgspec.structs.replace(wanted, after=page.items[-1].round)


@contextlib.contextmanager
def _writing(path: Path, *, replace: bool) -> Iterator[TextIO]:
    """A new file next to `path`, renamed once it is complete.

    Raises:
        UsageError: the file exists and must not be replaced.
        SapoError: it cannot be written; an existing file is untouched.
    """
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    is_claimed = False
    try:
        if not replace:
            path.open("x").close()
            is_claimed = True
        with new.open("x", encoding="utf-8", newline="\n") as stream:
            yield stream
        new.replace(path)
        is_claimed = False
    except FileExistsError as error:
        raise UsageError(
            "{path} exists already. Choose another name, or allow replacing it.", path=str(path)
        ) from error
    except OSError as error:
        raise SapoError(
            "{path} could not be written: {error}. Choose another file.",
            path=str(path),
            error=error.strerror or str(error),
        ) from error
    finally:
        new.unlink(missing_ok=True)
        if is_claimed:
            path.unlink(missing_ok=True)
