"""What a peer may cost: sizes, counts and rates of the protocol.

The numbers are part of the protocol (docs/protocol.md): a peer that keeps to them is never refused for them. Left out:
which characters an answer may contain (tasks/charset.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from sapo_desktop.core.network.bucket import Bucket

KIB = 1024

MAX_FRAME = 64 * KIB
SEND_QUEUE = 64 * KIB
"""Per link; while it is full, nothing optional is added."""
MAX_HELLO = 2 * KIB
MAX_STATS = 512
MAX_ADMISSION = 128
"""For the proof of a member of a private swarm; 72 are used."""
MAX_GROUP = 24 * KIB
GROUP_OVERHEAD = 2 * KIB
"""Enough for everything in a group except the texts of its answers."""
MAX_ANSWER = 4 * KIB
MAX_ANSWERS = 16
MAX_BATCH = 16
"""Groups in one PUBLISH or GROUPS, and the maximum for one WANT."""
MAX_UNPACKED = 512 * KIB
"""Bytes of a batch after decompression."""
MAX_WANTED_TASKS = 64
MAX_FILTER = 2 * KIB
MAX_RECORDS = 16
MAX_CATALOGUE = 1000
"""Task ids in one CATALOGUE; with 34 bytes each they fit into a frame."""

HANDSHAKE_SECONDS = 10.0
IDLE_SECONDS = 45.0
"""After this silence a PING is sent."""
DEAD_SECONDS = 120.0
"""After this silence a link is closed."""
WANT_SECONDS = 5.0
PEERS_SECONDS = 600.0
STATS_SECONDS = 60.0
PING_SECONDS = 10.0
"""Minimum time between two PINGs of one side."""
TELL_LINKS_SECONDS = 60.0
"""Between two CREDITs that report how many links prove the peer's key."""
OTHERS_SECONDS = 2.0
"""For messages without their own limit, including unknown ones."""

FIRST_GROUPS, GROUPS_PER_SECOND = 32.0, 1.0
FIRST_BYTES, BYTES_PER_SECOND = 256.0 * KIB, 8.0 * KIB
"""Credit of a new link, each way, and its growth."""
FASTEST_MS, SLOWEST_MS = 1000, 60_000
"""Bounds for the time between two groups of a link, if a relay limits it; values outside are clamped."""
PACED_GROUPS = 8.0
"""The minimum that a link may save up, however low its rate."""

SLOT_SECONDS = 600
OLDEST_SLOT, NEWEST_SLOT = -6, 1
"""Accepted slots, relative to our corrected clock."""
MOST_CLOCK_ERROR = 1200.0
SHARED_INDICES = 64


@dataclass(slots=True)
class Allowance:
    """Groups and bytes that one side may send."""

    groups: Bucket
    bytes: Bucket

    @classmethod
    def fresh(cls, now: float) -> Allowance:
        return cls(
            Bucket(FIRST_GROUPS, GROUPS_PER_SECOND, now),
            Bucket(FIRST_BYTES, BYTES_PER_SECOND, now),
        )

    def slow(self, ms_per_group: int, now: float) -> float:
        """From now on one group per so many milliseconds, with as many seconds' worth saved up as before. Returns
        the resulting share of the protocol's own rate."""
        share = FASTEST_MS / min(SLOWEST_MS, max(FASTEST_MS, ms_per_group))
        self.groups.turn(max(PACED_GROUPS, share * FIRST_GROUPS), share * GROUPS_PER_SECOND, now)
        return share
