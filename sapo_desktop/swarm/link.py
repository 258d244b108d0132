"""What a node keeps about one link besides its session: the peer, the traffic, and what waits for it."""

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
    """The traffic of one link."""

    groups_in: int = 0
    groups_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    """Bytes of frames, without the overhead of TLS and TCP."""

    def add(self, other: Traffic) -> None:
        self.groups_in += other.groups_in
        self.groups_out += other.groups_out
        self.bytes_in += other.bytes_in
        self.bytes_out += other.bytes_out


@dataclass(slots=True)
class Quota:
    """What several links under one key get from us together: as much as one new link."""

    wants: Bucket
    groups: Bucket

    @classmethod
    def fresh(cls, now: float) -> Quota:
        return cls(
            Bucket(_WANTS_AT_ONCE, 1 / limits.WANT_SECONDS, now),
            Bucket(limits.FIRST_GROUPS, limits.GROUPS_PER_SECOND, now),
        )

    def room_for_want(self, now: float) -> int:
        """Groups available for one more WANT; 0 if they come too often."""
        return int(self.groups.level(now)) if self.wants.take(1, now) else 0


@dataclass(eq=False, slots=True)
class Link:
    """A session and the exchange's knowledge about its peer."""

    session: Session
    part: bytes
    """Our own name of the peer's network, for internal use."""
    tag: bytes = b""
    """The name that others get for it, which changes daily."""
    key: bytes = b""
    """The peer's key, once it was proven."""
    hello: m.Hello | None = None
    """The peer's HELLO, once its key was proven."""
    unsent: list[Opened[GroupBody]] = field(default_factory=list)
    """Own groups that this link was not offered yet, oldest first."""
    goodbye: events.Closed | None = None
    dialled: Address | None = None
    """The address that we dialled; None if the peer dialled us."""
    host: str = ""
    """The peer's IP address; or a name, if a proxy resolved it."""
    lan: bool = False
    """Whether one found the other on the local network."""
    opened: float = 0.0
    """Monotonic seconds."""
    traffic: Traffic = field(default_factory=Traffic)
    refused: Refusals = field(default_factory=Refusals)
    heard: float = float("-inf")
    """When the last frame arrived, monotonic seconds."""
    published: float = float("-inf")
    """When the last own group of the peer was accepted, monotonic seconds."""
    quota: Quota | None = None
    """Shared with the other links that prove this key."""
    twins_sent: int = 1
    """The number of links under its key that the peer was last sent."""
    twins_heard: int = 0
    """The number of links under our key that the peer last reported."""
    tasks: frozenset[bytes] | None = None
    """Ids of the tasks that the peer knows; None while unknown."""
    visit: bool = False
    """Whether it was made to meet another network (addresses/links.py)."""
    asked: bool = False
    """Whether it was asked for groups."""
    catalogue_due: float = 0.0
    """Until when to wait for its answer, monotonic seconds."""
    claim: StatsBody | None = None
    """The peer's latest statistics about itself: for display only."""
    claim_due: float = 0.0
    """When our statistics are due, monotonic seconds."""

    def knows(self, task: bytes) -> bool:
        """Whether the peer accepts and has groups of this task, as far as it said."""
        return self.tasks is None or task in self.tasks

    def offer_later(self, groups: Iterable[Opened[GroupBody]]) -> None:
        """Queue own groups as the newest; if there are too many, the oldest are dropped."""
        self.unsent.extend(groups)
        del self.unsent[:-MOST_UNSENT]

    def leave_unknown(self) -> None:
        """Drop queued groups of tasks that the peer does not know."""
        self.unsent = [group for group in self.unsent if self.knows(group.body.task)]

    def leave_older(self, oldest_slot: int) -> None:
        """Drop queued groups from before this slot: a slow peer would get them too late for anybody to accept."""
        if any(group.body.slot < oldest_slot for group in self.unsent):
            self.unsent = [group for group in self.unsent if group.body.slot >= oldest_slot]

    def is_being_asked(self, now: float) -> bool:
        """Whether its list of tasks is still pending."""
        return self.tasks is None and now < self.catalogue_due

    @property
    def source(self) -> bytes:
        """What counts as one source of groups: a peer that we dialled or found locally. Peers that dial us can use
        any number of keys, so all from one network are one source. All visited peers are one source, because their
        number would leave little of a draw to those that stay."""
        if self.visit:
            return VISITS
        return self.key if self.dialled is not None or self.lan else b"in" + self.part
