"""Which groups answer a WANT: a sample that a second link can audit.

Everything is decided by hashes with the asker's ticket, so the same shelf gives the same sample and a server cannot
prefer anyone without being seen to: tags in the order of their hashes, under each the identities in theirs, of each
the group with the lowest; round after round until there are enough.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable

from sapo_desktop.swarm import held_filter
from sapo_desktop.swarm.messages import Want
from sapo_desktop.swarm.pool import Entry


def sample(shelf: Iterable[Entry], want: Want) -> list[Entry]:
    """At most `want.n` entries of the wanted tasks that the asker does not hold; for an exact one, at most that."""
    if want.exact is not None:
        exact = want.exact
        named = (exact.author, exact.slot, exact.task, exact.index)
        found = [e for e in shelf if (e.name.author, e.name.slot, e.name.task, e.name.index) == named]
        return sorted(found, key=lambda entry: _rank(want.ticket, entry.digest))[:1]
    tasks = set(want.tasks)
    strata: defaultdict[bytes, defaultdict[bytes, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for entry in shelf:
        if entry.name.task in tasks and not held_filter.holds(want.held, entry.digest, want.ticket):
            strata[entry.path.tag][entry.name.author].append(entry)
    queues = [_merged(strata[tag], want.ticket) for tag in sorted(strata, key=lambda tag: _rank(want.ticket, tag))]
    return _in_turns(queues, want.n)


def _merged(identities: dict[bytes, list[Entry]], ticket: bytes) -> list[Entry]:
    """The groups of one tag, its identities taking turns."""
    queues = [
        sorted(identities[author], key=lambda entry: _rank(ticket, entry.digest))
        for author in sorted(identities, key=lambda author: _rank(ticket, author))
    ]
    return _in_turns(queues, sum(map(len, queues)))


def _in_turns(queues: list[list[Entry]], most: int) -> list[Entry]:
    taken: list[Entry] = []
    turn = 0
    while len(taken) < most and any(turn < len(queue) for queue in queues):
        taken += [queue[turn] for queue in queues if turn < len(queue)]
        turn += 1
    return taken[:most]


def _rank(ticket: bytes, name: bytes) -> bytes:
    return hashlib.blake2b(name, digest_size=16, key=ticket).digest()
