"""Inspects a model folder in transformers' layout before anything in it is loaded.

A folder may come from anywhere, so nothing in it is run. Weights must be safetensors (plain numbers; pickles can
contain programs and are refused), and code in the folder is refused too. Only headers and JSON are parsed here; other
content is only read for its hash. Left out: downloading, and whether the model fits this computer.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.files.model_links import real_file
from sapo_desktop.core.files.reading import open_regular, read_bytes
from sapo_desktop.core.models import ROPE_TYPES
from sapo_desktop.core.sentences import sentence
from sapo_desktop.models.files.names import kind_of
from sapo_desktop.models.files.safetensors_file import read_shapes
from sapo_desktop.models.fit.shape import shape_of

ARCHITECTURES = ("LlamaForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM", "SmolLM3ForCausalLM")
_PICKLES = {".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib"}
_LONGEST_JSON = 64_000_000
_LONGEST_PARSED = 16_000_000
"""Longest JSON file that is parsed, in bytes; in memory it may be twenty times as large."""
_LONGEST_TEMPLATE = 1_000_000
_MOST_GROWTH = 64
"""Published tokenizers replace one character by one other."""
LONGEST_CONTEXT = 1 << 31
_TABLE, _HEAD = "model.embed_tokens.weight", "lm_head.weight"
_MARK = b"\xef\xbb\xbf"
"""Byte order mark that some editors write in UTF-8."""
_NAMED_IN_HASH = (
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.jinja",
)


class ModelFolder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder that passed the checks."""

    path: Path
    architecture: str
    """The name in config.json, e.g. `LlamaForCausalLM`."""
    parameters: int
    """Numbers stored in the weight files; a tied head is counted once."""
    vocabulary: int
    context: int
    """The model's context length in tokens."""
    hash: str
    """SHA-256, in hex, over the names and contents of configuration, tokenizer and weights."""


def read_folder(path: Path) -> ModelFolder:
    """Check the folder and describe it.

    Raises:
        ModelError: something is missing, damaged, unsafe, or of an unsupported kind.
    """
    if not path.is_dir():
        raise ModelError("There is no model folder at {path}. Check whether the path is right.", path=str(path))
    found = check_folder(path)
    return ModelFolder(
        path=path,
        architecture=_architecture(found.config),
        parameters=found.numbers,
        vocabulary=_positive(found.config, "vocab_size"),
        context=_positive(found.config, "max_position_embeddings"),
        hash=_hash([*(path / name for name in _NAMED_IN_HASH if (path / name).exists()), *found.weights]),
    )


def check_before_weights(path: Path, coming: Sequence[str]) -> None:
    """Check a model before its weights, the files `coming`, have arrived. Raises ModelError as `read_folder`."""
    names = sorted(entry.name for entry in path.iterdir())
    _refuse_code(path, names)
    _architecture(read_json(path / "config.json"))
    _check_tokenizer(path, names)
    _check_small_files(path, names)
    _weight_files(path, [*names, *coming])


class Checked(NamedTuple):
    """What the checks read."""

    config: dict[str, Any]
    weights: list[Path]
    numbers: int
    """Numbers in the weights."""


def check_folder(path: Path) -> Checked:
    """All checks except those of sizes that only `read_folder` needs; weights are not read. Raises ModelError."""
    check_before_weights(path, [])
    weights = _weight_files(path, [entry.name for entry in path.iterdir()])
    config = read_json(path / "config.json")
    read = list(map(read_shapes, weights))
    numbers = sum(math.prod(shape) for shapes in read for shape in shapes.values())
    _check_size(config, _architecture(config), numbers)
    _check_ends(path, config, {name: shape for shapes in read for name, shape in shapes.items()})
    return Checked(config, weights, numbers)


def _refuse_code(path: Path, names: Sequence[str]) -> None:
    for name in names:
        suffix = Path(name).suffix.lower()
        if suffix in _PICKLES:
            raise ModelError(
                "{path} contains {name}. Files of that kind can contain programs and are never opened. Use "
                "the model's safetensors version, or move the file away.",
                path=str(path),
                name=name,
            )
        if suffix == ".py":
            raise ModelError(
                "{path} contains {name}. Models with their own code are not supported. Choose another model.",
                path=str(path),
                name=name,
            )

        if name == "adapter_config.json":
            # transformers would load the model that this file names, from any place.
            raise ModelError(
                "{path} contains {name}, which is an adapter for another model. Choose that model, or move "
                "the file away.",
                path=str(path),
                name=name,
            )


def _check_small_files(path: Path, names: Sequence[str]) -> None:
    """The files that loaders read automatically must be in this folder and of ordinary size."""
    files = [path / name for name in names if kind_of(name) in ("json", "tokenizer") or name.endswith(".jinja")]
    further = path / "additional_chat_templates"
    if further.is_symlink():
        real_file(further, weights=False)  # a folder: its content is not checked
    for file in [*files, *further.glob("*.jinja")]:
        longest = _LONGEST_TEMPLATE if file.suffix == ".jinja" else _LONGEST_JSON
        if not file.is_dir() and real_file(file, weights=False).stat().st_size > longest:
            raise _too_large(file)


def _check_size(config: dict[str, Any], architecture: str, numbers: int) -> None:
    """Check that the weights match the model that config.json describes, because memory is planned from that
    description. A configuration without a shape is refused where the shape is needed (models/describe.py)."""
    if "num_hidden_layers" not in config:
        return
    # A tied head may be unstated, so the smaller size is compared with the files.
    least = msgspec.structs.replace(shape_of(config), tied=True).parameters(architecture)
    if least > numbers:
        raise ModelError(
            "config.json describes a model with {described} numbers, but the weights hold {found}: they "
            "do not belong together, or files are missing. Download the folder again.",
            described=least,
            found=numbers,
        )


def _check_ends(path: Path, config: dict[str, Any], shapes: Mapping[str, list[int]]) -> None:
    """Check that the weights have a model's first and last tensors, under the names of its class."""
    if "num_hidden_layers" not in config:
        return
    names = [name for name in (_TABLE, _TABLE.removeprefix("model.")) if name in shapes]
    if not names:
        named = next((name for name in shapes if name.endswith(_TABLE.removeprefix("model."))), "")
        if not named:
            raise ModelError(
                "The weights in {path} have no {name}. Download the folder again.", path=str(path), name=_TABLE
            )
        raise ModelError(
            "The weights in {path} have names of another kind ({found} instead of {name}). They are part "
            "of a larger model, or an unfinished conversion. Choose another version of the model.",
            path=str(path),
            found=named,
            name=_TABLE,
        )
    tied = config.get("tie_word_embeddings", config["architectures"][0] == "SmolLM3ForCausalLM")
    if not tied and _HEAD not in shapes:
        raise ModelError(
            "The weights in {path} have no {name}, and config.json does not say that the embedding "
            "replaces it (tie_word_embeddings). Download the folder again.",
            path=str(path),
            name=_HEAD,
        )
    rows, highest = next(iter(shapes[names[0]]), 0), _highest_token(path / "tokenizer.json")
    if highest >= rows:
        raise ModelError(
            "The tokenizer in {path} has token {token}, but the weights end at {last}: they do not "
            "belong together. Download the folder again.",
            path=str(path),
            token=str(highest),
            last=str(rows - 1),
        )


class _Added(msgspec.Struct, frozen=True):
    id: int


class _Vocabulary(msgspec.Struct, frozen=True):
    """A tokenizer's model: ids by text; kinds other than BPE have a list."""

    vocab: dict[str, int] | list[Any] = msgspec.field(default_factory=dict)


class _Tokens(msgspec.Struct, frozen=True):
    """The tokens in tokenizer.json."""

    added_tokens: list[_Added] = []
    model: _Vocabulary = _Vocabulary()


def _highest_token(tokenizer: Path) -> int:
    """-1: it names none."""
    raw = _read(tokenizer, _LONGEST_JSON)
    with _damage_of(tokenizer):
        tokens = msgspec.json.decode(raw, type=_Tokens)
    vocabulary = tokens.model.vocab
    highest = max(vocabulary.values(), default=-1) if isinstance(vocabulary, dict) else len(vocabulary) - 1
    return max([highest, *(token.id for token in tokens.added_tokens)])


def _architecture(config: dict[str, Any]) -> str:
    if "auto_map" in config:
        raise ModelError(
            sentence(
                "This model needs to run its own code (auto_map in config.json), which is never done here. "
                "Choose another model."
            )
        )
    if "quantization_config" in config:
        raise ModelError(
            sentence("This model is quantised, but training needs unquantised weights (bf16, f16 or f32).")
        )
    names = config.get("architectures")
    if not isinstance(names, list) or len(names) != 1 or names[0] not in ARCHITECTURES:
        raise ModelError(
            "This model is of an unknown kind ({names}). Known kinds are {known}. Choose another model.",
            names=str(names) if names else sentence("no architecture"),
            known=", ".join(ARCHITECTURES),
        )
    if _is_unusual(config):
        raise ModelError(
            "Models of type {kind} are not supported if they have unusual layers, such as sliding "
            "windows. Choose another model.",
            kind=str(names[0]),
        )
    return str(names[0])


def _is_unusual(config: dict[str, Any]) -> bool:
    """Whether it has layers that engines/torch/llama does not support (which checks again what it loads)."""
    kinds = config.get("layer_types")
    if kinds is None:  # then transformers applies windows to the layers from max_window_layers on
        windows = config.get("use_sliding_window") and config.get("sliding_window")
        whole, layers = config.get("max_window_layers", 28), config.get("num_hidden_layers")
        sliding = windows and isinstance(whole, int) and isinstance(layers, int) and whole < layers
    else:
        sliding = not isinstance(kinds, list) or any(kind != "full_attention" for kind in kinds)
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    kind_of_rope = (rope.get("rope_type") or rope.get("type")) if isinstance(rope, dict) else rope
    growing = kind_of_rope not in (None, *ROPE_TYPES)
    return bool(sliding) or growing or config.get("hidden_act", "silu") != "silu"


def _check_tokenizer(path: Path, names: Sequence[str]) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        if name not in names:
            raise ModelError(
                "{path} has no {name}: a tokenizer in the fast (JSON) layout is required. Choose another model.",
                path=str(path),
                name=name,
            )
    if "auto_map" in read_json(path / "tokenizer_config.json"):
        raise ModelError(
            sentence(
                "This model needs to run its own code (auto_map in tokenizer_config.json), which is never "
                "done here. Choose another model."
            )
        )
    tokenizer = path / "tokenizer.json"
    # Large, and only the tokenizer interprets it. Checked here: how long it can make a text.
    raw = _read(tokenizer, _LONGEST_JSON)
    with _damage_of(tokenizer):
        try:
            members = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])  # the values are not decoded
        except msgspec.ValidationError as error:
            raise _no_object(tokenizer) from error
        times = math.prod(_growth(members.get(name)) for name in ("normalizer", "decoder"))
    if times > _MOST_GROWTH:
        raise ModelError(
            "{file} makes texts many times as long, which takes endless time and memory. No useful model "
            "does that. Choose another one.",
            file=str(tokenizer),
        )


def chat_template(path: Path) -> str:
    """The source of the chat template that the tokenizer would use; empty if there is none."""
    file = path / "chat_template.jinja"
    if file.exists():
        return _read(file, _LONGEST_TEMPLATE).decode("utf-8", "replace")
    match read_json(path / "tokenizer_config.json").get("chat_template"):
        case str(source):
            return source
        case list(named):
            for one in named:
                match one:
                    case {"name": "default", "template": str(source)}:  # the other ones are for tools
                        return source
    return ""


def _growth(steps: msgspec.Raw | None) -> int:
    """The factor by which a sequence of replacements may lengthen a text."""
    raw, times = bytes(steps or b"null"), 1
    if len(raw) > _LONGEST_TEMPLATE:
        return _MOST_GROWTH + 1
    todo = [json.loads(raw)]
    while todo:
        match todo.pop():
            case list(items):
                todo += items
            case {"type": "Replace", "content": str(content)}:
                times *= max(1, len(content))
            case dict(fields):
                todo += fields.values()
    return times


def _weight_files(path: Path, names: Sequence[str]) -> list[Path]:
    """The safetensors files of the model, ordered by name."""
    if "model.safetensors.index.json" not in names:
        if "model.safetensors" not in names:
            raise ModelError("{path} has no model.safetensors. Download the folder again.", path=str(path))
        return [path / "model.safetensors"]
    shards = read_json(path / "model.safetensors.index.json").get("weight_map")
    if not isinstance(shards, dict) or not shards:
        raise ModelError(
            "The weight_map in {path}/model.safetensors.index.json names no files. Download the folder again.",
            path=str(path),
        )
    files = sorted({str(name) for name in shards.values()})
    for name in files:
        # A plain name in this folder: an index must not point outside.
        if name not in names or not name.endswith(".safetensors"):
            raise ModelError(
                "{path} lacks the weight file {name} that its index names. Download the folder again.",
                path=str(path),
                name=name,
            )
    return [path / name for name in files]


def read_json(file: Path) -> dict[str, Any]:
    """The object in a JSON file of a model. Raises ModelError."""
    raw = _read(file, _LONGEST_PARSED)
    with _damage_of(file):
        value = json.loads(raw)
    if not isinstance(value, dict):
        raise _no_object(file)
    return value


@contextlib.contextmanager
def _damage_of(file: Path) -> Iterator[None]:
    """Inside, errors for unreadable JSON name the file."""
    try:
        yield
    except (ValueError, RecursionError) as error:
        raise ModelError(
            "{file} is damaged: its JSON cannot be read. Download the folder again.", file=str(file)
        ) from error


def _no_object(file: Path) -> ModelError:
    return ModelError("{file} is damaged: it should contain a JSON object. Download the folder again.", file=str(file))


def _read(file: Path, longest: int) -> bytes:
    if not file.exists():
        raise ModelError("{path} has no {name}. Download the folder again.", path=str(file.parent), name=file.name)
    try:
        raw = read_bytes(real_file(file, weights=False), longest)
        if raw.startswith(_MARK):
            raise ModelError(
                "{file} starts with an invisible character (a BOM, U+FEFF), which model readers refuse. Save "
                "the file as UTF-8 without BOM.",
                file=str(file),
            )
        return raw
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise _too_large(file) from error
        raise ModelError(
            "{path} cannot be read: {reason}. Check whether it exists and you may read it.",
            path=str(file),
            reason=error.strerror or str(error),
        ) from error


def _too_large(file: Path) -> ModelError:
    return ModelError("{file} is too large for what its name says. Download the folder again.", file=str(file))


def _positive(config: dict[str, Any], key: str) -> int:
    value = config.get(key)
    if type(value) is not int or not 0 < value <= LONGEST_CONTEXT:
        raise ModelError("config.json has no usable {key}. Download the folder again.", key=key)
    return value


def _hash(files: Sequence[Path]) -> str:
    whole = hashlib.sha256()
    for file in files:
        whole.update(os.fsencode(file.name) + b"\0" + file_hash(file).encode() + b"\n")
    return whole.hexdigest()


def file_hash(file: Path) -> str:
    """SHA-256 of a file's contents, in hex."""
    with open_regular(file) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
