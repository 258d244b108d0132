"""Frames: how a link's messages go through a pipe.

A frame is four bytes of length, most significant first, then so many bytes. After a length above the limit, or an end
in the middle of a frame, the next frame cannot be found: the reader raises, and its owner closes the stream.
"""

from __future__ import annotations

import asyncio
import struct
import threading
from typing import BinaryIO

from sapo_desktop.core.errors import HostError

MAX_FRAME = 64 * 1024 * 1024
"""Maximum payload in bytes, either way."""

_LENGTH = struct.Struct(">I")


class FrameError(HostError):
    """The data of a pipe is not a frame."""


def pack(payload: bytes) -> bytes:
    """The frame that carries `payload`.

    Raises:
        FrameError: the payload is too large.
    """
    if len(payload) > MAX_FRAME:
        raise FrameError(f"A message of {len(payload)} bytes is larger than the {MAX_FRAME} of a frame.")
    return _LENGTH.pack(len(payload)) + payload


def next_frame(stream: BinaryIO) -> bytes | None:
    """The next payload from a blocking stream, or None if it ended between two frames.

    Raises:
        FrameError: the stream ended inside a frame, or a frame is too large.
    """
    header = stream.read(_LENGTH.size)
    if not header:
        return None
    length = _length(header)
    payload = stream.read(length)
    if len(payload) != length:
        raise FrameError(f"A frame of {length} bytes ended after {len(payload)}.")
    return payload


class FrameWriter:
    """Writes whole frames to a binary stream, from any thread."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def write(self, payload: bytes) -> None:
        frame = pack(payload)
        with self._lock:
            self._stream.write(frame)
            self._stream.flush()


async def read_frame(reader: asyncio.StreamReader) -> bytes | None:
    """Like `next_frame`, from an asyncio stream."""
    try:
        header = await reader.readexactly(_LENGTH.size)
    except asyncio.IncompleteReadError as error:
        if not error.partial:
            return None
        raise FrameError("The stream ended inside the length of a frame.") from error
    length = _length(header)
    try:
        return await reader.readexactly(length)
    except asyncio.IncompleteReadError as error:
        raise FrameError(f"A frame of {length} bytes ended after {len(error.partial)}.") from error


def _length(header: bytes) -> int:
    if len(header) != _LENGTH.size:
        raise FrameError("The stream ended inside the length of a frame.")
    (length,) = _LENGTH.unpack(header)
    if length > MAX_FRAME:
        raise FrameError(f"A frame claims {length} bytes; at most {MAX_FRAME} are allowed.")
    return int(length)
