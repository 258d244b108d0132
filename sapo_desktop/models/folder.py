"""Looks at a model folder in transformers' layout before anything in it is loaded.

A folder may come from anywhere, so nothing in it is run: weights are safetensors (plain numbers; pickles
can carry programs and are refused), and code of the folder's own is refused too. Only headers and JSON are
parsed here; what is read in full is read for its hash. Left out: download, and whether the model fits this
machine.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.sentences import sentence

ARCHITECTURES = ("LlamaForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM", "SmolLM3ForCausalLM")
_PICKLES = {".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib"}
_LONGEST_HEADER = 25_000_000
_LONGEST_JSON = 64_000_000
_LONGEST_PARSED = 16_000_000
"""Of a JSON file that is taken apart: in memory it may be twenty times as large."""
_MOST_NUMBERS = 1 << 50
LONGEST_CONTEXT = 1 << 31
_NAMED_IN_HASH = (
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.jinja",
)


_Size = Annotated[int, Meta(ge=0, le=_MOST_NUMBERS)]


class _Tensor(msgspec.Struct, frozen=True):
    """One entry of a safetensors header, as far as it is looked at."""

    shape: Annotated[list[_Size], Meta(max_length=8)]
    data_offsets: tuple[_Size, _Size]

    @property
    def numbers(self) -> int:
        return math.prod(self.shape)

    def __post_init__(self) -> None:
        if self.data_offsets[0] > self.data_offsets[1] or self.numbers > _MOST_NUMBERS:
            raise ValueError("of no tensor")


class ModelFolder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder that passed the checks."""

    path: Path
    architecture: str
    """As in config.json, e.g. `LlamaForCausalLM`."""
    parameters: int
    """Numbers stored in the weight files; a tied head is counted once."""
    vocabulary: int
    context: int
    """Most tokens the model was made for."""
    weight_bytes: int
    hash: str
    """SHA-256, in hex, over the names and contents of configuration, tokenizer and weights."""


def read_folder(path: Path) -> ModelFolder:
    """Check the folder and describe it.

    Raises:
        ModelError: something is missing, damaged, unsafe, or of a kind that is not supported.
    """
    if not path.is_dir():
        raise ModelError(sentence("There is no model folder at {path}.", path=str(path)))
    names = sorted(entry.name for entry in path.iterdir())
    _refuse_code(path, names)
    config = read_json(path / "config.json")
    architecture = _architecture(config)
    _check_tokenizer(path, names)
    weights = _weight_files(path, names)
    return ModelFolder(
        path=path,
        architecture=architecture,
        parameters=sum(count_numbers(file) for file in weights),
        vocabulary=_positive(config, "vocab_size"),
        context=_positive(config, "max_position_embeddings"),
        weight_bytes=sum(file.stat().st_size for file in weights),
        hash=_hash([*(path / name for name in _NAMED_IN_HASH if name in names), *weights]),
    )


def check_before_weights(path: Path, coming: Sequence[str]) -> None:
    """What can be said of a model before its weights, the files `coming`, are there. Raises ModelError as
    `read_folder`."""
    names = sorted(entry.name for entry in path.iterdir())
    _refuse_code(path, names)
    _architecture(read_json(path / "config.json"))
    _check_tokenizer(path, names)
    _weight_files(path, [*names, *coming])


def check_folder(path: Path) -> None:
    """All checks of `read_folder`, without reading the weights for their hash. Raises ModelError."""
    check_before_weights(path, [])
    for file in _weight_files(path, [entry.name for entry in path.iterdir()]):
        count_numbers(file)


def _refuse_code(path: Path, names: Sequence[str]) -> None:
    for name in names:
        suffix = Path(name).suffix.lower()
        if suffix in _PICKLES:
            raise ModelError(
                sentence(
                    "{path} contains {name}: files of that kind can carry programs and are never opened here. Use "
                    "the model's safetensors version, or move that file away.",
                    path=str(path),
                    name=name,
                )
            )
        if suffix == ".py":
            raise ModelError(
                sentence(
                    "{path} contains {name}: models that bring their own code are not supported.",
                    path=str(path),
                    name=name,
                )
            )


def _architecture(config: dict[str, Any]) -> str:
    if "auto_map" in config:
        raise ModelError(sentence("config.json asks for code of the model's own (auto_map); that is not supported."))
    if "quantization_config" in config:
        raise ModelError(sentence("This model is quantised; training needs its plain weights (bf16, f16 or f32)."))
    names = config.get("architectures")
    if not isinstance(names, list) or len(names) != 1 or names[0] not in ARCHITECTURES:
        raise ModelError(
            sentence(
                "config.json names {names}; known are {known}.",
                names=str(names) if names else sentence("no architecture"),
                known=", ".join(ARCHITECTURES),
            )
        )
    return str(names[0])


def _check_tokenizer(path: Path, names: Sequence[str]) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        if name not in names:
            raise ModelError(
                sentence(
                    "{path} has no {name}: the tokenizer is needed in the fast (JSON) layout.",
                    path=str(path),
                    name=name,
                )
            )
    if "auto_map" in read_json(path / "tokenizer_config.json"):
        raise ModelError(sentence("tokenizer_config.json asks for code of its own (auto_map); that is not supported."))
    tokenizer = path / "tokenizer.json"
    _members(_read(tokenizer, _LONGEST_JSON), tokenizer)  # large, and what it says is the tokenizer's business


def _weight_files(path: Path, names: Sequence[str]) -> list[Path]:
    """The safetensors files of the model, in order of name."""
    if "model.safetensors.index.json" not in names:
        if "model.safetensors" not in names:
            raise ModelError(sentence("{path} has no model.safetensors.", path=str(path)))
        return [path / "model.safetensors"]
    shards = read_json(path / "model.safetensors.index.json").get("weight_map")
    if not isinstance(shards, dict) or not shards:
        raise ModelError(
            sentence("The weight_map in {path}/model.safetensors.index.json names no files.", path=str(path))
        )
    files = sorted({str(name) for name in shards.values()})
    for name in files:
        # A plain name of this folder: an index must not lead out of it.
        if name not in names or not name.endswith(".safetensors"):
            raise ModelError(
                sentence("{path} lacks the weight file {name} that its index names.", path=str(path), name=name)
            )
    return [path / name for name in files]


def count_numbers(file: Path) -> int:
    """Numbers in a safetensors file whose header describes exactly the bytes that are there. Raises ModelError."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        start = stream.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
        if not 2 <= length <= min(size - 8, _LONGEST_HEADER):
            raise ModelError(
                sentence("{file} is not a whole safetensors file; fetch or copy it again.", file=str(file))
            )
        tensors = _tensors(stream.read(length), file)
    whole = 8 + length + max((tensor.data_offsets[1] for tensor in tensors), default=0)
    if not tensors or whole != size:
        raise ModelError(
            sentence(
                "{file} should have {expected} bytes and has {found}; fetch or copy it again.",
                file=str(file),
                expected=whole,
                found=size,
            )
        )
    return sum(tensor.numbers for tensor in tensors)


def _tensors(raw: bytes, file: Path) -> list[_Tensor]:
    """What a safetensors header tells of each tensor."""
    header = _members(raw, file)
    header.pop("__metadata__", None)
    try:
        return [msgspec.json.decode(entry, type=_Tensor) for entry in header.values()]
    except (ValueError, RecursionError) as error:
        raise ModelError(sentence("The header of {file} is not that of a safetensors file.", file=str(file))) from error


def read_json(file: Path) -> dict[str, Any]:
    """The object in a JSON file of a model. Raises ModelError."""
    raw = _read(file, _LONGEST_PARSED)
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ModelError(sentence("{file} is damaged: its JSON cannot be read.", file=str(file))) from error
    if not isinstance(value, dict):
        raise ModelError(sentence("{file} is not what it should be: a JSON object.", file=str(file)))
    return value


def _members(raw: bytes, file: Path) -> dict[str, msgspec.Raw]:
    """The members of a JSON object, each as it stands: nothing is built of it."""
    try:
        return msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    except msgspec.ValidationError as error:
        raise ModelError(sentence("{file} is not what it should be: a JSON object.", file=str(file))) from error
    except (ValueError, RecursionError) as error:
        raise ModelError(sentence("{file} is damaged: its JSON cannot be read.", file=str(file))) from error


def _read(file: Path, longest: int) -> bytes:
    if not file.is_file():
        raise ModelError(sentence("{path} has no {name}.", path=str(file.parent), name=file.name))
    if file.stat().st_size > longest:
        raise ModelError(sentence("{file} is too large to be what its name says.", file=str(file)))
    return file.read_bytes()


def _positive(config: dict[str, Any], key: str) -> int:
    value = config.get(key)
    if not isinstance(value, int) or not 0 < value <= LONGEST_CONTEXT:
        raise ModelError(sentence("config.json gives no usable {key}.", key=key))
    return value


def _hash(files: Sequence[Path]) -> str:
    whole = hashlib.sha256()
    for file in files:
        whole.update(os.fsencode(file.name) + b"\0" + file_hash(file).encode() + b"\n")
    return whole.hexdigest()


def file_hash(file: Path) -> str:
    """SHA-256 of a file's contents, in hex."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
