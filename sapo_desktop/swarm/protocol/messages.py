"""The messages of two peers: one msgpack map per frame, distinguished by its field `type`.

Fields are only added, with defaults; unknown fields and types of message are ignored. Everything with a length has a
limit here, so decoded messages are small. Signed content travels as the bytes that were signed (envelope.py).
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from sapo_desktop.swarm.protocol import limits

Key: TypeAlias = Annotated[bytes, Meta(min_length=32, max_length=32)]
NetworkId: TypeAlias = Annotated[bytes, Meta(min_length=32, max_length=32)]
TaskId: TypeAlias = Annotated[bytes, Meta(min_length=32, max_length=32)]
Hash32: TypeAlias = Annotated[bytes, Meta(min_length=32, max_length=32)]
Signature: TypeAlias = Annotated[bytes, Meta(min_length=64, max_length=64)]
Admission: TypeAlias = Annotated[bytes, Meta(max_length=limits.MAX_ADMISSION)]
"""Admits a key to a private swarm (admission.py); empty in the public one."""
Nonce: TypeAlias = Annotated[bytes, Meta(min_length=32, max_length=32)]
Ticket: TypeAlias = Annotated[bytes, Meta(min_length=16, max_length=16)]
"""Random, chosen by the asker and repeated in the answer."""
Tag: TypeAlias = Annotated[bytes, Meta(min_length=0, max_length=16)]
Number: TypeAlias = Annotated[int, Meta(ge=0, le=2**53)]
"""Every unsigned number in messages; other languages store them as doubles."""
Index: TypeAlias = Annotated[int, Meta(ge=0, lt=limits.SHARED_INDICES)]
Batch: TypeAlias = Annotated[bytes, Meta(max_length=limits.MAX_FRAME)]
Text: TypeAlias = Annotated[str, Meta(max_length=200)]
Label: TypeAlias = Annotated[str, Meta(max_length=64, pattern=r"\A[A-Za-z0-9._/-]*\Z")]

VERSION = 1
"""Version of the protocol. Only another major version of this module would speak another one."""
SUBPROTOCOL = f"sapo.v{VERSION}"


def _tag(name: str) -> str:
    """The name in messages: `CatalogueReq` becomes `catalogue_req`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


class Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag=_tag):
    """Base of every message."""


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """A newcomer's wish to be admitted to the private swarm (asking.py)."""

    label: Label = ""
    signature: Signature


class Hello(Message, frozen=True, kw_only=True):
    """First message of each side; the client's comes first."""

    versions: Annotated[list[Number], Meta(min_length=1, max_length=8)]
    """Supported major versions; the highest common one is used."""
    network: NetworkId
    key: Key
    nonce: Nonce
    time: Number
    """Unix time in seconds."""
    catalogue: Hash32
    """SHA-256 over the sorted task ids."""
    previous: Hash32 | None = None
    """The same for the previous catalogue, which is accepted for 30 days."""
    examiner: Annotated[bytes, Meta(max_length=32)] = b""
    """Fingerprint of library and scorers; explains questions that differ."""
    program: Annotated[str, Meta(max_length=64)] = ""
    """For display and statistics only."""
    admission: Admission = b""
    asks: Ask | None = None
    """A request of a client without an admission."""
    rotation: Annotated[bytes, Meta(max_length=128)] = b""
    """The key that this one recently replaced (rotation.py); empty: not stated."""


class Auth(Message, frozen=True, kw_only=True):
    """Proof that a side has the key it named: a signature over both HELLOs (handshake.py)."""

    signature: Signature


class CatalogueReq(Message, frozen=True, kw_only=True):
    """Asks for all task ids; once per link."""


class Catalogue(Message, frozen=True, kw_only=True):
    """All task ids of the sender."""

    tasks: Annotated[list[TaskId], Meta(max_length=limits.MAX_CATALOGUE)]


class Credit(Message, frozen=True, kw_only=True):
    """What the other side may send, if it differs from the protocol's own rate for each link."""

    links: Number = 0
    """How many links prove the receiver's key here and share one quota; 0: not stated."""
    ms_per_group: Number = 0
    """How many milliseconds the receiver's credit for one group takes to return from now on; more than the
    protocol's own 1,000 if the sender is overloaded. 0: neither this nor the next field is stated."""
    together: Number = 0
    """How many groups the receiver should put into one PUBLISH if so many wait or will; 0: as it likes."""


class Publish(Message, frozen=True, kw_only=True):
    """The sender's own groups: zlib over a msgpack list of 1 to 16 envelopes."""

    batch: Batch


class Want(Message, frozen=True, kw_only=True):
    """Asks for a sample of `n` groups of these tasks."""

    ticket: Ticket
    n: Annotated[int, Meta(ge=1, le=limits.MAX_BATCH)] = limits.MAX_BATCH
    tasks: Annotated[list[TaskId], Meta(max_length=limits.MAX_WANTED_TASKS)] = []
    held: Annotated[bytes, Meta(max_length=limits.MAX_FILTER)] = b""
    """Bloom filter of digests that need not be sent (held_filter.py)."""


class Sourced(msgspec.Struct, frozen=True, kw_only=True):
    """A group with its origin as the server states it."""

    envelope: Annotated[bytes, Meta(max_length=limits.MAX_GROUP)]
    relay: Annotated[bytes, Meta(max_length=32)] = b""
    """Key of the relay that received it from its author; empty: the sender of this message."""
    tag: Tag = b""
    """The relay's name for the author's network; meaningless to others."""


class Groups(Message, frozen=True, kw_only=True):
    """The answer to a WANT: zlib over a msgpack list of 0 to 16 Sourced maps."""

    ticket: Ticket
    batch: Batch


class PeersReq(Message, frozen=True, kw_only=True):
    """Asks for addresses of nodes that opted in."""


class Peers(Message, frozen=True, kw_only=True):
    """Signed records, one envelope each."""

    records: Annotated[
        list[Annotated[bytes, Meta(max_length=limits.KIB)]],
        Meta(max_length=limits.MAX_RECORDS),
    ]


class Stats(Message, frozen=True, kw_only=True):
    """Signed statistics about oneself: shown, never used."""

    envelope: Annotated[bytes, Meta(max_length=limits.MAX_STATS)]


class Ping(Message, frozen=True, kw_only=True):
    """Asks for a PONG with the same number."""

    number: Number = 0


class Pong(Message, frozen=True, kw_only=True):
    number: Number = 0


class Goodbye(Message, frozen=True, kw_only=True):
    """The last message: the reason, and after how many seconds to come back (0: any time)."""

    reason: Text
    retry_after: Number = 0
    admission: Admission = b""
    """What admits the receiver's key, where it asked for that."""


Any: TypeAlias = (
    Hello
    | Auth
    | CatalogueReq
    | Catalogue
    | Credit
    | Publish
    | Want
    | Groups
    | PeersReq
    | Peers
    | Stats
    | Ping
    | Pong
    | Goodbye
)
