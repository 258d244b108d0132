"""Makes finished rounds last: history row first, then the checkpoint that the row names.

In this order, because a checkpoint without its row could not be reconciled, while a row without its checkpoint
is marked lost at the next start. SQLite and file synchronisation run in one thread of their own, so that the
control channel answers meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from sapo_desktop.core.errors import HistoryError
from sapo_desktop.core.records import EvalReport
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.round import RoundResult
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.store.checkpoints import Checkpoint, CheckpointStore, Newest
from sapo_desktop.worker.store.history import History
from sapo_desktop.worker.store.lasting import Lasting, Latest
from sapo_desktop.worker.store.write_budget import WriteBudget

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

_FIRST_GUESS = 2**20
"""Bytes of a checkpoint before the first one is written."""


class Keeper:
    """Checkpoints and history of one data folder."""

    def __init__(self, store: CheckpointStore, history: History, budget: WriteBudget, keep: int) -> None:
        self.store = store
        self.history = history
        self.newest: Checkpoint | None = None
        self._budget = budget
        self._keep = keep
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="keeper")
        self.latest = Latest()
        """As clients were told; whoever tells them changes it."""
        self.lasting = Lasting(history, self._later)

    async def keep_round(
        self, result: RoundResult, counters: Counters, engine: Engine, *, must: bool
    ) -> Checkpoint | None:
        """Record a finished round and, budget permitting or where it `must`, write its checkpoint."""
        await self.call(self.history.record_round, counters.run, result.report, result.groups, result.advantages)
        if must or self._budget.allows(self._expected_bytes(), time.time()):
            return await self.write(counters, engine)
        return None

    async def write(self, counters: Counters, engine: Engine) -> Checkpoint:
        """Write a checkpoint now. CheckpointError where it cannot be; training may go on."""
        folder = self.store.begin(counters.round)
        try:
            await engine.save(folder)
        except BaseException:
            self.store.discard(folder)
            raise
        # Its thread ends by itself where this task is cancelled; it also cleans up after its own failure.
        written = await self.call(self.store.commit, folder, counters)
        self.newest = written
        self._budget.spend(written.bytes, time.time())
        await self.call(self.history.record_checkpoint, written.number, written.round, written.bytes)
        if counters.guard.best_checkpoint == written.number:
            await self.call(self.store.mark_best, written.number, counters.guard.best_score)
        await self.call(self.store.prune, self._keep)
        return written

    async def record_eval(self, run: int, report: EvalReport) -> None:
        await self.call(self.history.record_eval, run, report)

    async def back_to_newest(self) -> Newest:
        """The newest checkpoint that verifies; rows of rounds after it are marked lost."""
        newest = await self.call(self.store.newest_valid)
        self.newest = newest.checkpoint
        reached = newest.checkpoint
        await self.call(self.history.reconcile, reached.round if reached else 0, reached.number if reached else None)
        self.latest = await self.call(self.history.latest)
        return newest

    async def call(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` in the keeper's thread, the only one that touches files and database."""
        loop = asyncio.get_running_loop()

        def run() -> Any:
            return work(*args, **kwargs)

        result: T = await loop.run_in_executor(self._thread, run)
        return result

    def write_later(self, work: Callable[[], None], failed: Callable[[OSError], None]) -> None:
        """Have a small file written in the keeper's thread, in the order of these calls. `failed` is told, in the event
        loop, where it cannot be."""
        loop = asyncio.get_running_loop()

        def write() -> None:
            try:
                work()
            except OSError as error:
                loop.call_soon_threadsafe(failed, error)

        self._thread.submit(write)

    def _later(self, work: Callable[[], None]) -> None:
        """Have a count kept; one that cannot be costs nothing but that."""

        def keep() -> None:
            try:
                work()
            except HistoryError as error:
                log.warning("A count was not kept: %s", error)

        self._thread.submit(keep)

    async def close(self) -> None:
        self.lasting.keep()
        await self.call(self.history.close)
        self._thread.shutdown()

    def _expected_bytes(self) -> int:
        return self.newest.bytes if self.newest else _FIRST_GUESS
