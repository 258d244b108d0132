"""Frames: decoding returns what was encoded; anything else is refused. The table of kinds leads to
real modules, whose messages the worker reads without their heavy libraries."""

import asyncio
import io
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.core.link import frames
from sapo_desktop.core.link.frames import FrameError, FrameWriter, next_frame, pack, read_frame
from sapo_desktop.system.processes import python_environment
from sapo_desktop.worker.hosts.protocol import KINDS, decoder


async def read_async(data: bytes) -> bytes | None:
    stream = asyncio.StreamReader()
    stream.feed_data(data)
    stream.feed_eof()
    return await read_frame(stream)


def test_a_frame_is_four_bytes_of_length_and_the_payload() -> None:
    assert pack(b"abc") == b"\x00\x00\x00\x03abc"


@given(st.lists(st.binary(max_size=200), max_size=5))
def test_frames_come_out_as_they_went_in(payloads: list[bytes]) -> None:
    stream = io.BytesIO()
    writer = FrameWriter(stream)
    for payload in payloads:
        writer.write(payload)
    stream.seek(0)
    assert [next_frame(stream) for _ in payloads] == payloads
    assert next_frame(stream) is None


@pytest.mark.parametrize("data", [b"\x00\x00", b"\x00\x00\x00\x05abc", b"\x00\x00\x00\x65" + b"x" * 101, b"\xff" * 4])
async def test_cut_and_oversized_frames_are_refused(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MAX_FRAME", 100)
    with pytest.raises(FrameError):
        next_frame(io.BytesIO(data))
    with pytest.raises(FrameError):
        await read_async(data)


def test_an_oversized_payload_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MAX_FRAME", 10)
    stream = io.BytesIO()
    with pytest.raises(FrameError):
        FrameWriter(stream).write(b"x" * 11)
    assert stream.getvalue() == b""


async def test_asyncio_reader() -> None:
    assert await read_async(pack(b"hello")) == b"hello"
    assert await read_async(b"") is None


LIGHT = """
import sys
from sapo_desktop.worker.hosts.protocol import KINDS, decoder
for kind in KINDS.values():
    decoder(kind.request), decoder(kind.progress)
print([name for name in ("torch", "transformers", "peft", "reasoning_gym") if name in sys.modules])
"""


def test_messages_of_every_kind_exist_and_load_nothing_heavy() -> None:
    assert all(kind.name == name for name, kind in KINDS.items())
    done = subprocess.run([sys.executable, "-c", LIGHT], env=python_environment({}), capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_a_kind_without_progress_reads_none() -> None:
    assert decoder(None).decode(b"\xc0") is None
    with pytest.raises(ValueError):
        decoder(None).decode(b"\x01")
