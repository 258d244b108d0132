"""Our clock, corrected by what peers report in HELLO, and the slots that are therefore acceptable.

The median of the dialled peers decides: half of them would have to lie together to move it, and never by more than
twenty minutes. Peers that dial us are free to create and do not count. Without dialled peers, as on most relays, our
own clock counts until many networks dial in and three quarters of them agree that it is wrong; each network has one
vote.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol.refusals import Reason, Refused

MANY_NETWORKS = 16
"""Number of networks (IPv4 /24, IPv6 /48) that must dial in before they can correct our clock together."""
WORTH_SAYING = 120.0
"""Seconds by which a clock may be wrong without a remark."""


@dataclass(frozen=True)
class Now:
    """One moment on both clocks: monotonic seconds, Unix seconds."""

    monotonic: float
    unix: float


class Clock:
    """Offsets of the peers' clocks by link."""

    def __init__(self) -> None:
        self._dialled: dict[bytes, float] = {}
        self._dialling: dict[bytes, float] = {}
        self._agreed = 0.0
        """The agreed offset, cached: a relay needs it for each group, and has 2,000 links."""

    def heard(self, voter: bytes, theirs: float, ours: float, *, dialled: bool = True) -> None:
        """A HELLO reported `theirs` when our own clock showed `ours` (Unix seconds). `voter`: the peer's key if we
        dialled it, otherwise our name of its network."""
        (self._dialled if dialled else self._dialling)[voter] = theirs - ours
        self._reckon()

    def closed(self, voter: bytes, *, dialled: bool = True) -> None:
        """Forget a voter without any link."""
        if (self._dialled if dialled else self._dialling).pop(voter, None) is not None:
            self._reckon()

    def _reckon(self) -> None:
        if self._dialled:
            self._agreed = statistics.median(self._dialled.values())
        elif len(self._dialling) >= MANY_NETWORKS:
            low, _, high = statistics.quantiles(self._dialling.values(), n=4, method="inclusive")
            self._agreed = max(low, 0.0) + min(high, 0.0)
        else:
            self._agreed = 0.0

    @property
    def offset(self) -> float:
        """Seconds to add to our clock; 0 if the peers differ from it by more than twenty minutes."""
        return 0.0 if self.is_wrong else self._agreed

    @property
    def contradicting(self) -> int:
        """How many of the networks that dial in differ by more than two minutes from our corrected clock; 0 unless
        they are more than half."""
        far = sum(abs(offset - self.offset) > WORTH_SAYING for offset in self._dialling.values())
        return far if 2 * far > len(self._dialling) else 0

    @property
    def is_wrong(self) -> bool:
        """Whether the peers differ so much that a person should check the clock."""
        return abs(self._agreed) > limits.MOST_CLOCK_ERROR

    def slot(self, unix_time: float) -> int:
        """The current slot by the corrected clock."""
        return int((unix_time + self.offset) // limits.SLOT_SECONDS)

    def check(self, slot: int, unix_time: float) -> None:
        """Raise Refused (TOO_OLD, TOO_NEW) unless groups of this slot are acceptable now."""
        age = slot - self.slot(unix_time)
        if age < limits.OLDEST_SLOT:
            raise Refused(Reason.TOO_OLD, f"{-age} slots")
        if age > limits.NEWEST_SLOT:
            raise Refused(Reason.TOO_NEW, f"{age} slots")
