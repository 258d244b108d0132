"""The events of a session: these, and some of the peer's messages as they came.

A Want is answered with `Session.serve`, a PeersReq with `Session.give_peers`; the contents of Peers and Stats are not
checked yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from sapo_desktop.core.sentences import Text
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.refusals import Reason


@dataclass(frozen=True)
class Opened:
    """The peer proved its key; from now on everything may be sent."""

    hello: m.Hello
    """The received HELLO; its rotation is not checked yet."""


@dataclass(frozen=True)
class Published:
    """The peer's own groups, as envelopes that are not checked yet."""

    envelopes: list[bytes]


@dataclass(frozen=True)
class Served:
    """The answer to our WANT."""

    groups: list[m.Sourced]


@dataclass(frozen=True)
class SameKey:
    """According to the peer, so many links prove our key there."""

    links: int


@dataclass(frozen=True)
class RefusedMessage:
    """A message was refused; if that is the link's fault, it is already charged."""

    reason: Reason
    detail: Text


@dataclass(frozen=True)
class Asked:
    """A newcomer proved its key and asks to be admitted. The driver answers with `Session.close`."""

    key: bytes
    label: str


@dataclass(frozen=True)
class Closed:
    """Nothing more arrives or may be sent."""

    reason: str
    retry_after: float
    by_peer: bool
    admission: bytes = b""
    """What the peer says admits our key; nobody has looked into it yet."""


Event: TypeAlias = (
    Opened
    | Published
    | Served
    | SameKey
    | RefusedMessage
    | Asked
    | Closed
    | m.Want
    | m.Catalogue
    | m.PeersReq
    | m.Peers
    | m.Stats
)
