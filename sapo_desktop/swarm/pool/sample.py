"""Which groups answer a WANT: a sample that a second link can audit.

Everything is decided by hashes with the asker's ticket, so the same shelf gives the same sample and a server cannot
prefer anyone without being seen to: tags in the order of their hashes, under each the identities in theirs, of each
the group with the lowest; round after round until there are enough.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from itertools import islice

from sapo_desktop.swarm.pool import held_filter
from sapo_desktop.swarm.pool.pool import Entry, Name, Pool
from sapo_desktop.swarm.protocol.messages import Exact, Want

_MOST_LOOKED_AT = 4096
"""Entries; a WANT for something rare must not cost a walk through everything."""


def sample(shelf: Pool, want: Want) -> list[Entry]:
    """At most `want.n` entries of the wanted tasks that the asker does not hold; for an exact one, at most that."""
    if want.exact is not None:
        found = [entry for entry in shelf.of(want.exact.author) if _is_exact(entry.name, want.exact)]
        return sorted(found, key=lambda entry: _rank(want.ticket, entry.digest))[:1]
    walk = _Walk(want, {task for task in want.tasks if shelf.has_task(task)})
    tags = sorted(shelf.tags, key=lambda tag: _rank(want.ticket, tag)) if walk.tasks else []
    # A tag's turn comes once before any tag's second one, so the first n that have anything are enough.
    queues = list(islice(filter(None, (walk.queue(shelf.under(tag)) for tag in tags)), want.n))
    return _in_turns(queues, want.n)


class _Walk:
    """Looks for entries that answer a WANT, and stops looking when it has looked at enough."""

    def __init__(self, want: Want, tasks: Collection[bytes]) -> None:
        self.tasks = tasks
        self._want = want
        self._looked_at = 0

    def queue(self, authors: Mapping[bytes, Mapping[Name, Entry]]) -> list[Entry]:
        """The groups of one tag, its identities taking turns; as many as the WANT could take."""
        ranked = sorted(authors, key=lambda author: _rank(self._want.ticket, author))
        queues = filter(None, (self._fit(authors[author].values()) for author in ranked))
        return _in_turns(list(islice(queues, self._want.n)), self._want.n)

    def _fit(self, entries: Collection[Entry]) -> list[Entry]:
        if self._looked_at >= _MOST_LOOKED_AT:
            return []
        self._looked_at += len(entries)
        want = self._want
        found = [
            entry
            for entry in entries
            if entry.name.task in self.tasks and not held_filter.holds(want.held, entry.digest, want.ticket)
        ]
        return sorted(found, key=lambda entry: _rank(want.ticket, entry.digest))


def _is_exact(name: Name, exact: Exact) -> bool:
    return (name.slot, name.task, name.index) == (exact.slot, exact.task, exact.index)


def _in_turns(queues: list[list[Entry]], most: int) -> list[Entry]:
    """The first of each queue, then the second of each, ..., at most so many."""
    return list(islice(_turns(queues), most))


def _turns(queues: list[list[Entry]]) -> Iterator[Entry]:
    for turn in range(max(map(len, queues), default=0)):
        yield from (queue[turn] for queue in queues if turn < len(queue))


def _rank(ticket: bytes, name: bytes) -> bytes:
    return hashlib.blake2b(name, digest_size=16, key=ticket).digest()
