"""Our clock, corrected by what the peers say at HELLO; and which slots that makes acceptable.

The median over the links that we dialled: half of them would have to lie together to move it, and never by more than
twenty minutes. Who dials us costs nothing, so those have a say only where there are no others, and of one part of the
internet together one.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol.refusals import Reason, Refused


@dataclass(frozen=True)
class Now:
    """One instant on both clocks: monotonic seconds, Unix seconds."""

    monotonic: float
    unix: float


class Clock:
    """Offsets of the peers' clocks by link."""

    def __init__(self) -> None:
        self._dialled: dict[bytes, float] = {}
        self._dialling: dict[bytes, float] = {}
        self._median = 0.0
        """Of those that count: a relay asks for it with each group, and has 2,000 links."""

    def heard(self, voter: bytes, theirs: float, ours: float, *, dialled: bool = True) -> None:
        """A HELLO said `theirs` when our own clock showed `ours` (Unix seconds). `voter`: the peer's key where we
        dialled it, else our name for its part of the internet."""
        (self._dialled if dialled else self._dialling)[voter] = theirs - ours
        self._reckon()

    def closed(self, voter: bytes, *, dialled: bool = True) -> None:
        if (self._dialled if dialled else self._dialling).pop(voter, None) is not None:
            self._reckon()

    def _reckon(self) -> None:
        offsets = self._dialled or self._dialling
        self._median = statistics.median(offsets.values()) if offsets else 0.0

    @property
    def offset(self) -> float:
        """Seconds to add to our clock; 0 where the peers disagree with it by more than twenty minutes."""
        return 0.0 if self.is_wrong else self._median

    @property
    def is_wrong(self) -> bool:
        """Whether the peers disagree by so much that a person should look at the clock."""
        return abs(self._median) > limits.MOST_CLOCK_ERROR

    def slot(self, unix_time: float) -> int:
        """The slot of now, by the corrected clock."""
        return int((unix_time + self.offset) // limits.SLOT_SECONDS)

    def check(self, slot: int, unix_time: float) -> None:
        """Refused (TOO_OLD, TOO_NEW) unless groups of this slot are taken now."""
        age = slot - self.slot(unix_time)
        if age < limits.OLDEST_SLOT:
            raise Refused(Reason.TOO_OLD, f"{-age} slots")
        if age > limits.NEWEST_SLOT:
            raise Refused(Reason.TOO_NEW, f"{age} slots")
