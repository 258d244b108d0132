"""Required and forbidden contents of a model folder."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.sentences import Sentence, Text
from sapo_desktop.models.files.folder import read_folder
from sapo_desktop.models.files.safetensors_file import count_numbers
from tests.models.small_models import CONFIG, headed, safetensors, zeros


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "model"
    made.mkdir()
    write(made, "config.json", CONFIG)
    write(made, "tokenizer.json", {"model": {}})
    write(made, "tokenizer_config.json", {})
    (made / "model.safetensors").write_bytes(zeros(12))
    return made


def write(folder: Path, name: str, value: Any) -> None:
    (folder / name).write_text(json.dumps(value), encoding="utf-8")


def test_a_good_folder_is_described(folder: Path) -> None:
    found = read_folder(folder)
    assert (found.architecture, found.parameters) == ("LlamaForCausalLM", 12)
    assert (found.vocabulary, found.context) == (300, 512)


def test_shards_are_counted_together(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "model-1-of-2.safetensors").write_bytes(zeros(4))
    (folder / "model-2-of-2.safetensors").write_bytes(zeros(5))
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


def spoil_header(folder: Path, **changed: Any) -> None:
    entry = {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]} | changed
    (folder / "model.safetensors").write_bytes(headed({"w": entry}, bytes(48)))


SHAPED = CONFIG | {"num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 94}
"""4,936 numbers: 300 words of 8, 4 matrices of 8 x 8, 3 of 8 x 94, 3 norms of 8."""


def tensors(folder: Path, places: list[tuple[int, int]]) -> None:
    """A weight file of 48 bytes, with a tensor of floats at each of these places."""
    header = {
        str(number): {"dtype": "F32", "shape": [(end - start) // 4], "data_offsets": [start, end]}
        for number, (start, end) in enumerate(places)
    }
    (folder / "model.safetensors").write_bytes(headed(header, bytes(48)))


def touched(path: Path) -> Path:
    path.touch()
    return path


def gone(path: Path) -> Path:
    path.unlink()
    return path


def grown(folder: Path, place: str) -> None:
    """A tokenizer that writes 10,000 characters for each 1."""
    replace = {"type": "Replace", "pattern": {"String": "1"}, "content": "1" * 100}
    write(folder, "tokenizer.json", {place: {"type": "Sequence", f"{place}s": [replace, replace]}})


def link(path: Path, target: str) -> None:
    gone(path).symlink_to(target)


WINDOWS = {"use_sliding_window": True, "sliding_window": 64, "num_hidden_layers": 2}
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
    (
        "windows",
        lambda f: write(f, "config.json", CONFIG | WINDOWS | {"max_window_layers": 1}),
        "sliding windows",
    ),
    (
        "a rotation that grows",
        lambda f: write(f, "config.json", CONFIG | {"rope_scaling": {"type": "dynamic"}}),
        "unusual",
    ),
    ("kinds of layers", lambda f: write(f, "config.json", CONFIG | {"layer_types": [{}]}), "unusual layers"),
    ("kinds that are a number", lambda f: write(f, "config.json", CONFIG | {"layer_types": 1}), "unusual layers"),
    ("another activation", lambda f: write(f, "config.json", CONFIG | {"hidden_act": "gelu"}), "unusual layers"),
    ("quantised", lambda f: write(f, "config.json", CONFIG | {"quantization_config": {}}), "quantised"),
    ("a pickle next to them", lambda f: (f / "training_args.bin").write_bytes(b""), "contain programs"),
    ("no tokenizer", lambda f: (f / "tokenizer.json").unlink(), "no tokenizer.json"),
    ("no weights", lambda f: (f / "model.safetensors").unlink(), "no model.safetensors"),
    ("weights cut short", lambda f: (f / "model.safetensors").write_bytes(zeros(12)[:-1]), "Download or copy it again"),
    ("weights empty", lambda f: (f / "model.safetensors").write_bytes(b""), "not a complete"),
    ("a huge header", lambda f: (f / "model.safetensors").write_bytes(b"\xff" * 64), "not a complete"),
    ("a header that is none", lambda f: (f / "model.safetensors").write_bytes(headed({"a": {}}, b"")), "header"),
    *(
        (f"a header with {spoiled}", lambda f, spoiled=spoiled: spoil_header(f, **spoiled), "header")
        for spoiled in (
            {"data_offsets": [0, float("inf")]},
            {"data_offsets": [0]},
            {"data_offsets": [48, 0]},
            {"data_offsets": [-1, 48]},
            {"shape": [float("inf")]},
            {"shape": [10**30]},
            {"shape": [2**51]},
            {"shape": [2] * 9},
            {"shape": [2**50] * 8},
            {"shape": [-3, -4]},
            {"shape": ["12"]},
            {"shape": 12},
            {"shape": [2**31, 2**31]},
            {"shape": [0]},
            {"dtype": "F64"},
            {"dtype": "F4"},
        )
    ),
    ("tensors on top of each other", lambda f: tensors(f, [(0, 48), (0, 48)]), "do not follow each other"),
    ("tensors that overlap", lambda f: tensors(f, [(0, 32), (16, 48)]), "do not follow each other"),
    ("a hole between tensors", lambda f: tensors(f, [(0, 16), (32, 48)]), "do not follow each other"),
    ("an adapter", lambda f: write(f, "adapter_config.json", {"base_model_name_or_path": "/x"}), "adapter for another"),
    ("a template like a book", lambda f: (f / "chat_template.jinja").write_text("x" * 1_000_001), "too large"),
    ("a vocabulary without end", lambda f: os.truncate(touched(f / "vocab.json"), 64_000_001), "too large"),
    ("a pipe for a template", lambda f: os.mkfifo(f / "chat_template.jinja"), "is not a file"),
    ("templates elsewhere", lambda f: (f / "additional_chat_templates").symlink_to(f.parent), "is not a file"),
    *(
        (f"a {place} that makes texts long", lambda f, place=place: grown(f, place), "many times as long")
        for place in ("normalizer", "decoder")
    ),
    (
        "a normalizer like a book",
        lambda f: write(f, "tokenizer.json", {"normalizer": {"x": "y" * 1_000_001}}),
        "many times as long",
    ),
    ("a pipe for a configuration", lambda f: os.mkfifo(gone(f / "config.json")), "not a file"),
    ("a device for weights", lambda f: link(f / "model.safetensors", "/dev/zero"), "no regular file"),
    ("a configuration from elsewhere", lambda f: link(f / "config.json", "/etc/passwd"), "not part of the model"),
    ("a tokenizer from elsewhere", lambda f: link(f / "tokenizer_config.json", "/etc/passwd"), "not part of the model"),
    ("a vocabulary of yes", lambda f: write(f, "config.json", CONFIG | {"vocab_size": True}), "vocab_size"),
    ("no vocabulary", lambda f: write(f, "config.json", CONFIG | {"vocab_size": 0}), "vocab_size"),
    ("less than no context", lambda f: write(f, "config.json", CONFIG | {"max_position_embeddings": -1}), "max_pos"),
    *(
        (f"a shape with {absurd}", lambda f, absurd=absurd: write(f, "config.json", SHAPED | absurd), reason)
        for absurd, reason in (
            ({"num_hidden_layers": 2**31}, "sizes that no model has"),
            ({"num_hidden_layers": 100_000}, "sizes that no model has"),
            ({"hidden_size": -8}, "sizes that no model has"),
            ({"num_attention_heads": 0}, "does not describe the model's shape"),
            ({"intermediate_size": 9_000_000}, "the weights hold 12"),
            ({}, "describes a model with 4,936 numbers, but the weights hold 12"),
        )
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
def test_a_spoiled_folder_is_refused(folder: Path, spoil: Callable[[Path], object], reason: str) -> None:
    spoil(folder)
    with pytest.raises(ModelError, match=reason):
        read_folder(folder)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=10,
)
NUMBERS = st.lists(st.integers(-1, 2**51) | st.floats(), max_size=9) | JSON
ENTRIES = st.fixed_dictionaries({"dtype": JSON, "shape": NUMBERS, "data_offsets": NUMBERS}) | JSON


@given(header=st.dictionaries(st.sampled_from(["__metadata__", "a", "b"]), ENTRIES) | JSON, rest=st.integers(0, 64))
def test_every_header_ends_in_a_sentence(tmp_path_factory: pytest.TempPathFactory, header: Any, rest: int) -> None:
    refused_or_counted(tmp_path_factory.mktemp("header"), headed(header, bytes(rest)))


@given(st.data())
def test_no_damage_does_either(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    content = bytearray(safetensors(4))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    refused_or_counted(tmp_path_factory.mktemp("damaged"), bytes(content[: data.draw(st.integers(0, len(content)))]))


def refused_or_counted(folder: Path, content: bytes) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(content)
    try:
        assert 0 <= count_numbers(path) <= 2 * 2**50
    except ModelError as error:
        assert str(path) in str(error)


@pytest.mark.parametrize("names", [[{"a": 1}], {"a": 1}, 7, ["Mamba", 7], 2**70])
def test_whatever_stands_for_the_architecture_the_reason_can_be_sent(folder: Path, names: Any) -> None:
    write(folder, "config.json", CONFIG | {"architectures": names})
    with pytest.raises(ModelError) as refused:
        read_folder(folder)
    text: Text = refused.value.text
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(text), type=Sentence) == text


def test_a_tokenizer_takes_64_mb_at_most(folder: Path) -> None:
    with (folder / "tokenizer.json").open("ab") as file:
        file.truncate(64_000_001)
    with pytest.raises(ModelError, match=r"tokenizer.json is too large"):
        read_folder(folder)


ONE_LAYER = CONFIG | {
    "hidden_size": 4,
    "num_attention_heads": 1,
    "num_hidden_layers": 1,
    "intermediate_size": 4,
    "vocab_size": 5,
    "tie_word_embeddings": True,
}
TABLE, HEAD = "model.embed_tokens.weight", "lm_head.weight"


@pytest.mark.parametrize(
    ("tensors", "config", "tokens", "said"),
    [
        ({TABLE: 5}, {}, 5, ""),
        ({"embed_tokens.weight": 5}, {}, 5, ""),
        ({TABLE: 5, HEAD: 5}, {"tie_word_embeddings": False}, 5, ""),
        ({TABLE: 5}, {}, 6, "token 5, but the weights end at 4"),
        ({TABLE: 5}, {"tie_word_embeddings": False}, 5, f"no {HEAD}"),
        ({f"language_model.{TABLE}": 5}, {}, 5, "names of another kind"),
        ({HEAD: 5}, {}, 5, f"no {TABLE}"),
    ],
)
def test_weights_have_what_a_model_begins_and_ends_with(
    folder: Path, tensors: dict[str, int], config: dict[str, Any], tokens: int, said: str
) -> None:
    write(folder, "config.json", ONE_LAYER | config)
    write(folder, "tokenizer.json", {"model": {"vocab": {"a": 0}}, "added_tokens": [{"id": tokens - 1}]})
    header, end = {}, 0
    for name, rows in {"rest": 100, **tensors}.items():
        header[name] = {"dtype": "F32", "shape": [rows, 4], "data_offsets": [end, end + 16 * rows]}
        end += 16 * rows
    (folder / "model.safetensors").write_bytes(headed(header, bytes(end)))
    if not said:
        assert read_folder(folder).parameters == end // 4
    else:
        with pytest.raises(ModelError, match=said):
            read_folder(folder)
