"""What a node gives its peers: its own groups, offered to each link, and what a WANT is answered from.

Served are own groups, those that their authors published to us, and, by a relay, those that other relays had from
their authors. All of it stays within the credit of the link and
the quota of the key at its other end.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from random import Random
from typing import TypeVar

from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.link import MOST_UNSENT, Link
from sapo_desktop.swarm.pool import held_filter
from sapo_desktop.swarm.pool.pool import Entry, Name, Path, Pool
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.envelope import GroupBody, Opened
from sapo_desktop.swarm.protocol.messages import Want
from sapo_desktop.swarm.protocol.refusals import Refused

SHELF_BYTES = 16 * limits.KIB * limits.KIB
_LEAST_FRAME = limits.KIB
"""Bytes below which no batch of groups is worth packing."""
_MOST_USED = 10_000


class Giving:
    """The giving side of one exchange. `own_key`: whose groups are our own. `rng`: chooses what answers a WANT."""

    def __init__(self, own_key: bytes, rng: Random) -> None:
        self._own_key = own_key
        self._rng = rng
        self.shelf = Pool(b"", SHELF_BYTES, roomy=own_key)
        """Own groups, those published to us, and other relays'."""
        self._own: deque[Opened[GroupBody]] = deque(maxlen=MOST_UNSENT)
        self._used: OrderedDict[bytes, int] = OrderedDict()

    def expire(self, now: Now) -> None:
        """Forget what nobody takes any more."""
        self.shelf.expire(now.monotonic)

    def publish(self, group: Opened[GroupBody], links: Iterable[Link], now: Now) -> None:
        """Offer an own group to every link that knows its task, now or when credit allows."""
        with contextlib.suppress(Refused):  # where others fill the shelf, it is offered all the same
            self.keep(group, Path(self._own_key, self._own_key, b""), now)
        self._own.append(group)
        for link in links:
            if link.knows(group.body.task):
                link.offer_later([group])
                self.offer(link, now)

    def keep(self, group: Opened[GroupBody], path: Path, now: Now) -> None:
        """Serve this group from now on. Raises Refused: see Pool.add."""
        self.shelf.add(group, path, now.monotonic)

    def begin(self, link: Link, *, oldest_slot: int) -> None:
        """Have own groups from this slot on ready for a link that opened. One that we visit, and one that was dialled
        by its peer, get the newest alone, no more than fit at once: of these many come and go."""
        recent = [group for group in self._own if group.body.slot >= oldest_slot]
        is_passing = link.visit or link.dialled is None
        link.offer_later(recent[-int(limits.FIRST_GROUPS) :] if is_passing else recent)

    def offer(self, link: Link, now: Now) -> None:
        """Publish the newest unsent own groups of tasks that the peer knows, as many as credit has room for."""
        if link.is_being_asked(now.monotonic):
            return
        while link.unsent and link.session.is_open:
            room = min(limits.MAX_BATCH, len(link.unsent), self._room(link, now))
            least = min(link.session.groups_together, len(link.unsent))
            if room < least or link.session.room(now.monotonic) < _LEAST_FRAME:
                return
            batch = [link.unsent.pop() for _ in range(room)]
            while batch and not link.session.publish([group.envelope for group in batch], now.monotonic):
                # Packing costs time: halves, not one less at a time.
                link.unsent.extend(batch.pop() for _ in range((len(batch) + 1) // 2))
            self._count_out(link, len(batch), now)
            if not batch:
                return

    def serve(self, link: Link, want: m.Want, now: Now) -> None:
        """Answer a WANT, with fewer groups where credit has no room for all, or none where one key asks too often."""
        room = self._room(link, now)
        if link.quota is not None:
            room = min(room, link.quota.room_for_want(now.monotonic))
        entries = [entry for entry in sample(self.shelf, want, self._rng) if entry.name.author != link.key]
        groups = [_sourced(entry, self._own_key) for entry in entries]
        groups = groups[: max(0, room)] if link.session.room(now.monotonic) >= _LEAST_FRAME else []
        while not link.session.serve(want.ticket, groups, now.monotonic) and groups:
            del groups[len(groups) // 2 :]  # packing costs time: halves, not one less at a time
        for entry in entries[: len(groups)]:
            if entry.name.author != self._own_key:
                self.use(entry.name.author)
        self._count_out(link, len(groups), now)

    def use(self, author: bytes) -> None:
        """Count one group of this author's as handed on or trained on: what its node may be told."""
        self._used[author] = self._used.pop(author, 0) + 1
        if len(self._used) > _MOST_USED:
            self._used.popitem(last=False)

    def used(self, author: bytes) -> int:
        return self._used.get(author, 0)

    def _room(self, link: Link, now: Now) -> int:
        """Groups that may be sent over a link now."""
        room = link.session.credit(now.monotonic)[0]
        return int(room if link.quota is None else min(room, link.quota.groups.level(now.monotonic)))

    def _count_out(self, link: Link, groups: int, now: Now) -> None:
        link.traffic.groups_out += groups
        if link.quota is not None:
            link.quota.groups.take(groups, now.monotonic)


def _sourced(entry: Entry, own_key: bytes) -> m.Sourced:
    own = entry.name.author == own_key
    relay, tag = (b"", b"") if own else (entry.path.relay, entry.path.tag)
    return m.Sourced(envelope=entry.envelope, relay=relay, tag=tag)


# Which groups answer a WANT: a sample by chance, another for each. The relays that took the groups from their authors
# take turns, under each the tags, under each the identities, all in an order by chance; of each identity a group by
# chance; round after round until there are enough. So no relay gains by naming many tags, and no tag by many
# identities.


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
