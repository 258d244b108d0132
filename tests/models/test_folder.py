"""What a model folder must have, and what it must not have."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sapo_desktop.core.errors import ModelError
from sapo_desktop.models.folder import read_folder

CONFIG = {"architectures": ["LlamaForCausalLM"], "vocab_size": 300, "max_position_embeddings": 512}


def weights(path: Path, shape: tuple[int, ...] = (3, 4), missing: int = 0) -> None:
    """A safetensors file with one F32 tensor, `missing` bytes short."""
    size = 4
    for n in shape:
        size *= n
    header = json.dumps({"w": {"dtype": "F32", "shape": shape, "data_offsets": [0, size]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"\0" * (size - missing))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "model"
    made.mkdir()
    write(made, "config.json", CONFIG)
    write(made, "tokenizer.json", {"model": {}})
    write(made, "tokenizer_config.json", {})
    weights(made / "model.safetensors")
    return made


def write(folder: Path, name: str, value: Any) -> None:
    (folder / name).write_text(json.dumps(value), encoding="utf-8")


def test_a_good_folder_is_described(folder: Path) -> None:
    found = read_folder(folder)
    assert (found.architecture, found.parameters) == ("LlamaForCausalLM", 12)
    assert (found.vocabulary, found.context) == (300, 512)
    assert found.weight_bytes == (folder / "model.safetensors").stat().st_size


def test_shards_are_counted_together(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    weights(folder / "model-1-of-2.safetensors", (2, 2))
    weights(folder / "model-2-of-2.safetensors", (5,))
    index = {"weight_map": {"a": "model-1-of-2.safetensors", "b": "model-2-of-2.safetensors"}}
    write(folder, "model.safetensors.index.json", index)
    assert read_folder(folder).parameters == 9


def test_the_hash_is_that_of_the_contents(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (copy / "README.md").write_text("a note changes nothing", encoding="utf-8")
    assert read_folder(copy).hash == read_folder(folder).hash
    raw = bytearray((copy / "model.safetensors").read_bytes())
    raw[-1] ^= 1
    (copy / "model.safetensors").write_bytes(raw)
    assert read_folder(copy).hash != read_folder(folder).hash


def test_links_to_files_are_followed(folder: Path, tmp_path: Path) -> None:
    """The cache of huggingface_hub keeps its files so."""
    (folder / "model.safetensors").rename(tmp_path / "blob")
    (folder / "model.safetensors").symlink_to(tmp_path / "blob")
    assert read_folder(folder).parameters == 12


SPOILED: list[tuple[str, Callable[[Path], object], str]] = [
    ("no folder", lambda f: shutil.rmtree(f), "no model folder"),
    ("no configuration", lambda f: (f / "config.json").unlink(), "no config.json"),
    ("broken configuration", lambda f: (f / "config.json").write_text("{"), "damaged"),
    ("configuration is a list", lambda f: write(f, "config.json", [1]), "JSON object"),
    ("nested without end", lambda f: (f / "config.json").write_text("[" * 200_000), "damaged"),
    ("not UTF-8", lambda f: (f / "config.json").write_bytes(b'{"a": "\xff"}'), "damaged"),
    ("other architecture", lambda f: write(f, "config.json", CONFIG | {"architectures": ["Mamba"]}), "Mamba"),
    ("no architecture", lambda f: write(f, "config.json", CONFIG | {"architectures": []}), "no architecture"),
    ("size as text", lambda f: write(f, "config.json", CONFIG | {"vocab_size": "x"}), "vocab_size"),
    ("own code", lambda f: write(f, "config.json", CONFIG | {"auto_map": {}}), "auto_map"),
    ("own tokenizer code", lambda f: write(f, "tokenizer_config.json", {"auto_map": {}}), "auto_map"),
    ("a Python file", lambda f: (f / "modeling_x.py").write_text(""), "own code"),
    ("quantised", lambda f: write(f, "config.json", CONFIG | {"quantization_config": {}}), "quantised"),
    ("a pickle beside", lambda f: (f / "training_args.bin").write_bytes(b""), "carry programs"),
    ("no tokenizer", lambda f: (f / "tokenizer.json").unlink(), "no tokenizer.json"),
    ("no weights", lambda f: (f / "model.safetensors").unlink(), "no model.safetensors"),
    ("weights cut short", lambda f: weights(f / "model.safetensors", missing=1), "fetch or copy it again"),
    ("weights empty", lambda f: (f / "model.safetensors").write_bytes(b""), "not a whole"),
    ("a huge header", lambda f: (f / "model.safetensors").write_bytes(b"\xff" * 64), "not a whole"),
    (
        "a header that is none",
        lambda f: (f / "model.safetensors").write_bytes(struct.pack("<Q", 9) + b'{"a": {}}'),
        "header",
    ),
    (
        "an index that leads out",
        lambda f: write(f, "model.safetensors.index.json", {"weight_map": {"a": "../x.safetensors"}}),
        "lacks the weight file",
    ),
    (
        "an index without files",
        lambda f: write(f, "model.safetensors.index.json", {"weight_map": []}),
        "names no files",
    ),
]


@pytest.mark.parametrize(("spoil", "reason"), [s[1:] for s in SPOILED], ids=[s[0] for s in SPOILED])
def test_a_spoiled_folder_is_refused_with_the_reason(
    folder: Path, spoil: Callable[[Path], object], reason: str
) -> None:
    spoil(folder)
    with pytest.raises(ModelError, match=reason):
        read_folder(folder)
