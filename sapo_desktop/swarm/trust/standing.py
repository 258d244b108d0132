"""What is known about an identity: its age, how much it sends, how often it broke the rules. Local, never exchanged.

Standing is about form and rate, never about correctness: frequent mistakes are not lies. Identities are free, so none
is banned for long and none is trusted at once. The records are bounded, and a flood of new identities only pushes out
new ones.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from sapo_desktop.core.network.bucket import Bucket
from sapo_desktop.swarm.protocol.refusals import OF_THE_AUTHOR, Reason, Refused

GROUPS_AT_ONCE, GROUPS_PER_SECOND = 32.0, 1.0
"""Published by one identity over all its links; what we requested from others we limit ourselves."""
_SLACK = GROUPS_AT_ONCE / 4
"""Messages sent in time may be handled in bursts, because they wait for their turn."""
NEW_SECONDS = 24 * 3600.0
SHUT_OUT_SECONDS = 3600.0
_MOST_FAULTS, _FAULTS_PER_SECOND = 4.0, 1 / 900
_MOST_NEW, _MOST_KNOWN = 20_000, 20_000


@dataclass
class _Record:
    first_seen: float
    groups: Bucket
    faults: Bucket
    shut_out_until: float = field(default=float("-inf"))


class Standing:
    """Records by key. `now`: monotonic seconds; `unix_time`: for what survives a restart."""

    def __init__(self, first_seen: Mapping[bytes, float] | None = None) -> None:
        self._first_seen = dict(first_seen or {})
        """First times of identities not heard since the start; the least valuable first."""
        self._new: OrderedDict[bytes, _Record] = OrderedDict()
        self._known: OrderedDict[bytes, _Record] = OrderedDict()

    def admit(self, key: bytes, now: float, unix_time: float, *, published: bool) -> None:
        """Record one group of this identity, which it `published` to us itself, or which another peer had.

        Raises:
            Refused: SHUT_OUT after too many faults, FLOODING above its rate.
        """
        record = self._record(key, now, unix_time)
        if now < record.shut_out_until:
            raise Refused(Reason.SHUT_OUT)
        if published and not record.groups.take(1, now, slack=_SLACK):
            raise Refused(Reason.FLOODING)

    def stood_still(self, since: float, now: float) -> None:
        """We handled nothing since then: what identities could publish meanwhile may arrive at once."""
        for record in (*self._known.values(), *self._new.values()):
            record.groups.make_up(since, now)

    def charge(self, key: bytes, reason: Reason, now: float, unix_time: float) -> None:
        """A signed body of this identity broke the rules. Other reasons are not charged to an author."""
        if reason not in OF_THE_AUTHOR:
            return
        record = self._record(key, now, unix_time)
        if not record.faults.take(1, now):
            record.shut_out_until = now + SHUT_OUT_SECONDS

    def join(self, old: bytes, new: bytes, now: float, unix_time: float) -> None:
        """`old` became `new`: from now on both share one quota, and only the new one has the history; otherwise one
        key could give it to any number of others."""
        before, after = self._record(old, now, unix_time), self._record(new, now, unix_time)
        after.first_seen, before.first_seen = min(before.first_seen, after.first_seen), unix_time
        # The lower level of each; otherwise fresh "old" keys would erase faults.
        after.groups = before.groups = min(before.groups, after.groups, key=lambda bucket: bucket.level(now))
        after.faults = before.faults = min(before.faults, after.faults, key=lambda bucket: bucket.level(now))
        after.shut_out_until = before.shut_out_until = max(before.shut_out_until, after.shut_out_until)

    def is_shut_out(self, key: bytes, now: float) -> bool:
        record = self._known.get(key) or self._new.get(key)
        return record is not None and now < record.shut_out_until

    def is_new(self, key: bytes, unix_time: float) -> bool:
        """Whether it was first seen less than a day ago, or never."""
        record = self._known.get(key) or self._new.get(key)
        return record is None or unix_time - record.first_seen < NEW_SECONDS

    def first_seen(self, most: int) -> dict[bytes, float]:
        """What to keep for the next start, at most so many, the most valuable last: the earliest of the new ones, a
        fifth of all; those not heard since the start; those with a history, the latest active last."""
        new = sorted((record.first_seen, key) for key, record in self._new.items())[: most // 5]
        known = [*self._first_seen.items(), *((key, record.first_seen) for key, record in self._known.items())]
        return dict([*((key, since) for since, key in reversed(new)), *known[len(new) - most :]])

    def _record(self, key: bytes, now: float, unix_time: float) -> _Record:
        record = self._known.pop(key, None) or self._new.pop(key, None)
        if record is None:
            record = _Record(
                first_seen=min(unix_time, self._first_seen.pop(key, unix_time)),
                groups=Bucket(GROUPS_AT_ONCE, GROUPS_PER_SECOND, now),
                faults=Bucket(_MOST_FAULTS, _FAULTS_PER_SECOND, now),
            )
        old = unix_time - record.first_seen >= NEW_SECONDS
        records, most = (self._known, _MOST_KNOWN) if old else (self._new, _MOST_NEW)
        records[key] = record
        if len(records) > most:
            records.popitem(last=False)
        return record
