"""Inspects a safetensors file before anything opens it: the header must describe exactly the file's bytes.

The format requires tensors without gaps or overlaps: with overlaps, ten thousand tensors could share the same bytes and
make a loader allocate ten thousand times the file's size. Only the header is read. safetensors' `safe_open` makes the
same checks, but needs numpy (20 MB more in every worker), and takes 1.1 GB and 18 s for a malicious header of 97 MB.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.files.reading import open_regular

_LONGEST_HEADER = 25_000_000
_MOST_TENSORS = 100_000
_MOST_NUMBERS = 1 << 50
_BYTES = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0"), 1),
    **dict.fromkeys(("I16", "U16", "F16", "BF16"), 2),
    **dict.fromkeys(("I32", "U32", "F32"), 4),
    **dict.fromkeys(("I64", "U64", "F64"), 8),
}
"""Number format -> bytes per number. Formats below one byte belong to quantised models, which are refused."""

_Size = Annotated[int, Meta(ge=0, le=_MOST_NUMBERS)]


class _Tensor(msgspec.Struct, frozen=True):
    """One entry of a safetensors header."""

    dtype: str
    shape: Annotated[list[_Size], Meta(max_length=8)]
    data_offsets: tuple[_Size, _Size]

    @property
    def numbers(self) -> int:
        return math.prod(self.shape)

    def __post_init__(self) -> None:
        start, end = self.data_offsets
        if self.dtype not in _BYTES or end - start != self.numbers * _BYTES[self.dtype]:
            raise ValueError("of no tensor")


def count_numbers(file: Path) -> int:
    """Count the numbers in a safetensors file. Raises ModelError as `read_shapes`."""
    return sum(map(math.prod, read_shapes(file).values()))


def read_shapes(file: Path) -> dict[str, list[int]]:
    """Shape of each tensor in a safetensors file whose header describes exactly its bytes.

    Raises:
        ModelError: it does not, or the file cannot be read.
    """
    try:
        with open_regular(file) as stream:
            size = os.fstat(stream.fileno()).st_size
            start = stream.read(8)
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
            if not 2 <= length <= min(size - 8, _LONGEST_HEADER):
                raise ModelError(
                    "{file} is not a complete safetensors file. Download or copy it again.", file=str(file)
                )
            tensors = _tensors(stream.read(length), file)
    except OSError as error:
        raise ModelError(
            "{path} cannot be read: {reason}. Check whether it exists and you may read it.",
            path=str(file),
            reason=error.strerror or str(error),
        ) from error
    whole = 8 + length + _end(list(tensors.values()), file)
    if not tensors or whole != size:
        raise ModelError(
            "{file} should have {expected} bytes but has {found}. Download or copy it again.",
            file=str(file),
            expected=whole,
            found=size,
        )
    return {name: tensor.shape for name, tensor in tensors.items()}


def _end(tensors: Sequence[_Tensor], file: Path) -> int:
    """Total bytes of all tensors. Raises ModelError if they overlap or leave gaps."""
    end = 0
    for first, last in sorted(tensor.data_offsets for tensor in tensors):
        if first != end:
            raise ModelError(
                "{path} is damaged (its tensors do not follow each other). Download it again.", path=str(file)
            )
        end = last
    return end


def _tensors(raw: bytes, file: Path) -> dict[str, _Tensor]:
    """The tensors in a safetensors header."""
    try:
        header = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        header.pop("__metadata__", None)
        if len(header) > _MOST_TENSORS:
            raise ValueError("more than any model has")
        return {name: msgspec.json.decode(entry, type=_Tensor) for name, entry in header.items()}
    except (ValueError, RecursionError) as error:
        raise ModelError(
            "{file} is damaged: its header is not that of a safetensors file. Download or copy it again.",
            file=str(file),
        ) from error
