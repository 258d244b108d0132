"""What a node keeps of one link beside its session: whose it is, what went over it, what waits for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sapo_desktop.core.network.bucket import Bucket
from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.protocol import events, limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.envelope import GroupBody, Opened, StatsBody
from sapo_desktop.swarm.protocol.refusals import Refusals
from sapo_desktop.swarm.protocol.session import Session

MOST_UNSENT = 256
VISITS = b"visits"
_WANTS_AT_ONCE = 2.0


@dataclass(slots=True)
class Traffic:
    """What went over one link."""

    groups_in: int = 0
    groups_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    """Of frames; what TLS and TCP add is not counted."""

    def add(self, other: Traffic) -> None:
        self.groups_in += other.groups_in
        self.groups_out += other.groups_out
        self.bytes_in += other.bytes_in
        self.bytes_out += other.bytes_out


@dataclass(slots=True)
class Quota:
    """What several links under one key get of us together; as much as one fresh link alone."""

    wants: Bucket
    groups: Bucket

    @classmethod
    def fresh(cls, now: float) -> Quota:
        return cls(
            Bucket(_WANTS_AT_ONCE, 1 / limits.WANT_SECONDS, now),
            Bucket(limits.FIRST_GROUPS, limits.GROUPS_PER_SECOND, now),
        )

    def room_for_want(self, now: float) -> int:
        """Groups with which one more WANT may be answered; 0 where they come too often."""
        return int(self.groups.level(now)) if self.wants.take(1, now) else 0


@dataclass(eq=False, slots=True)
class Link:
    """A session and what the exchange knows beside."""

    session: Session
    part: bytes
    """Our name for the part of the internet that the peer is in; for ourselves."""
    tag: bytes = b""
    """What others are told of it: another name each day."""
    key: bytes = b""
    """The peer's, once it proved it."""
    told: m.Hello | None = None
    """What it said of itself, once it proved its key."""
    unsent: list[Opened[GroupBody]] = field(default_factory=list)
    """Own groups that this link was not offered yet, the oldest first."""
    goodbye: events.Closed | None = None
    dialled: Address | None = None
    """What we dialled; None where the peer did."""
    host: str = ""
    """The peer's IP address; where a proxy looked up a name, that name."""
    lan: bool = False
    """Whether one found the other on the local network."""
    opened: float = 0.0
    """Monotonic seconds."""
    traffic: Traffic = field(default_factory=Traffic)
    refused: Refusals = field(default_factory=Refusals)
    heard: float = float("-inf")
    """When the last frame came, monotonic seconds."""
    published: float = float("-inf")
    """When a group of the peer's own was last taken, monotonic seconds."""
    quota: Quota | None = None
    """Shared with the other links that prove this key."""
    twins_told: int = 1
    """Links under its key that the peer was told of."""
    twins_heard: int = 0
    """Links under our own key that the peer told us of."""
    tasks: frozenset[bytes] | None = None
    """Ids of the tasks that the peer knows; None where nobody knows that yet."""
    visit: bool = False
    """Whether it was made to meet somebody else (addresses/links.py)."""
    asked: bool = False
    """Whether it was asked for groups."""
    catalogue_due: float = 0.0
    """Until when its answer is waited for, monotonic seconds."""
    claim: StatsBody | None = None
    """The latest that the peer said of itself: for display only."""
    claim_due: float = 0.0
    """When it is told ours, monotonic seconds."""

    def knows(self, task: bytes) -> bool:
        """Whether the peer takes and has groups of this task, as far as it said."""
        return self.tasks is None or task in self.tasks

    def offer_later(self, groups: Iterable[Opened[GroupBody]]) -> None:
        """Have own groups wait, as the newest; of too many the oldest are not offered any more."""
        self.unsent.extend(groups)
        del self.unsent[:-MOST_UNSENT]

    def leave_unknown(self) -> None:
        """Offer no groups of tasks that the peer does not know."""
        self.unsent = [group for group in self.unsent if self.knows(group.body.task)]

    def leave_older(self, oldest_slot: int) -> None:
        """Offer no groups from before this slot: to a peer that takes few they would come when nobody takes them."""
        if any(group.body.slot < oldest_slot for group in self.unsent):
            self.unsent = [group for group in self.unsent if group.body.slot >= oldest_slot]

    def is_being_asked(self, now: float) -> bool:
        """Whether it may still answer which tasks it knows."""
        return self.tasks is None and now < self.catalogue_due

    @property
    def source(self) -> bytes:
        """What counts as one source of groups: a peer that we dialled, or found at home. Whoever dials us can do so
        under any number of keys, so of those all from one part of the internet. All that we visit are one: by their
        number they would leave little of a draw to those who stay."""
        if self.visit:
            return VISITS
        return self.key if self.dialled is not None or self.lan else b"in" + self.part
