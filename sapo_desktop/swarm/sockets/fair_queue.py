"""Whose message is next where peers send more than there is time for.

A node gives its peers a share of its time. While that is enough, messages are dealt with as they come. Once it is used
up they wait, and their senders with them, for nothing more is read from a link whose message waits. Those that wait
take turns by the part of the internet they come from, so a thousand keys from one place get no more than one from
another; identities with a history come first, and of every four turns one is a newcomer's: a share for everybody, and
a ban for none.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from sapo_desktop.core.network.bucket import Bucket

T = TypeVar("T")
SHARE = 0.5
"""Seconds of work for peers in each second."""
_AT_ONCE = 2.0
"""Seconds of work saved up while there was little to do."""
_NEWCOMERS_TURN = 4


class Turns(Generic[T]):
    """The queue of one node. `now`: monotonic seconds."""

    def __init__(self, now: float, share: float = SHARE, at_once: float = _AT_ONCE) -> None:
        self._share = share
        self._time = Bucket(at_once, share, now)
        self._known: _Circle[T] = _Circle()
        self._new: _Circle[T] = _Circle()
        self._turn = 0

    def __len__(self) -> int:
        return len(self._known) + len(self._new)

    def is_free(self, now: float) -> bool:
        """Whether a message can be dealt with at once: there is time, and nobody waits."""
        return not len(self) and self._time.level(now) > 0

    def spent(self, seconds: float, now: float) -> None:
        """A message took so long; into debt if need be."""
        self._time.take(seconds, now, slack=float("inf"))

    def wait(self, who: T, part: bytes, *, is_new: bool) -> None:
        """Stand in line. `part`: of the internet. `is_new`: whether there is no history of its identity."""
        (self._new if is_new else self._known).add(part, who)

    def next(self, now: float) -> T | None:
        """Who is next, where there is time for one more."""
        if not len(self) or self._time.level(now) <= 0:
            return None
        self._turn += 1
        first, second = (self._known, self._new) if self._turn % _NEWCOMERS_TURN else (self._new, self._known)
        return (first if len(first) else second).take()

    def clear(self) -> list[T]:
        """Take everybody out of the line."""
        return [(self._known if len(self._known) else self._new).take() for _ in range(len(self))]

    def seconds_to_wait(self, now: float) -> float:
        """Until there is time for one more."""
        return max(0.0, -self._time.level(now) / self._share)


async def done_before(work: Awaitable[object], gone: Awaitable[object]) -> bool:
    """Wait until one of the two is done, and give up the other; whether it was `work`."""
    doing, leaving = asyncio.ensure_future(work), asyncio.ensure_future(gone)
    try:
        await asyncio.wait({doing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return doing.done()
    finally:
        doing.cancel()
        leaving.cancel()


class FairQueue:
    """Where coroutines wait for their turn."""

    def __init__(self, share: float = SHARE) -> None:
        self._turns: Turns[asyncio.Future[None]] = Turns(time.monotonic(), share)
        self._calling = asyncio.Event()
        """Set where somebody waits."""
        self._is_open = False
        """Whether nobody has to wait any more, as the node ends."""

    async def turn(self, part: bytes, gone: Callable[[], Awaitable[object]], *, is_new: bool) -> bool:
        """Return when there is time for a message from there; then say what it `spent`. `gone` returns when its link
        ended; False: that was first."""
        if self._is_open or self._turns.is_free(time.monotonic()):
            return True
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # Its link is read no further until then: waiting costs a future, never a second frame.
        self._turns.wait(turn, part, is_new=is_new)
        self._calling.set()
        return await done_before(turn, gone())

    @property
    def waiting(self) -> int:
        """How many stand in line."""
        return len(self._turns)

    def spent(self, seconds: float) -> None:
        """Of the processor's time."""
        self._turns.spent(seconds, time.monotonic())

    async def run(self) -> None:
        """Give turns until cancelled; then to everybody."""
        try:
            while True:
                await self._calling.wait()
                await asyncio.sleep(self._give_one())
        finally:
            self._is_open = True
            for turn in self._turns.clear():
                if not turn.done():
                    turn.set_result(None)

    def _give_one(self) -> float:
        """Let one go on, where there is time; returns the seconds until the next look."""
        turn = self._turns.next(time.monotonic())
        if turn is not None and not turn.done():  # its link may have ended meanwhile
            turn.set_result(None)
        if not len(self._turns):
            self._calling.clear()
        return 0.0 if turn is not None else self._turns.seconds_to_wait(time.monotonic())


class _Circle(Generic[T]):
    """Queues by part of the internet that take turns."""

    def __init__(self) -> None:
        self._queues: OrderedDict[bytes, deque[T]] = OrderedDict()
        self._count = 0
        """Kept, as it is asked for several times a message, of thousands of parts."""

    def __len__(self) -> int:
        return self._count

    def add(self, part: bytes, who: T) -> None:
        self._count += 1
        self._queues.setdefault(part, deque()).append(who)

    def take(self) -> T:
        self._count -= 1
        part, queue = self._queues.popitem(last=False)
        who = queue.popleft()
        # popitem took it out; put back last, the part waits for a round of all the others.
        if queue:
            self._queues[part] = queue
        return who
