"""What a node gives its peers: its own groups, offered to each link, and answers to WANTs.

It serves own groups, those that their authors published to it, and, on a relay, those that other relays received from
their authors. Everything stays within the link's credit and the quota of the key at its other end.
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
"""Bytes below which a batch of groups is not worth packing."""
_MOST_USED = 10_000


class Giving:
    """The giving side of an exchange. `own_key`: the author of our own groups. `rng`: chooses the answers to a WANT."""

    def __init__(self, own_key: bytes, rng: Random) -> None:
        self._own_key = own_key
        self._rng = rng
        self.shelf = Pool(b"", SHELF_BYTES, roomy=own_key)
        """Own groups, those published to us, and other relays'."""
        self._own: deque[Opened[GroupBody]] = deque(maxlen=MOST_UNSENT)
        self._used: OrderedDict[bytes, int] = OrderedDict()

    def expire(self, now: Now) -> None:
        """Drop groups that nobody accepts any more."""
        self.shelf.expire(now.monotonic)

    def publish(self, group: Opened[GroupBody], links: Iterable[Link], now: Now) -> None:
        """Offer an own group to every link that knows its task, now or when credit allows."""
        with contextlib.suppress(Refused):  # if others fill the shelf, it is still offered
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
        """Queue own groups from this slot on for a new link. A visited peer, and one that dialled us, gets only the
        newest, as many as fit at once, because many of these come and go."""
        recent = [group for group in self._own if group.body.slot >= oldest_slot]
        is_passing = link.visit or link.dialled is None
        link.offer_later(recent[-int(limits.FIRST_GROUPS) :] if is_passing else recent)

    def offer(self, link: Link, now: Now) -> None:
        """Publish the newest unsent own groups of tasks that the peer knows, within its credit."""
        if link.is_being_asked(now.monotonic):
            return
        while link.unsent and link.session.is_open:
            room = min(limits.MAX_BATCH, len(link.unsent), self._room(link, now))
            least = min(link.session.groups_together, len(link.unsent))
            if room < least or link.session.room(now.monotonic) < _LEAST_FRAME:
                return
            batch = [link.unsent.pop() for _ in range(room)]
            while batch and not link.session.publish([group.envelope for group in batch], now.monotonic):
                # Packing takes time: halve the batch instead of removing one at a time.
                link.unsent.extend(batch.pop() for _ in range((len(batch) + 1) // 2))
            self._count_out(link, len(batch), now)
            if not batch:
                return

    def serve(self, link: Link, want: m.Want, now: Now) -> None:
        """Answer a WANT, with fewer groups if credit is short, or none if a key asks too often."""
        room = self._room(link, now)
        if link.quota is not None:
            room = min(room, link.quota.room_for_want(now.monotonic))
        entries = [entry for entry in sample(self.shelf, want, self._rng) if entry.name.author != link.key]
        groups = [_sourced(entry, self._own_key) for entry in entries]
        groups = groups[: max(0, room)] if link.session.room(now.monotonic) >= _LEAST_FRAME else []
        while not link.session.serve(want.ticket, groups, now.monotonic) and groups:
            del groups[len(groups) // 2 :]  # packing takes time: halve it instead of removing one at a time
        for entry in entries[: len(groups)]:
            if entry.name.author != self._own_key:
                self.use(entry.name.author)
        self._count_out(link, len(groups), now)

    def use(self, author: bytes) -> None:
        """Count one group of this author as forwarded or trained on, for its node's statistics."""
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


# The answer to a WANT is a random sample, different each time. The relays that received the groups from their authors
# take turns, under each its tags, under each its identities, all in random order; each turn of an identity gives a
# random group, until there are enough. So a relay gains nothing by naming many tags, nor a tag by many identities.


T = TypeVar("T")
_MOST_LOOKED_AT = 4096
"""Entries, over all relays; a WANT for something rare must not cost a search through everything."""
_LOOKED_AT_OF_ONE = 256
_MOST_HELD = 512
_HELD_OF_ONE = 128
"""Maximum entries hidden by the asker's filter. A node reports 256 (exchange.py); a filter that hides everything
would otherwise cost a hash for each entry."""


def sample(shelf: Pool, want: Want, rng: Random) -> list[Entry]:
    """At most `want.n` entries of the wanted tasks that the asker does not hold. `rng`: gives the seed of this
    sample."""
    tasks = {task for task in want.tasks if shelf.has_task(task)}
    if not tasks:
        return []
    # Entries that one relay names must not use up the search effort for the others'.
    among = max(1, len(shelf.relays))
    looks, held = max(_LOOKED_AT_OF_ONE, _MOST_LOOKED_AT // among), max(_HELD_OF_ONE, _MOST_HELD // among)
    drawn = Random(rng.getrandbits(64))  # the system's own source costs more than the whole search
    turns = _turns(
        _Walk(want, tasks, looks, held, drawn).relay(shelf.under(relay)) for relay in _shuffled(shelf.relays, drawn)
    )
    return list(islice(turns, want.n))


class _Walk:
    """Searches entries of one relay for a WANT; stops after enough entries, or enough held ones."""

    def __init__(self, want: Want, tasks: Collection[bytes], looks: int, held: int, rng: Random) -> None:
        self._tasks = tasks
        self._want = want
        self._looks = looks
        self._held = held
        self._rng = rng

    def relay(self, tags: Mapping[bytes, Mapping[bytes, Mapping[Name, Entry]]]) -> Iterator[Entry]:
        """The groups of one relay, taking its tags in turn."""
        return _turns(self._tag(tags[tag]) for tag in self._while_looking(tags))

    def _tag(self, authors: Mapping[bytes, Mapping[Name, Entry]]) -> Iterator[Entry]:
        """The groups of one tag, taking its identities in turn."""
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
    """The first of each queue, then the second of each, ... Queues are opened only at their turn: a WANT needs few
    of thousands of tags."""
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
    """In random order, shuffled only as far as needed."""
    left = list(items)
    while left:
        at = int(rng.random() * len(left))
        left[at], left[-1] = left[-1], left[at]
        yield left.pop()
