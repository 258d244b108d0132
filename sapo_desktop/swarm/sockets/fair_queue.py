"""Whose message is next if peers send more than there is time for.

A node gives its peers a share of its time. As long as that is enough, messages are handled as they come. Otherwise they
wait, and so do their senders, because nothing more is read from a link with a waiting message. Waiting messages take
turns by network, so a thousand keys from one place get no more than one from another. Identities with a history come
first, and one turn in four is a newcomer's: everybody gets a share, and nobody is banned.
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
"""Seconds of work for peers per second."""
_AT_ONCE = 2.0
"""Seconds of work saved up in quiet times."""
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
        """Whether a message can be handled at once: there is time, and nobody waits."""
        return not len(self) and self._time.level(now) > 0

    def spent(self, seconds: float, now: float) -> None:
        """A message took this long; the balance may become negative."""
        self._time.take(seconds, now, slack=float("inf"))

    def wait(self, who: T, part: bytes, *, is_new: bool) -> None:
        """Join the queue. `part`: the network. `is_new`: whether the identity has no history."""
        (self._new if is_new else self._known).add(part, who)

    def next(self, now: float) -> T | None:
        """The next in the queue, if there is time."""
        if not len(self) or self._time.level(now) <= 0:
            return None
        self._turn += 1
        first, second = (self._known, self._new) if self._turn % _NEWCOMERS_TURN else (self._new, self._known)
        return (first if len(first) else second).take()

    def clear(self) -> list[T]:
        """Empty the queue."""
        return [(self._known if len(self._known) else self._new).take() for _ in range(len(self))]

    def seconds_to_wait(self, now: float) -> float:
        """Seconds until there is time again."""
        return max(0.0, -self._time.level(now) / self._share)


async def done_before(work: Awaitable[object], gone: Awaitable[object]) -> bool:
    """Wait until one of the two is done, and cancel the other; returns whether it was `work`."""
    doing, leaving = asyncio.ensure_future(work), asyncio.ensure_future(gone)
    try:
        await asyncio.wait({doing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return doing.done()
    finally:
        doing.cancel()
        leaving.cancel()


class FairQueue:
    """A queue in which coroutines wait for their turn."""

    def __init__(self, share: float = SHARE) -> None:
        self._turns: Turns[asyncio.Future[None]] = Turns(time.monotonic(), share)
        self._calling = asyncio.Event()
        """Set when somebody waits."""
        self._is_open = False
        """Whether waiting has ended because the node is closing."""

    async def turn(self, part: bytes, gone: Callable[[], Awaitable[object]], *, is_new: bool) -> bool:
        """Return when there is time for a message of that network; then report what it `spent`. `gone` returns when
        its link ended; False: that came first."""
        if self._is_open or self._turns.is_free(time.monotonic()):
            return True
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # Its link is not read until then: waiting costs a future, never a second frame.
        self._turns.wait(turn, part, is_new=is_new)
        self._calling.set()
        return await done_before(turn, gone())

    @property
    def waiting(self) -> int:
        """Number of waiting messages."""
        return len(self._turns)

    def spent(self, seconds: float) -> None:
        """Report used processor time."""
        self._turns.spent(seconds, time.monotonic())

    async def run(self) -> None:
        """Give turns until cancelled; then release everybody."""
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
        """Release one, if there is time; returns the seconds until the next check."""
        turn = self._turns.next(time.monotonic())
        if turn is not None and not turn.done():  # its link may have ended meanwhile
            turn.set_result(None)
        if not len(self._turns):
            self._calling.clear()
        return 0.0 if turn is not None else self._turns.seconds_to_wait(time.monotonic())


class _Circle(Generic[T]):
    """Queues by network that take turns."""

    def __init__(self) -> None:
        self._queues: OrderedDict[bytes, deque[T]] = OrderedDict()
        self._count = 0
        """Stored, because it is needed several times per message, for thousands of networks."""

    def __len__(self) -> int:
        return self._count

    def add(self, part: bytes, who: T) -> None:
        self._count += 1
        self._queues.setdefault(part, deque()).append(who)

    def take(self) -> T:
        self._count -= 1
        part, queue = self._queues.popitem(last=False)
        who = queue.popleft()
        # popitem removed it; appended at the end, the network waits for a round of all others.
        if queue:
            self._queues[part] = queue
        return who
