"""Stores finished rounds: first the history row, then the checkpoint that the row names.

In this order, because a checkpoint without its row could not be reconciled, while a row without its checkpoint is
marked lost at the next start. SQLite and file synchronisation run in a separate thread, so that the control channel
answers meanwhile. Checkpoints are written as often as the daily allowance permits (WriteBudget).

The disk use of a node is kept below a limit by deleting what can be spared (tidy): first older checkpoints, then the
oldest stored answers. Never the newest checkpoint, the best one, or a model, which a person chose and other nodes may
use.

Counts that outlive links and starts are in memory for readers, and behind that in the history (Lasting).
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import logging
import os
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

from sapo_desktop.core.errors import HistoryError, HistoryUnavailable
from sapo_desktop.core.records import EvalReport
from sapo_desktop.core.sentences import Text
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.round import RoundResult
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.store.checkpoints import Checkpoint, CheckpointStore, Newest
from sapo_desktop.worker.store.history import DAY, MOST_PEERS, History, Latest, Written

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

_FIRST_GUESS = 2**20
"""Bytes of a checkpoint before the first one is written."""
RETRY_SECONDS = 5.0
"""Between two tries to write what waits."""
MOST_AT_ONCE = 10_000
"""Maximum growth by one claim; they come once a minute."""
KEEP_SECONDS = 30.0
"""Interval of writes of peers' reports, which come once a minute each."""


def bytes_in(places: Sequence[Path]) -> int:
    """Bytes of the files below these folders, with nested ones counted once. If others are deleting there, or access
    is denied, what was found."""
    real = {place.resolve() for place in places}
    outer = [place for place in real if real.isdisjoint(place.parents)]
    total = 0
    for folder, _, names in itertools.chain.from_iterable(map(os.walk, outer)):
        for name in names:
            with contextlib.suppress(OSError):
                total += Path(folder, name).lstat().st_size
    return total


def tidy(store: CheckpointStore, history: History, keep: int, most: int, places: Sequence[Path]) -> int:
    """Delete until `places` hold at most `most` bytes, or nothing can be spared; returns their size then.

    `keep`: existing checkpoints to keep besides the best. Raises HistoryError.
    """
    held = bytes_in(places)
    while held > most and keep > 1:
        keep -= 1
        if store.prune(keep):
            held = bytes_in(places)
    if held > most and history.shrink(held - most):
        held = bytes_in(places)
    return held


class WriteBudget:
    """A token bucket: it holds half a day's allowance and gains half a day's allowance per day, so any 24 hours see at
    most the whole. For checkpoints larger than the bucket, the last 24 hours are added up. Pure: time is an argument.

    `before`: what was written in the last day or two, oldest first; `now`: Unix time.
    """

    def __init__(self, bytes_a_day: float, before: Sequence[Written], now: float) -> None:
        self._day = bytes_a_day
        self._capacity = self._level = bytes_a_day / 2
        self._time = before[0].time if before else now
        self._lately: deque[Written] = deque()
        """Writes of the last 24 hours."""
        for written in before:
            self.spend(written.bytes, written.time)
        self._refill(now)

    def allows(self, size: int, now: float) -> bool:
        """Whether a routine checkpoint of `size` bytes may be written.

        One larger than the bucket waits for a full bucket, so it is written once a day or less; one larger than the
        whole daily allowance is never routine. Finishing and quitting do not ask.
        """
        self._refill(now)
        while self._lately and self._lately[0].time <= now - DAY:
            self._lately.popleft()
        if size > self._capacity and size + sum(written.bytes for written in self._lately) > self._day:
            return False
        return self._level >= min(size, self._capacity)

    def spend(self, size: int, now: float) -> None:
        """Record a written checkpoint, routine or not."""
        self._refill(now)
        self._level = max(self._level - size, -self._capacity)
        self._lately.append(Written(time=now, bytes=size))

    def _refill(self, now: float) -> None:
        # A clock that was set back gains and loses nothing.
        gained = max(0.0, now - self._time) / DAY * self._capacity
        self._level = min(self._capacity, self._level + gained)
        self._time = now


class Lasting:
    """Counts that rounds do not produce.

    Peers report how many of our groups they used since their own start. So each peer's last number is stored, and only
    its growth is added; the first one sets the origin. These are claims, shown as such and never used.

    `later`: runs work in the thread that the history belongs to.
    """

    def __init__(
        self,
        book: History,
        later: Callable[[Callable[[], None]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        totals = book.totals()
        self.answers_shared = totals.answers_shared
        self.used = totals.used
        self.joules = totals.joules
        self._book = book
        self._later = later
        self._claims = OrderedDict(book.claims())
        """Each peer's last report, oldest first."""
        self._helped = book.helped()
        self._clock = clock
        self._kept_at = clock()
        self._unkept: dict[str, int] = {}
        """Reports that are not written yet."""
        self._gained = 0
        """Growth of the numbers since the last write."""

    @property
    def helped(self) -> int:
        """Number of remembered peers that ever said they used a group of ours."""
        return len(self._helped)

    def shared(self, answers: int) -> None:
        """Count own answers that were published."""
        self.answers_shared += answers
        self._later(lambda: self._book.note_shared(answers))

    def took(self, joules: int) -> None:
        """Count used energy, in joules."""
        self.joules += joules
        self._later(lambda: self._book.note_joules(joules))

    def claimed(self, peer: str, used: int) -> None:
        """A peer (hex key) says that it used so many groups of ours since its start."""
        before = self._claims.get(peer, used)
        gained = min(used - before if used >= before else used, MOST_AT_ONCE)
        self.used += gained
        self._gained += gained
        self._claims[peer] = used
        self._claims.move_to_end(peer)  # unchanged ones too: a peer that is connected must not be dropped
        if used > 0:
            self._helped.add(peer)
        if len(self._claims) > MOST_PEERS:
            self._helped.discard(self._claims.popitem(last=False)[0])
        self._unkept.pop(peer, None)
        self._unkept[peer] = used
        if self._clock() - self._kept_at >= KEEP_SECONDS:
            self.keep()

    def keep(self) -> None:
        """Write the reports now."""
        claims, gained = self._unkept, self._gained
        self._unkept, self._gained, self._kept_at = {}, 0, self._clock()
        if claims:
            self._later(lambda: self._book.note_claims(claims, gained))


class Keeper:
    """Checkpoints and history of one data folder."""

    def __init__(self, store: CheckpointStore, history: History, budget: WriteBudget, keep: int) -> None:
        self.store = store
        self.history = history
        self.newest: Checkpoint | None = None
        self._budget = budget
        self._keep = keep
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="keeper")
        self.waits: Callable[[Text | None], None] = lambda reason: None
        """Called when something finished cannot be written and waits, with the reason, and with None once it is
        written."""
        self.stays: Callable[[Text], None] = lambda reason: None
        """Called with the reason why an old checkpoint cannot be deleted; once, until it can be."""
        self._stuck: Text = ""
        self.latest = Latest()
        """The latest results sent to clients; the sender updates them."""
        self.lasting = Lasting(history, self._later)

    async def keep_round(
        self, result: RoundResult, counters: Counters, engine: Engine, *, must: bool
    ) -> Checkpoint | None:
        """Record a finished round and write its checkpoint, if the budget permits or it `must`."""
        await self.patiently(self.history.record_round, counters.run, result.report, result.groups, result.advantages)
        if must or self._budget.allows(self._expected_bytes(), time.time()):
            return await self.write(counters, engine)
        return None

    async def write(self, counters: Counters, engine: Engine) -> Checkpoint:
        """Write a checkpoint now. Raises CheckpointError if that fails; training may continue."""
        folder = self.store.begin(counters.round)
        try:
            await engine.save(folder)
        except BaseException:
            self.store.discard(folder)
            raise
        # Its thread ends by itself if this task is cancelled; it also cleans up after its own failure.
        written = await self.call(self.store.commit, folder, counters)
        self.newest = written
        self._budget.spend(written.bytes, time.time())
        await self.patiently(self.history.record_checkpoint, written.number, written.round, written.bytes)
        await self.call(self.store.prune, self._keep)
        self._tell_stuck()
        return written

    async def tidy(self, most: int, places: Sequence[Path]) -> int:
        """Delete what can be spared until `places` hold at most `most` bytes; returns their size then."""
        held = await self.call(tidy, self.store, self.history, self._keep, most, places)
        self._tell_stuck()
        return held

    def _tell_stuck(self) -> None:
        if self.store.stuck and self.store.stuck != self._stuck:
            self.stays(self.store.stuck)
        self._stuck = self.store.stuck

    async def record_eval(self, run: int, report: EvalReport) -> None:
        await self.patiently(self.history.record_eval, run, report)

    async def back_to_newest(self) -> Newest:
        """The newest checkpoint that verifies; rows of later rounds are marked lost."""
        newest = await self.call(self.store.newest_valid)
        self.newest = newest.checkpoint
        reached = newest.checkpoint
        await self.patiently(
            self.history.reconcile, reached.round if reached else 0, reached.number if reached else None
        )
        self.latest = await self.call(self.history.latest)
        return newest

    async def patiently(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Like `call`, repeated while the history cannot be written: a played round waits for room on the disk, and is
        not lost."""
        waiting = False
        try:
            while True:
                try:
                    return await self.call(work, *args, **kwargs)
                except HistoryUnavailable as error:
                    if not waiting:
                        waiting = True
                        self.waits(error.text)
                    await asyncio.sleep(RETRY_SECONDS)
        finally:
            if waiting:
                self.waits(None)

    async def call(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` in the keeper's thread, the only one that uses files and database."""
        run = functools.partial(work, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._thread, run)

    def write_later(self, work: Callable[[], None], failed: Callable[[OSError], None]) -> None:
        """Write a small file in the keeper's thread, in the order of these calls. `failed` is called, in the event
        loop, if that is impossible."""
        loop = asyncio.get_running_loop()

        def write() -> None:
            try:
                work()
            except OSError as error:
                loop.call_soon_threadsafe(failed, error)

        self._thread.submit(write)

    def _later(self, work: Callable[[], None]) -> None:
        """Store a count; a failure only loses that count."""

        def keep() -> None:
            try:
                work()
            except HistoryError as error:
                log.warning("A count was not stored: %s", error)

        self._thread.submit(keep)

    async def close(self) -> None:
        self.lasting.keep()
        await self.call(self.history.close)
        self._thread.shutdown()

    def _expected_bytes(self) -> int:
        return self.newest.bytes if self.newest else _FIRST_GUESS
