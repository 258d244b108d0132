"""What a session tells its driver: these, and some messages of the peer as they came.

A Want is answered with `Session.serve`, a PeersReq with `Session.give_peers`; nobody has looked yet into what is in
Peers and Stats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from sapo_desktop.core.sentences import Text
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.refusals import Reason


@dataclass(frozen=True)
class Opened:
    """The peer proved its key; from here on everything may be sent."""

    hello: m.Hello
    """As it came; nobody has looked into its rotation yet."""


@dataclass(frozen=True)
class Published:
    """The peer's own groups, as envelopes that nobody has looked into yet."""

    envelopes: list[bytes]


@dataclass(frozen=True)
class Served:
    """The answer to our WANT."""

    groups: list[m.Sourced]


@dataclass(frozen=True)
class SameKey:
    """So many links prove our key at the peer, if it says the truth."""

    links: int


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
    | Served
    | SameKey
    | RefusedMessage
    | Closed
    | m.Want
    | m.Catalogue
    | m.PeersReq
    | m.Peers
    | m.Stats
)
