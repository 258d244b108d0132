"""What a session tells its driver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from sapo_desktop.core.sentences import Text
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.refusals import Reason


@dataclass(frozen=True)
class Opened:
    """The peer proved its key; from here on everything may be sent."""

    key: bytes
    version: int
    catalogue: bytes
    previous: bytes | None
    examiner: bytes
    program: str
    time: int
    """The peer's Unix time as its HELLO said."""
    rotation: bytes = b""
    """What it says of the key that it was before; nobody has looked into it yet."""


@dataclass(frozen=True)
class Published:
    """The peer's own groups, as envelopes that nobody has looked into yet."""

    envelopes: list[bytes]


@dataclass(frozen=True)
class Wanted:
    """The peer asks for groups; answer with `Session.serve`."""

    want: m.Want


@dataclass(frozen=True)
class Served:
    """The answer to our WANT."""

    groups: list[m.Sourced]


@dataclass(frozen=True)
class SameKey:
    """So many links prove our key at the peer, if it says the truth."""

    links: int


@dataclass(frozen=True)
class CatalogueHeard:
    """All task ids of the peer."""

    tasks: list[bytes]


@dataclass(frozen=True)
class PeersWanted:
    """The peer asks for addresses; answer with `Session.give_peers`."""


@dataclass(frozen=True)
class PeersHeard:
    """Addresses, as envelopes that nobody has looked into yet."""

    records: list[bytes]


@dataclass(frozen=True)
class StatsHeard:
    """A claim of the peer, as an envelope."""

    envelope: bytes


@dataclass(frozen=True)
class RefusedMessage:
    """A message was not taken; already charged to the link where it is the link's fault."""

    reason: Reason
    detail: Text


@dataclass(frozen=True)
class Closed:
    """Nothing more comes, and nothing more may be sent."""

    reason: str
    retry_after: float
    by_peer: bool


Event: TypeAlias = (
    Opened
    | Published
    | Wanted
    | Served
    | SameKey
    | CatalogueHeard
    | PeersWanted
    | PeersHeard
    | StatsHeard
    | RefusedMessage
    | Closed
)
