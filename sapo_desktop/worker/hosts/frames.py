"""Frames between the worker and its hosts: four bytes of length, most significant first, then so many bytes.

A reader for the child (blocking, over a descriptor) and one for the parent (asyncio). What is in a frame is
not known here. A length above the limit or an end in the middle of a frame means that the stream can no
longer be trusted: the reader raises and its owner gives the stream up; there is no way to find the next
frame.
"""

from __future__ import annotations

import asyncio
import struct
import threading
from typing import BinaryIO

from sapo_desktop.core.errors import HostError

MAX_FRAME = 64 * 1024 * 1024
"""Largest payload in bytes, either way."""

_LENGTH = struct.Struct(">I")


class FrameError(HostError):
    """What came through a pipe is not a frame."""


def pack(payload: bytes, limit: int = MAX_FRAME) -> bytes:
    """The frame that carries `payload`.

    Raises:
        FrameError: the payload is larger than `limit`.
    """
    if len(payload) > limit:
        raise FrameError(f"A message of {len(payload)} bytes is larger than the {limit} of a frame.")
    return _LENGTH.pack(len(payload)) + payload


class FrameReader:
    """Reads frames from a blocking binary stream."""

    def __init__(self, stream: BinaryIO, limit: int = MAX_FRAME) -> None:
        self._stream = stream
        self._limit = limit

    def read(self) -> bytes | None:
        """The next payload, or None where the stream ended between two frames.

        Raises:
            FrameError: the stream ended inside a frame, or a frame is too large.
        """
        header = self._stream.read(_LENGTH.size)
        if not header:
            return None
        length = _length(header, self._limit)
        payload = self._stream.read(length)
        if len(payload) != length:
            raise FrameError(f"A frame of {length} bytes ended after {len(payload)}.")
        return payload


class FrameWriter:
    """Writes frames to a binary stream, whole ones only, from any thread."""

    def __init__(self, stream: BinaryIO, limit: int = MAX_FRAME) -> None:
        self._stream = stream
        self._limit = limit
        self._lock = threading.Lock()

    def write(self, payload: bytes) -> None:
        frame = pack(payload, self._limit)
        with self._lock:
            self._stream.write(frame)
            self._stream.flush()


async def read_frame(reader: asyncio.StreamReader, limit: int = MAX_FRAME) -> bytes | None:
    """The next payload from an asyncio stream, or None where it ended between two frames.

    Raises:
        FrameError: the stream ended inside a frame, or a frame is too large.
    """
    try:
        header = await reader.readexactly(_LENGTH.size)
    except asyncio.IncompleteReadError as error:
        if not error.partial:
            return None
        raise FrameError("The stream ended inside the length of a frame.") from error
    length = _length(header, limit)
    try:
        return await reader.readexactly(length)
    except asyncio.IncompleteReadError as error:
        raise FrameError(f"A frame of {length} bytes ended after {len(error.partial)}.") from error


def _length(header: bytes, limit: int) -> int:
    if len(header) != _LENGTH.size:
        raise FrameError("The stream ended inside the length of a frame.")
    (length,) = _LENGTH.unpack(header)
    if length > limit:
        raise FrameError(f"A frame claims {length} bytes; at most {limit} are allowed.")
    return int(length)
