"""Groups from others that wait to be drawn: bounded in bytes, in age, and per source.

A group is stored under its path, link -> origin relay -> tag -> identity. Only the link is known; the peer claims the
rest, which therefore only divides the link's share. If room is short, the oldest group of the largest identity of the
largest relay and tag of the largest link is dropped. Envelopes are stored as received: peers get the same bytes, and
parsed bodies would take more memory. No question is made and no answer is scored here.
"""

from __future__ import annotations

import heapq
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from typing import NamedTuple

import msgspec

from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol.envelope import GroupBody, Opened, opened_before
from sapo_desktop.swarm.protocol.refusals import Reason, Refused

POOL_BYTES = 64 * limits.KIB * limits.KIB
IDENTITY_BYTES = 64 * limits.KIB
OVERHEAD = 600
"""Memory of Python and the indices per envelope, counted so that the budget is one of memory."""
LIFETIME = (1 - limits.OLDEST_SLOT) * limits.SLOT_SECONDS
_MOST_SEEN = 200_000


class Path(NamedTuple):
    """How a group arrived."""

    link: bytes
    """Our source: Link.source."""
    relay: bytes
    """Key of the relay that first received it from its author, according to the sender; our own if the author sent
    it."""
    tag: bytes
    """The relay's name for the author's network. Others get a name that changes daily."""
    lan: bool = False
    """Whether the link is on the local network."""
    examiner: bytes = b""
    """The library that the peer uses for questions, as it says; explains questions that differ here."""


class Name(msgspec.Struct, frozen=True, order=True, gc=False):
    """What may be published once: one question, whatever instance its author names."""

    author: bytes
    slot: int
    task: bytes
    index: int


class Entry(NamedTuple):
    """One group in the pool."""

    name: Name
    path: Path
    envelope: bytes
    digest: bytes
    received: float

    @property
    def size(self) -> int:
        """Its memory in bytes."""
        return len(self.envelope) + OVERHEAD

    @property
    def body(self) -> GroupBody:
        """Its content. `Pool.add` takes only verified groups, so nothing is verified again."""
        return opened_before(self.envelope, GroupBody)


class Pool:
    """Everything received and not yet drawn.

    `own_key`: groups that claim to be ours are refused. `roomy`: a key that is limited only by the whole budget.
    """

    def __init__(self, own_key: bytes, most_bytes: int = POOL_BYTES, *, roomy: bytes | None = None) -> None:
        self._own_key = own_key
        self._roomy = roomy
        self._most_bytes = most_bytes
        self._entries: dict[Name, Entry] = {}
        self._by_identity: dict[bytes, dict[Name, Entry]] = defaultdict(dict)
        self._by_relay: dict[bytes, dict[bytes, dict[bytes, dict[Name, Entry]]]] = {}
        """Relay -> tag -> author -> entries, so that a WANT is answered without a full search."""
        self._tasks: Counter[bytes] = Counter()
        self._bytes_of: defaultdict[bytes, int] = defaultdict(int)
        # Ordered: old entries leave all the time, and finding a plain dict's first entry takes ever longer.
        self._seen: OrderedDict[Name, tuple[bytes, float]] = OrderedDict()
        """Digest of the first body under a name, and its arrival; also for groups that were drawn or dropped since."""
        self._instances: OrderedDict[tuple[bytes, int], tuple[bytes, float]] = OrderedDict()
        """Author and slot -> the first instance seen, and when."""
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    @property
    def relays(self) -> Collection[bytes]:
        """Keys of the relays that received the entries from their authors."""
        return self._by_relay.keys()

    def under(self, relay: bytes) -> Mapping[bytes, Mapping[bytes, Mapping[Name, Entry]]]:
        """The entries of a relay, by tag and author."""
        return self._by_relay.get(relay, {})

    def has_task(self, task: bytes) -> bool:
        return self._tasks[task] > 0

    def stock(self, most_of_one: int, tasks: Collection[bytes]) -> Counter[bytes]:
        """Available groups of these tasks by link, counting at most so many of each identity."""
        identities = self._by_identity.values()
        wanted = ((entry for name, entry in groups.items() if name.task in tasks) for groups in identities)
        return Counter(entry.path.link for entries in wanted for entry in islice(entries, most_of_one))

    def add(self, group: Opened[GroupBody], path: Path, now: float) -> Entry:
        """Store a group whose signature is valid and whose slot is acceptable.

        Raises:
            Refused: OWN_ECHO, OTHER_INSTANCE (its author's groups of this slot came from another), DUPLICATE (these
                bytes came before), SECOND_BODY (others under this name did), POOL_FULL (its source holds its share).
        """
        body = group.body
        name = Name(body.key, body.slot, body.task, body.index)
        if body.key == self._own_key:
            raise Refused(Reason.OWN_ECHO)
        if self._instance(body, now) != body.instance:
            raise Refused(Reason.OTHER_INSTANCE)
        before = self._seen.get(name)
        if before is not None:
            raise Refused(Reason.DUPLICATE if before[0] == group.digest else Reason.SECOND_BODY)
        self._remember(name, group.digest, now)
        entry = Entry(name, path, group.envelope, group.digest, now)
        while self._bytes_of[body.key] + entry.size > IDENTITY_BYTES and body.key != self._roomy:
            self._remove(next(iter(self._by_identity[body.key].values())))
        self._insert(entry)
        self._make_room(now)
        if name not in self._entries:
            self._seen.pop(name, None)  # it may come again
            raise Refused(Reason.POOL_FULL, "its source holds its share")
        return entry

    def take(self, names: Collection[Name]) -> list[Entry]:
        """Remove and return entries for use; missing ones are left out."""
        taken = [self._entries[name] for name in names if name in self._entries]
        for entry in taken:
            self._remove(entry)
        return taken

    def expire(self, now: float) -> int:
        """Drop what is too old to be drawn; returns the number of groups."""
        # In order of arrival, so the first young one ends it.
        old = list(takewhile(lambda entry: now - entry.received > LIFETIME, self._entries.values()))
        for entry in old:
            self._remove(entry)
        for name in list(takewhile(lambda name: now - self._seen[name][1] > LIFETIME, self._seen)):
            del self._seen[name]
        for one in list(takewhile(lambda one: now - self._instances[one][1] > LIFETIME, self._instances)):
            del self._instances[one]
        return len(old)

    def _instance(self, body: GroupBody, now: float) -> bytes:
        """Which of its author's instances counts for that slot: the first seen."""
        first, _ = self._instances.setdefault((body.key, body.slot), (body.instance, now))
        if len(self._instances) > _MOST_SEEN:
            self._instances.popitem(last=False)
        return first

    def _remember(self, name: Name, digest: bytes, now: float) -> None:
        self._seen[name] = (digest, now)
        if len(self._seen) > _MOST_SEEN:
            self._seen.popitem(last=False)

    def _insert(self, entry: Entry) -> None:
        author = entry.name.author
        self._entries[entry.name] = entry
        self._by_identity[author][entry.name] = entry
        tags = self._by_relay.setdefault(entry.path.relay, {})
        tags.setdefault(entry.path.tag, {}).setdefault(author, {})[entry.name] = entry
        self._tasks[entry.name.task] += 1
        self._bytes_of[author] += entry.size
        self.bytes += entry.size

    def _remove(self, entry: Entry) -> None:
        author = entry.name.author
        del self._entries[entry.name]
        mine = self._by_identity[author]
        del mine[entry.name]
        self._forget_place(entry)
        self.bytes -= entry.size
        self._bytes_of[author] -= entry.size
        if not mine:
            del self._by_identity[author]
            del self._bytes_of[author]

    def _forget_place(self, entry: Entry) -> None:
        tags = self._by_relay[entry.path.relay]
        authors = tags[entry.path.tag]
        del authors[entry.name.author][entry.name]
        if not authors[entry.name.author]:
            del authors[entry.name.author]
        if not authors:
            del tags[entry.path.tag]
        if not tags:
            del self._by_relay[entry.path.relay]
        self._tasks[entry.name.task] -= 1

    def _make_room(self, now: float) -> None:
        """Drop groups to slightly below the budget, so that a full pool is not sorted for every group."""
        if self.bytes > self._most_bytes:
            self.expire(now)
        if self.bytes <= self._most_bytes:
            return
        wanted = self._most_bytes - self._most_bytes // 16
        links = _by(self._entries.values(), lambda entry: entry.path.link)
        share = fair_share([_size(rows) for rows in links], wanted)
        # The largest first, and no more than needed: if a share is smaller than a group, all exceed it.
        for rows in sorted(links, key=_size, reverse=True):
            if self.bytes <= wanted:
                return
            self._shrink_link(rows, max(int(share), _size(rows) - (self.bytes - wanted)))

    def _shrink_link(self, entries: list[Entry], most: int) -> None:
        """Drop groups of one link; each relay and tag that its peer names has its share."""
        size = _size(entries)
        places = _by(entries, lambda entry: (entry.path.relay, entry.path.tag))
        share = fair_share([_size(rows) for rows in places], most)
        for rows in sorted(places, key=_size, reverse=True):
            if size <= most:
                return
            of_place = _size(rows)
            size -= self._shrink(
                _by(rows, lambda entry: entry.name.author), of_place, max(share, of_place - (size - most))
            )

    def _shrink(self, identities: list[list[Entry]], size: int, share: float) -> int:
        """Drop the oldest group of the largest holder until all hold at most `share`; returns the freed bytes."""
        before = size
        queue = [(-sum(entry.size for entry in rows), n) for n, rows in enumerate(identities)]
        heapq.heapify(queue)
        while size > share:
            negative, n = heapq.heappop(queue)
            oldest = identities[n].pop(0)
            self._remove(oldest)
            size -= oldest.size
            if identities[n]:
                heapq.heappush(queue, (negative + oldest.size, n))
        return before - size


def _by(entries: Iterable[Entry], key: Callable[[Entry], object]) -> list[list[Entry]]:
    """The entries grouped by key, in order of arrival."""
    found: defaultdict[object, list[Entry]] = defaultdict(list)
    for entry in entries:
        found[key(entry)].append(entry)
    return list(found.values())


def _size(entries: Iterable[Entry]) -> int:
    return sum(entry.size for entry in entries)


def fair_share(held: Sequence[int], budget: int) -> float:
    """The share at which `sum(min(h, share)) == budget` (water-filling); infinity if everything fits."""
    left = float(budget)
    for place, size in enumerate(ordered := sorted(held)):
        share = left / (len(ordered) - place)
        if size > share:
            return share
        left -= size
    return float("inf")
