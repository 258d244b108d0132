"""Which groups answer a WANT: a sample by chance, another for each.

Everything is decided by hashes with the asker's ticket: the relays that took the groups from their authors in the order
of their hashes, under each the tags in theirs, under each the identities, of each the group with the lowest; round
after round until there are enough. So no relay gains by naming many tags, and no tag by many identities.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice

from sapo_desktop.swarm.pool import held_filter
from sapo_desktop.swarm.pool.pool import Entry, Name, Pool
from sapo_desktop.swarm.protocol.messages import Exact, Want

_MOST_LOOKED_AT = 4096
"""Entries, of all relays together; a WANT for something rare must not cost a walk through everything."""
_LOOKED_AT_OF_ONE = 256


def sample(shelf: Pool, want: Want) -> list[Entry]:
    """At most `want.n` entries of the wanted tasks that the asker does not hold; for an exact one, at most that."""
    if want.exact is not None:
        found = [entry for entry in shelf.of(want.exact.author) if _is_exact(entry.name, want.exact)]
        rank = _ranks(want.ticket)
        return sorted(found, key=lambda entry: rank(entry.digest))[:1]
    tasks = {task for task in want.tasks if shelf.has_task(task)}
    relays = list(_ranked(shelf.relays, _ranks(want.ticket))) if tasks else []
    # What one relay names must not use up the looks at the others'.
    looks = max(_LOOKED_AT_OF_ONE, _MOST_LOOKED_AT // max(1, len(relays)))
    return _turns_of((_Walk(want, tasks, looks).relay(shelf.under(relay)) for relay in relays), want.n)


class _Walk:
    """Looks for entries of one relay that answer a WANT, and stops looking when it has looked at enough."""

    def __init__(self, want: Want, tasks: Collection[bytes], looks: int) -> None:
        self._tasks = tasks
        self._want = want
        self._looks = looks
        self._rank = _ranks(want.ticket)

    def relay(self, tags: Mapping[bytes, Mapping[bytes, Mapping[Name, Entry]]]) -> list[Entry]:
        """The groups of one relay, its tags taking turns; as many as the WANT could take."""
        return _turns_of((self.tag(tags[tag]) for tag in _ranked(tags, self._rank)), self._want.n)

    def tag(self, authors: Mapping[bytes, Mapping[Name, Entry]]) -> list[Entry]:
        """The groups of one tag, its identities taking turns."""
        return _turns_of((self._fit(authors[author].values()) for author in _ranked(authors, self._rank)), self._want.n)

    def _fit(self, entries: Collection[Entry]) -> list[Entry]:
        if self._looks <= 0:
            return []
        self._looks -= len(entries)
        want = self._want
        found = [
            entry
            for entry in entries
            if entry.name.task in self._tasks and not held_filter.holds(want.held, entry.digest, want.ticket)
        ]
        return sorted(found, key=lambda entry: self._rank(entry.digest))


def _is_exact(name: Name, exact: Exact) -> bool:
    return (name.slot, name.task, name.index) == (exact.slot, exact.task, exact.index)


def _turns_of(queues: Iterable[list[Entry]], most: int) -> list[Entry]:
    """The first of each queue, then the second of each, ..., at most so many. As each has its turn before any has its
    second, no more than the first `most` that have anything are looked for."""
    return list(islice(_turns(list(islice(filter(None, queues), most))), most))


def _turns(queues: list[list[Entry]]) -> Iterator[Entry]:
    for turn in range(max(map(len, queues), default=0)):
        yield from (queue[turn] for queue in queues if turn < len(queue))


def _ranked(names: Iterable[bytes], rank: Callable[[bytes], bytes]) -> Iterator[bytes]:
    """By the hash of a name's first byte, then by its own: of thousands only those that are asked for are hashed."""
    by_first = defaultdict[bytes, list[bytes]](list)
    for name in names:
        by_first[name[:1]].append(name)
    for first in sorted(by_first, key=rank):
        yield from sorted(by_first[first], key=rank)


def _ranks(ticket: bytes) -> Callable[[bytes], bytes]:
    """The hash of a name, keyed with the ticket. A relay orders thousands for each WANT, so the key is read once."""
    keyed = hashlib.blake2b(digest_size=16, key=ticket)

    def rank(name: bytes) -> bytes:
        hashed = keyed.copy()
        hashed.update(name)
        return hashed.digest()

    return rank
