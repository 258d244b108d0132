"""Frames to messages and back, batches to their parts and back.

Everything that a peer sends becomes a message or raises `Refused`.
"""

from __future__ import annotations

import zlib
from typing import Annotated, Any, TypeVar, get_args

import msgspec
from msgspec import Meta

from sapo_desktop.core.files.reading import UNREADABLE
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.refusals import Reason, Refused

T = TypeVar("T")


class _Type(msgspec.Struct, frozen=True):
    type: str


_TYPE: msgspec.msgpack.Decoder[_Type] = msgspec.msgpack.Decoder(_Type)
_DECODERS: dict[str, msgspec.msgpack.Decoder[Any]] = {
    str(kind.__struct_config__.tag): msgspec.msgpack.Decoder(kind) for kind in get_args(m.Any)
}
_ENCODER = msgspec.msgpack.Encoder()
_Envelope = Annotated[bytes, Meta(max_length=limits.MAX_GROUP)]
_ENVELOPES: msgspec.msgpack.Decoder[list[bytes]] = msgspec.msgpack.Decoder(
    Annotated[list[_Envelope], Meta(min_length=1, max_length=limits.MAX_BATCH)]
)
_SOURCED: msgspec.msgpack.Decoder[list[m.Sourced]] = msgspec.msgpack.Decoder(
    Annotated[list[m.Sourced], Meta(max_length=limits.MAX_BATCH)]
)


def encode(message: m.Any) -> bytes:
    """Encode one frame. Raises ValueError if it is larger than any peer accepts, which is the caller's mistake."""
    frame = _ENCODER.encode(message)
    if len(frame) > limits.MAX_FRAME:
        raise ValueError(f"A {type(message).__name__} of {len(frame)} bytes does not fit a frame.")
    return frame


def decode(frame: bytes) -> m.Any:
    """The message in a frame.

    Raises:
        Refused: OVERSIZE, NOT_A_MESSAGE (no msgpack map with a type), UNKNOWN_MESSAGE, MALFORMED.
    """
    if len(frame) > limits.MAX_FRAME:
        raise Refused(Reason.OVERSIZE, f"{len(frame)} bytes")
    try:
        name = _TYPE.decode(frame).type
    except UNREADABLE as error:
        raise Refused(Reason.NOT_A_MESSAGE, str(error)) from error
    decoder = _DECODERS.get(name)
    if decoder is None:
        raise Refused(Reason.UNKNOWN_MESSAGE, name[:40])
    try:
        message: m.Any = decoder.decode(frame)
    except UNREADABLE as error:
        raise Refused(Reason.MALFORMED, str(error)) from error
    return message


_FASTEST = 1
"""zlib's level: a fifth of the default's time for a tenth more bytes, on relays that pack hundreds per second."""


def pack_published(envelopes: list[bytes]) -> bytes:
    """The batch of a PUBLISH."""
    return zlib.compress(_ENCODER.encode(envelopes), _FASTEST)


def unpack_published(batch: bytes) -> list[bytes]:
    """The envelopes of a PUBLISH, 1 to 16 of at most 24 KiB. Raises Refused: BAD_BATCH."""
    return _parts(batch, _ENVELOPES)


def pack_sourced(groups: list[m.Sourced]) -> bytes:
    """The batch of a GROUPS."""
    return zlib.compress(_ENCODER.encode(groups), _FASTEST)


def unpack_sourced(batch: bytes) -> list[m.Sourced]:
    """The parts of a GROUPS, 0 to 16. Raises Refused: BAD_BATCH."""
    return _parts(batch, _SOURCED)


def _parts(batch: bytes, decoder: msgspec.msgpack.Decoder[list[T]]) -> list[T]:
    try:
        return decoder.decode(_inflate(batch))
    except UNREADABLE as error:
        raise Refused(Reason.BAD_BATCH, str(error)) from error


def _inflate(batch: bytes) -> bytes:
    """Decompress up to 512 KiB, whatever the batch's full size; nothing may follow the compressed data."""
    inflater = zlib.decompressobj()
    try:
        content = inflater.decompress(batch, limits.MAX_UNPACKED)
    except zlib.error as error:
        raise Refused(Reason.BAD_BATCH, str(error)) from error
    if not inflater.eof or inflater.unused_data or inflater.unconsumed_tail:
        raise Refused(Reason.BAD_BATCH, "too large unpacked, cut off, or with something behind it")
    return content
