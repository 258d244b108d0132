"""Frames: what goes in comes out; what is no frame is refused, never guessed at."""

import asyncio
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.worker.hosts.frames import FrameError, FrameReader, FrameWriter, pack, read_frame


async def read_async(data: bytes, limit: int = 100) -> bytes | None:
    stream = asyncio.StreamReader()
    stream.feed_data(data)
    stream.feed_eof()
    return await read_frame(stream, limit)


def test_a_frame_is_four_bytes_of_length_and_the_payload() -> None:
    assert pack(b"abc") == b"\x00\x00\x00\x03abc"


@given(st.lists(st.binary(max_size=200), max_size=5))
def test_frames_come_out_as_they_went_in(payloads: list[bytes]) -> None:
    stream = io.BytesIO()
    writer = FrameWriter(stream)
    for payload in payloads:
        writer.write(payload)
    reader = FrameReader(io.BytesIO(stream.getvalue()))
    assert [reader.read() for _ in payloads] == payloads
    assert reader.read() is None


@pytest.mark.parametrize("data", [b"\x00\x00", b"\x00\x00\x00\x05abc", b"\x00\x00\x00\x65" + b"x" * 101])
async def test_cut_and_oversized_frames_are_refused(data: bytes) -> None:
    with pytest.raises(FrameError):
        FrameReader(io.BytesIO(data), limit=100).read()
    with pytest.raises(FrameError):
        await read_async(data)


async def test_an_oversized_length_is_refused_before_anything_is_read() -> None:
    with pytest.raises(FrameError, match="claims 4294967295 bytes"):
        await read_async(b"\xff\xff\xff\xff")


def test_an_oversized_payload_is_not_sent() -> None:
    stream = io.BytesIO()
    with pytest.raises(FrameError):
        FrameWriter(stream, limit=10).write(b"x" * 11)
    assert stream.getvalue() == b""


async def test_asyncio_reader() -> None:
    assert await read_async(pack(b"hello")) == b"hello"
    assert await read_async(b"") is None
