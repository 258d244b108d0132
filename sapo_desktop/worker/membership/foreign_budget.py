"""What foreign work may cost the examiner: seconds a minute for each link and each identity, and what timed out.

Pure: time is an argument. Costs are known only afterwards, so a budget may be overdrawn by the group in hand, and
refuses the next ones until it is paid back. Nobody is punished: what is refused is only not looked at.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from sapo_desktop.core.network.bucket import Bucket
from sapo_desktop.swarm.pool.pool import Entry
from sapo_desktop.swarm.protocol.refusals import Reason

LINK_SECONDS, IDENTITY_SECONDS = 20.0, 10.0
"""Of the examiner's time, in a minute. An honest group costs some hundredths of a second."""
FORGET_SECONDS = 3600.0
"""For how long an author's groups of a task are left alone after one of them timed out."""
_MINUTE = 60.0
_MOST_LINKS, _MOST_IDENTITIES, _MOST_TIMED_OUT = 2000, 2000, 4096
"""The longest unused go first."""


class Cost(NamedTuple):
    """One marked group: whose, how many answers, and whether one of them ran out of time."""

    entry: Entry
    answers: int
    timed_out: bool


class ForeignBudget:
    """Budgets and memory of one intake. `now`: monotonic seconds."""

    def __init__(self) -> None:
        self._links = _Buckets(LINK_SECONDS, _MOST_LINKS)
        self._identities = _Buckets(IDENTITY_SECONDS, _MOST_IDENTITIES)
        self._timed_out: OrderedDict[tuple[bytes, bytes], float] = OrderedDict()
        """Author and task -> when it is forgotten."""

    def refuses(self, entry: Entry, now: float) -> Reason | None:
        """Why this group is not looked at, or None: TIMED_OUT (such a one did), BUSY (its budget is used up)."""
        if now < self._timed_out.get((entry.name.author, entry.name.task), -math.inf):
            return Reason.TIMED_OUT
        used_up = self._links.level(entry.path.link, now) <= 0 or self._identities.level(entry.name.author, now) <= 0
        return Reason.BUSY if used_up else None

    def spent(self, seconds: float, costs: Sequence[Cost], now: float) -> None:
        """Share out what one call to the examiner took.

        Where groups timed out the time was theirs: who shares a call with them must not pay for it.
        """
        payers = [cost for cost in costs if cost.timed_out] or list(costs)
        answers = sum(cost.answers for cost in payers)
        for cost in payers:
            share = seconds * cost.answers / answers if answers else 0.0
            self._links.charge(cost.entry.path.link, share, now)
            self._identities.charge(cost.entry.name.author, share, now)
            if cost.timed_out:
                self._remember((cost.entry.name.author, cost.entry.name.task), now)

    def _remember(self, name: tuple[bytes, bytes], now: float) -> None:
        self._timed_out[name] = now + FORGET_SECONDS
        self._timed_out.move_to_end(name)
        if len(self._timed_out) > _MOST_TIMED_OUT:
            self._timed_out.popitem(last=False)


class _Buckets:
    """A bucket of seconds for each key that was charged lately."""

    def __init__(self, seconds: float, most: int) -> None:
        self._seconds = seconds
        self._most = most
        self._buckets: OrderedDict[bytes, Bucket] = OrderedDict()

    def level(self, key: bytes, now: float) -> float:
        bucket = self._buckets.get(key)
        return self._seconds if bucket is None else bucket.level(now)

    def charge(self, key: bytes, seconds: float, now: float) -> None:
        """Take it, into debt if need be, but into no more debt than a minute pays back."""
        bucket = self._buckets.pop(key, None) or Bucket(self._seconds, self._seconds / _MINUTE, now)
        self._buckets[key] = bucket
        bucket.take(min(seconds, bucket.level(now) + self._seconds), now, slack=math.inf)
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
