"""What waits its turn on the way to other relays, and on the way in from them: bounded, and nobody waits for it.

Sources take turns. Of one that sends too much its own oldest is lost; where all together are too much, each in its
turn loses its oldest. What was lost is counted.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sized
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T", bound=Sized)


@dataclass
class _Queue(Generic[T]):
    items: deque[T] = field(default_factory=deque)
    size: int = 0


class Waiting(Generic[T]):
    """Items by source. `most_of_one`, `most`: of one source and of all, in what `len` says of the items."""

    def __init__(self, most_of_one: int, most: int) -> None:
        self._most_of_one = most_of_one
        self._most = most
        self._queues: OrderedDict[bytes, _Queue[T]] = OrderedDict()
        self.size = 0
        self.lost = 0
        """Items, since the start."""

    def __bool__(self) -> bool:
        return bool(self._queues)

    def put(self, source: bytes, item: T) -> None:
        """Stand in line, in the place of whatever there is no room for any more."""
        queue = self._queues.setdefault(source, _Queue())
        queue.items.append(item)
        queue.size += len(item)
        self.size += len(item)
        while queue.size > self._most_of_one:
            self._drop(source, queue)
        while self.size > self._most:
            first = next(iter(self._queues))
            self._queues.move_to_end(first)
            self._drop(first, self._queues[first])

    def take(self) -> tuple[bytes, T]:
        """The oldest of the source whose turn it is. KeyError: nothing waits."""
        source, queue = next(iter(self._queues.items()), (b"", None))
        if queue is None:
            raise KeyError("nothing waits")
        self._queues.move_to_end(source)
        return source, self._first(source, queue)

    def _drop(self, source: bytes, queue: _Queue[T]) -> None:
        self._first(source, queue)
        self.lost += 1

    def _first(self, source: bytes, queue: _Queue[T]) -> T:
        item = queue.items.popleft()
        queue.size -= len(item)
        self.size -= len(item)
        if not queue.items:
            del self._queues[source]
        return item
