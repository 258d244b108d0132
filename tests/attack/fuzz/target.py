"""The fuzz targets for `__main__.py` and `test_corpus.py`, and the inputs that corpus/ keeps."""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_PATCH = struct.Struct("<HB")
CORPUS = Path(__file__).with_name("corpus")


@dataclass(frozen=True)
class Target:
    """One reader of bytes. `open` returns the function that takes an input, and may use its own empty folder;
    any other error than `refused` is a crash. `traced`: packages whose branches guide the search."""

    open: Callable[[Path], Callable[[bytes], None]]
    seeds: Callable[[], Sequence[bytes]]
    traced: tuple[str, ...]
    refused: tuple[type[BaseException], ...] = ()
    words: tuple[bytes, ...] = field(default=())
    """Common parts of inputs."""
    longest: int = 4096


def patched(good: bytes, data: bytes) -> bytes:
    """`good` with other bytes in some places, as `data` says: (place, how many, the bytes) again and again. So what
    comes out is near to what a reader takes."""
    content, at = bytearray(good), 0
    while at + _PATCH.size <= len(data):
        place, length = _PATCH.unpack_from(data, at)
        at += _PATCH.size
        piece = data[at : at + length]
        at += length
        start = place * max(1, len(content) // 65536) % len(content)
        content[start : start + len(piece)] = piece
    return bytes(content)


def patch(*places: tuple[int, bytes]) -> bytes:
    """The input from which `patched` makes `good`."""
    return b"".join(_PATCH.pack(place, len(piece)) + piece for place, piece in places)


def attempt(take: Callable[[bytes], None], refused: tuple[type[BaseException], ...], data: bytes) -> bool:
    """Run one input; return whether it was accepted. A refusal must have a message for a person."""
    try:
        take(data)
    except refused as error:
        str(error)
        return False
    return True


def known(name: str) -> list[bytes]:
    """The kept inputs of a target, one a line, in hex; after a space, the former fault."""
    path = CORPUS / f"{name}.txt"
    if not path.exists():
        return []
    return [bytes.fromhex(line.partition(" ")[0]) for line in path.read_text("ascii").splitlines()]
