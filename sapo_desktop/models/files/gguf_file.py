"""Inspects a GGUF file before anything opens it: header, metadata, and whether every tensor is complete, to the byte.

Files come from anywhere, so every count and length is compared with the rest of the file before it is used. The tensors
themselves are not read. Left out: whether an engine supports the architecture.
"""

from __future__ import annotations

import math
import os
import re
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.files.gguf import only_answers
from sapo_desktop.core.files.reading import open_regular
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.models.fit.shape import LARGEST_SIZE, MOST_LAYERS, ModelShape

_VERSIONS = (2, 3)
_MOST_ENTRIES = 100_000
_MOST_VALUES = 4_000_000
"""In all lists together: a vocabulary of a million tokens has three lists, and its merges."""
_LONGEST_STRING = 16_000_000
_LONGEST_KEY = 65_535
_LONGEST_HEADER = 256_000_000
_DEEPEST = 2
_TEMPLATE = "tokenizer.chat_template"
_KEPT = {"general.type", "general.architecture", "tokenizer.ggml.model", "tokenizer.ggml.pre", _TEMPLATE}
"""The texts that are kept; all others are skipped, because they may be long."""
_NUMBERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_REAL = (6, 12)
_STRING, _ARRAY = 8, 9
_REPACKED = {"Q4_0", "Q2_K", "Q4_K", "IQ4_NL", "MXFP4"}
"""llama.cpp repacks matrices of these types for processors with AVX2 (Q2_K: with AVX-512, and always counted here)
and multiplies with the copy. Rows of the token table are still read from the file's version."""
_ROWS_REPACKED = 8
_TABLE, _HEAD = "token_embd.weight", "output.weight"


class GgufFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that passed the checks."""

    architecture: str
    """The name in the file: `qwen2`, `llama`. Empty in the later parts of a model with several files."""
    bytes: int
    part: int = 0
    parts: int = 1
    context: int = 0
    """The model's context length; 0 if the file does not say."""
    shape: ModelShape | None = None
    """None if the file does not give it as single numbers."""
    table_repacked: int = 0
    """Bytes of the token table, if llama.cpp would repack it."""
    own_head: bool = False
    """Whether the output matrix is separate from that table."""
    tokenizer: str = ""
    """The tokenizer's kind, as named in the file."""
    template: str = ""
    """The source of its chat template."""
    only_answers: Text = ""
    """Why it cannot learn, in a sentence that names its kind; empty if it can."""

    @property
    def held_twice(self) -> int:
        """Bytes that llama.cpp holds both as they are and repacked."""
        return 0 if self.own_head else self.table_repacked


class _Tensors(NamedTuple):
    """Totals over the list of tensors."""

    table_repacked: int
    own_head: bool


_Values = dict[str, str | int | float | None]
"""Entries of the header by key; None for skipped ones."""


class _Cut(Exception):
    """The file ends before its header's content does, or the header announces impossible sizes."""


class _Endless(_Cut):
    """The header is longer than any model's."""


def check_gguf(files: Sequence[Path]) -> GgufFile:
    """Check the files of one model, one or several parts, and describe it as a whole.

    Raises:
        ModelError: a file is damaged, incomplete, or not part of a model; or parts are missing.
    """
    found = {path: read_gguf(path) for path in sorted(files)}
    if not found:
        raise ModelError(sentence("There is no GGUF file. Choose one."))
    first, count = next(iter(found.values())), len(found)
    expected = [(number, count) for number in range(count)]
    if [(file.part, file.parts) for file in found.values()] != expected:
        raise ModelError(
            "This model consists of {parts} GGUF files, but there are {count}. Get all of them, under "
            "their original names.",
            parts=first.parts,
            count=count,
        )
    if not first.architecture:
        raise ModelError(
            "{path} does not say what kind of model it is. Download it again.", path=str(next(iter(found)))
        )
    if not first.tokenizer:
        raise ModelError(
            "{path} has no tokenizer, so you cannot ask it questions. Get another file of this model.",
            path=str(next(iter(found))),
        )
    return msgspec.structs.replace(
        first,
        bytes=sum(file.bytes for file in found.values()),
        table_repacked=sum(file.table_repacked for file in found.values()),
        own_head=any(file.own_head for file in found.values()),
    )


def read_gguf(path: Path) -> GgufFile:
    """Check one file. Raises ModelError."""
    try:
        with open_regular(path) as stream:
            size = os.fstat(stream.fileno()).st_size
            return _read(_Reader(stream, size), path, size)
    except _Endless as endless:
        raise ModelError(
            "{path} is damaged (its description is longer than any model's). Download it again.", path=str(path)
        ) from endless
    except _Cut as cut:
        raise ModelError("{path} is incomplete or damaged. Download it again.", path=str(path)) from cut
    except OSError as error:
        raise ModelError(
            "{path} cannot be read: {reason}. Check whether it exists and you may read it.",
            path=str(path),
            reason=str(error.strerror or error),
        ) from error


def _read(reader: _Reader, path: Path, size: int) -> GgufFile:
    if reader.take(4) != b"GGUF":
        raise ModelError("{path} is not a GGUF file. Choose one, or download it again.", path=str(path))
    version = reader.number("<I")
    if version.to_bytes(4, "little")[::-1] in [known.to_bytes(4, "little") for known in _VERSIONS]:
        raise ModelError(
            "{path} is written for big-endian computers, such as s390x. Get the model's usual GGUF file.",
            path=str(path),
        )
    if version not in _VERSIONS:
        raise ModelError(
            "{path} is GGUF version {version}; known are {oldest} and {newest}. Get the model in one of these.",
            path=str(path),
            version=str(version),
            oldest=_VERSIONS[0],
            newest=_VERSIONS[1],
        )
    tensors, entries = reader.number("<Q"), reader.number("<Q")
    if tensors > _MOST_ENTRIES or entries > _MOST_ENTRIES:
        raise ModelError(
            "{path} is damaged (it announces {tensors} tensors and {entries} entries). Download it again.",
            path=str(path),
            tensors=tensors,
            entries=entries,
        )
    values: _Values = dict(reader.entry() for _ in range(entries))
    part, parts = _whole(values, "split.no", 0), _whole(values, "split.count", 1) or 1
    kind = values.get("general.type", "model")
    if kind != "model":
        raise ModelError(
            "{path} holds no model but a file of the kind '{kind}'. Choose another file.",
            path=str(path),
            kind=str(kind)[:40],
        )
    if tensors == 0 and parts == 1:
        raise ModelError("{path} has no tensors: it is a vocabulary, not a model. Choose another file.", path=str(path))
    found = _check_tensors(reader, path, size, tensors, _whole(values, "general.alignment", 32))
    architecture = values.get("general.architecture", "")
    if not isinstance(architecture, str) or not re.fullmatch(r"[a-z0-9_.-]{0,64}", architecture):
        raise ModelError("{path} does not say what kind of model it is. Download it again.", path=str(path))
    shape = _shape(values, architecture, reader.lengths.get("tokenizer.ggml.tokens", 0))
    context = _whole(values, f"{architecture}.context_length", 0)
    return GgufFile(
        architecture=architecture,
        bytes=size,
        part=part,
        parts=parts,
        context=context,
        shape=shape,
        table_repacked=found.table_repacked,
        own_head=found.own_head,
        tokenizer=_text(values, "tokenizer.ggml.model"),
        template=_text(values, _TEMPLATE),
        only_answers=_only_answers(path, architecture, values, has_shape=shape is not None and context > 0),
    )


def _only_answers(path: Path, architecture: str, values: _Values, *, has_shape: bool) -> Text:
    """`has_shape`: whether the file states the model's shape."""
    start = f"{architecture}."
    numbers = {
        key.removeprefix(start): value
        for key, value in values.items()
        if key.startswith(start) and isinstance(value, int | float)
    }
    tokenizer, rule = (_text(values, f"tokenizer.ggml.{key}") for key in ("model", "pre"))
    why = only_answers(path.name, architecture, numbers, tokenizer, rule)
    if why or has_shape:
        return why
    return sentence(
        "{name} does not describe the shape of its model, so it can answer but not learn. Get "
        "another file of this model.",
        name=path.name,
    )


def _shape(values: _Values, architecture: str, vocabulary: int) -> ModelShape | None:
    """The shape in the header; impossible sizes are ignored."""

    def number(key: str, otherwise: int = 0) -> int:
        return _whole(values, f"{architecture}.{key}", otherwise)

    heads, hidden = number("attention.head_count"), number("embedding_length")
    found = {
        "layers": number("block_count"),
        "hidden": hidden,
        "heads": heads,
        "kv_heads": number("attention.head_count_kv", heads),
        "head": number("attention.key_length", hidden // max(1, heads)),
        "ffn": number("feed_forward_length"),
        "vocabulary": vocabulary,
    }
    if not all(0 < size <= LARGEST_SIZE for size in found.values()) or found["layers"] > MOST_LAYERS:
        return None
    return ModelShape(**found, tied=True)  # only the file's bytes show whether the head is separate


def _check_tensors(reader: _Reader, path: Path, size: int, count: int, alignment: int) -> _Tensors:
    """Check that the tensors fill the rest of the file; returns their totals."""
    if alignment < 1 or alignment > 1 << 20 or alignment & (alignment - 1):
        raise ModelError(
            "{path} is damaged (it aligns its tensors to {alignment} bytes). Download it again.",
            path=str(path),
            alignment=alignment,
        )
    from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType  # imports numpy, which the worker does not need

    places, table, head = [], 0, False
    for _ in range(count):
        name, shape, kind, offset = reader.tensor()
        block, block_bytes = GGML_QUANT_SIZES.get(kind, (0, 0))
        if block == 0:
            raise ModelError(
                "{path} has a tensor of unknown type {kind}. Update SAPO Desktop.",
                path=str(path),
                kind=str(kind),
            )
        length = math.prod(shape)
        if not shape or shape[0] % block or length >= 1 << 50:
            raise ModelError(
                "{path} is damaged (its tensor '{name}' has the shape {shape}). Download it again.",
                path=str(path),
                name=name[:60],
                shape=str(shape),
            )
        places.append((offset, length // block * block_bytes))
        head = head or name == _HEAD
        if name == _TABLE and len(shape) == 2 and shape[1] % _ROWS_REPACKED == 0:
            table = length // block * block_bytes if GGMLQuantizationType(kind).name in _REPACKED else 0
    start = _aligned(reader.position, alignment)
    end = 0
    for offset, length in sorted(places):
        if offset != _aligned(end, alignment):
            raise ModelError(
                "{path} is damaged (its tensors do not follow each other). Download it again.", path=str(path)
            )
        end = offset + length
    if count and not start + end <= size <= start + _aligned(end, alignment):
        raise ModelError(
            "{path} should have {expected} bytes but has {found}. Download it again.",
            path=str(path),
            expected=start + end,
            found=size,
        )
    return _Tensors(table, head)


class _Reader:
    """Reads the header's items in sequence; raises _Cut if the file has no more bytes, or announces too many."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._size = size
        self._values = 0
        self.position = 0
        self.lengths: dict[str, int] = {}
        """Lengths of the lists among the entries, by key."""

    def take(self, count: int) -> bytes:
        self._move(count)
        return self._stream.read(count)

    def skip(self, count: int) -> None:
        self._move(count)
        self._stream.seek(self.position)

    def number(self, form: str) -> int:
        raw = self.take(struct.calcsize(form))
        if len(raw) < struct.calcsize(form):
            raise _Cut  # the file shrank meanwhile
        return int(struct.unpack(form, raw)[0])

    def real(self, form: str) -> float:
        raw = self.take(struct.calcsize(form))
        if len(raw) < struct.calcsize(form):
            raise _Cut
        return float(struct.unpack(form, raw)[0])

    def string(self, longest: int = _LONGEST_STRING) -> str:
        return self.take(self._length(longest)).decode("utf-8", "replace")

    def entry(self) -> tuple[str, str | int | float | None]:
        key, before, kind = self.string(_LONGEST_KEY), self._values, self.number("<I")
        value = self.string() if kind == _STRING and key in _KEPT else self._value(kind, 0)
        if kind == _ARRAY:
            self.lengths[key] = self._values - before
        return key, value

    def tensor(self) -> tuple[str, list[int], int, int]:
        name, dimensions = self.string(_LONGEST_KEY), self.number("<I")
        if not 1 <= dimensions <= 4:
            raise _Cut
        shape = [self.number("<Q") for _ in range(dimensions)]
        return name, shape, self.number("<I"), self.number("<Q")

    def _move(self, count: int) -> None:
        if count > self._size - self.position:
            raise _Cut
        self.position += count
        if self.position > _LONGEST_HEADER:
            raise _Endless

    def _length(self, longest: int) -> int:
        length = self.number("<Q")
        if length > longest:
            raise _Cut
        return length

    def _value(self, kind: int, depth: int) -> int | float | None:
        """A number; None for skipped values."""
        if kind in _REAL:
            return self.real(_NUMBERS[kind])
        if kind in _NUMBERS:
            return self.number(_NUMBERS[kind])
        if kind == _STRING:
            self.skip(self._length(_LONGEST_STRING))
            return None
        if kind != _ARRAY or depth >= _DEEPEST:
            raise _Cut
        inner, count = self.number("<I"), self.number("<Q")
        self._values += count
        if self._values > _MOST_VALUES:
            raise _Cut
        if inner in _NUMBERS:
            self.skip(count * struct.calcsize(_NUMBERS[inner]))
        else:
            for _ in range(count):
                self._value(inner, depth + 1)
        return None


def _text(values: _Values, key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""


def _whole(values: _Values, key: str, otherwise: int) -> int:
    value = values.get(key, otherwise)
    return value if isinstance(value, int) and value >= 0 else otherwise


def _aligned(position: int, alignment: int) -> int:
    return -(-position // alignment) * alignment
