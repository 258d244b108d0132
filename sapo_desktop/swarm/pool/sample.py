"""Which groups answer a WANT: a sample by chance, another for each.

The relays that took the groups from their authors take turns, under each the tags, under each the identities, all in an
order by chance; of each identity a group by chance; round after round until there are enough. So no relay gains by
naming many tags, and no tag by many identities.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from random import Random
from typing import TypeVar

from sapo_desktop.swarm.pool import held_filter
from sapo_desktop.swarm.pool.pool import Entry, Name, Pool
from sapo_desktop.swarm.protocol.messages import Want

T = TypeVar("T")
_MOST_LOOKED_AT = 4096
"""Entries, of all relays together; a WANT for something rare must not cost a walk through everything."""
_LOOKED_AT_OF_ONE = 256
_MOST_HELD = 512
_HELD_OF_ONE = 128
"""Of these, entries that the asker's filter hides. A node tells of 256 (exchange.py); a filter that hides everything
would otherwise cost a hash of each."""


def sample(shelf: Pool, want: Want, rng: Random) -> list[Entry]:
    """At most `want.n` entries of the wanted tasks that the asker does not hold. `rng`: gives the seed of this
    sample."""
    tasks = {task for task in want.tasks if shelf.has_task(task)}
    if not tasks:
        return []
    # What one relay names must not use up the looks at the others'.
    among = max(1, len(shelf.relays))
    looks, held = max(_LOOKED_AT_OF_ONE, _MOST_LOOKED_AT // among), max(_HELD_OF_ONE, _MOST_HELD // among)
    drawn = Random(rng.getrandbits(64))  # the system's own source costs more than all that is looked up here
    turns = _turns(
        _Walk(want, tasks, looks, held, drawn).relay(shelf.under(relay)) for relay in _shuffled(shelf.relays, drawn)
    )
    return list(islice(turns, want.n))


class _Walk:
    """Looks for entries of one relay that answer a WANT, and stops when it has looked at enough, or met enough that are
    held."""

    def __init__(self, want: Want, tasks: Collection[bytes], looks: int, held: int, rng: Random) -> None:
        self._tasks = tasks
        self._want = want
        self._looks = looks
        self._held = held
        self._rng = rng

    def relay(self, tags: Mapping[bytes, Mapping[bytes, Mapping[Name, Entry]]]) -> Iterator[Entry]:
        """The groups of one relay, its tags taking turns."""
        return _turns(self._tag(tags[tag]) for tag in self._while_looking(tags))

    def _tag(self, authors: Mapping[bytes, Mapping[Name, Entry]]) -> Iterator[Entry]:
        """The groups of one tag, its identities taking turns."""
        return _turns(self._fit(authors[author].values()) for author in self._while_looking(authors))

    def _fit(self, entries: Collection[Entry]) -> Iterator[Entry]:
        want = self._want
        for entry in self._while_looking(entries):
            self._looks -= 1
            if entry.name.task not in self._tasks:
                continue
            if not held_filter.holds(want.held, entry.digest, want.ticket):
                yield entry
                continue
            self._held -= 1
            if self._held <= 0:
                self._looks = 0

    def _while_looking(self, items: Collection[T]) -> Iterator[T]:
        for item in _shuffled(items, self._rng):
            if self._looks <= 0:
                return
            yield item


def _turns(queues: Iterable[Iterator[T]]) -> Iterator[T]:
    """The first of each queue, then the second of each, ... None is looked into before its turn: of thousands of tags
    a WANT asks a few."""
    waiting: deque[Iterator[T]] = deque()
    for queue in queues:
        for item in islice(queue, 1):
            yield item
            waiting.append(queue)
    while waiting:
        queue = waiting.popleft()
        for item in islice(queue, 1):
            yield item
            waiting.append(queue)


def _shuffled(items: Collection[T], rng: Random) -> Iterator[T]:
    """In an order by chance, drawn as far as it is asked for."""
    left = list(items)
    while left:
        at = int(rng.random() * len(left))
        left[at], left[-1] = left[-1], left[at]
        yield left.pop()
