"""Signed bodies: `[1, body, signature]`, where body is the msgpack exactly as its author signed it.

The body's own `type` must equal the signed label, so no kind of body passes for another. A body contains what its
author claims. The question, its right answer, scores and rewards are not included, because every receiver computes them
itself.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Generic, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from sapo_desktop.core.files.reading import UNREADABLE
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol.messages import Admission, Index, Key, Label, NetworkId, Number, Signature, TaskId
from sapo_desktop.swarm.protocol.refusals import Reason, Refused
from sapo_desktop.swarm.protocol.signing import Signer, verify
from sapo_desktop.swarm.trust.admission import Members

ENVELOPE_VERSION = 1
Instance: TypeAlias = Annotated[bytes, Meta(min_length=16, max_length=16)]
QuestionHash: TypeAlias = Annotated[bytes, Meta(min_length=8, max_length=8)]
Home: TypeAlias = Annotated[bytes, Meta(max_length=32)]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One answer as written."""

    text: str
    kind: Literal["model", "human"] = "model"
    tokens: Number = 0


class Body(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """Base of signed bodies. They include `network` and `key`, so that they can be verified wherever they are passed
    on."""

    network: NetworkId
    key: Key
    admission: Admission = b""
    """In a private swarm: proves that the author is a member."""

    @property
    def written(self) -> int:
        """Unix time of its creation, according to its author."""
        raise NotImplementedError


class GroupBody(Body, frozen=True, kw_only=True, tag="group"):
    """A reference to a question, and 1 to 16 answers to it."""

    instance: Instance
    """Random name of the author's data folder: two folders with one key never use an index twice."""
    task: TaskId
    slot: Number
    index: Index
    question: QuestionHash
    label: Label = ""
    home: Home = b""
    """Key of the only relay that may pass the group on to other relays; empty: any that its author published it to."""
    answers: Annotated[list[Answer], Meta(min_length=1, max_length=limits.MAX_ANSWERS)]

    @property
    def written(self) -> int:
        return self.slot * limits.SLOT_SECONDS


class StatsBody(Body, frozen=True, kw_only=True, tag="stats"):
    """A node's statistics about itself."""

    time: Number
    round: Number = 0
    reward: float = 0.0
    label: Label = ""
    used: Number = 0
    """Groups of the receiver that the sender forwarded or trained on since its start."""

    @property
    def written(self) -> int:
        return self.time


class PeerBody(Body, frozen=True, kw_only=True, tag="peer"):
    """The address of a node that opted in, valid for a day."""

    time: Number
    address: Annotated[str, Meta(min_length=1, max_length=255)]
    relay: bool = False

    @property
    def written(self) -> int:
        return self.time


BodyType = TypeVar("BodyType", bound=Body)


@dataclass(frozen=True)
class Opened(Generic[BodyType]):
    """A body with a valid signature, and the bytes it came in."""

    body: BodyType
    envelope: bytes

    @cached_property
    def digest(self) -> bytes:
        """Identifies exactly these bytes (32 bytes)."""
        return hashlib.sha256(self.envelope).digest()


_Parts: TypeAlias = tuple[int, Annotated[bytes, Meta(max_length=limits.MAX_FRAME)], Signature]
_PARTS: msgspec.msgpack.Decoder[_Parts] = msgspec.msgpack.Decoder(_Parts)
_ENCODER = msgspec.msgpack.Encoder()
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]")


_MOST_OF_A_SIGN = 4
"""Maximum bytes of a character in UTF-8."""


class _Author(msgspec.Struct, frozen=True):
    """The part of a body that is needed to check its signature."""

    key: Key


_AUTHOR: msgspec.msgpack.Decoder[_Author] = msgspec.msgpack.Decoder(_Author)


def seal(signer: Signer, body: Body, most: int = limits.MAX_GROUP) -> bytes:
    """Sign a body. Raises ValueError if others would not accept it. `most`: bytes of the envelope."""
    content = _ENCODER.encode(body)
    label = str(body.__struct_config__.tag)
    signature = signer.sign(label, body.network, content)
    envelope = _ENCODER.encode([ENVELOPE_VERSION, content, signature])
    try:
        open_envelope(envelope, type(body), body.network, most=most)
    except Refused as refused:
        raise ValueError(f"No peer would take this {label}: {refused}") from refused
    return envelope


def open_envelope(
    envelope: bytes,
    kind: type[BodyType],
    network: bytes,
    members: Members | None = None,
    most: int = limits.MAX_GROUP,
) -> Opened[BodyType]:
    """The body of an envelope. Its signature is checked first, so that later errors are its author's.

    `members`: of a private swarm, to which the author must have belonged when it wrote this. So all receivers judge
    alike, and nobody is blamed for passing on an admission that expired meanwhile. `most`: bytes.

    Raises:
        Refused: OVERSIZE, MALFORMED, BAD_SIGNATURE (the link's); BAD_BODY, OTHER_NETWORK, NOT_ADMITTED, BAD_TEXT (the
            author's).
    """
    if len(envelope) > most:
        raise Refused(Reason.OVERSIZE, f"{len(envelope)} bytes")
    try:
        version, content, signature = _PARTS.decode(envelope)
        key = _AUTHOR.decode(content).key
    except UNREADABLE as error:
        raise Refused(Reason.MALFORMED, str(error)) from error
    if version != ENVELOPE_VERSION:
        raise Refused(Reason.MALFORMED, f"envelope version {version}")
    if _ENCODER.encode([version, content, signature]) != envelope:
        # The signature does not cover these bytes; otherwise a forwarder could make a second version of a group, for
        # which its author would be blamed.
        raise Refused(Reason.MALFORMED, "an envelope that could be shorter")
    label = str(kind.__struct_config__.tag)
    if not verify(signature, key=key, label=label, network=network, content=content):
        raise Refused(Reason.BAD_SIGNATURE, "or made for another kind of body or network")
    try:
        return Opened(_checked(content, kind, network, members), envelope)
    except Refused as refused:
        refused.author = key
        raise


def opened_before(envelope: bytes, kind: type[BodyType]) -> BodyType:
    """The body of an envelope that `open_envelope` accepted: nothing is verified again."""
    _, content, _ = _PARTS.decode(envelope)
    return msgspec.msgpack.decode(content, type=kind)


def _checked(content: bytes, kind: type[BodyType], network: bytes, members: Members | None) -> BodyType:
    try:
        body = msgspec.msgpack.decode(content, type=kind)
    except UNREADABLE as error:
        raise Refused(Reason.BAD_BODY, str(error)) from error
    if body.network != network:
        raise Refused(Reason.OTHER_NETWORK)
    if members is not None:
        members.check(body.key, body.admission, body.written)
    if isinstance(body, GroupBody):
        _check_group(body)
    return body


def _check_group(body: GroupBody) -> None:
    if len(body.home) not in (0, 32):
        raise Refused(Reason.BAD_BODY, f"a home of {len(body.home)} bytes")
    for answer in body.answers:
        if not may_be_shared(answer.text):
            raise Refused(Reason.BAD_TEXT, "too long, or with control characters")


def may_be_shared(text: str) -> bool:
    """Whether a text may be an answer: 4 KiB in UTF-8, no control or bidirectional characters except line ends and
    tabs."""
    if _CONTROL.search(text):
        return False
    return len(text) <= limits.MAX_ANSWER // _MOST_OF_A_SIGN or len(text.encode("utf-8")) <= limits.MAX_ANSWER
