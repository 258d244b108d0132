"""A model on disk is described, or its fault is reported."""

import json
from pathlib import Path
from typing import Any

import pytest

from sapo_desktop.core.errors import ModelError
from sapo_desktop.models.describe import describe
from tests.models.files.test_gguf_file import write_table

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "vocab_size": 300,
    "max_position_embeddings": 512,
}


def test_a_folder_is_described(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    found = describe(tmp_path)
    assert (found.context, found.shape.head, found.shape.kv_heads) == (512, 16, 4)


@pytest.mark.parametrize(
    "changed",
    [
        {"num_attention_heads": 0},
        {"num_attention_heads": 0, "head_dim": 16, "num_key_value_heads": 1},
        {"num_attention_heads": float("inf")},
        {"hidden_size": float("nan")},
        {"hidden_size": 10**400},
        {"vocab_size": -1},
        {"head_dim": float("inf")},
        {"num_hidden_layers": None},
        {"max_position_embeddings": float("inf")},
        {"max_position_embeddings": 10**400},
        {"max_position_embeddings": 0},
        {"architectures": []},
        {"architectures": "LlamaForCausalLM"},
    ],
)
def test_a_configuration_that_is_none_is_said(tmp_path: Path, changed: dict[str, Any]) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG | changed))
    with pytest.raises(ModelError, match=r"config\.json"):
        describe(tmp_path)


def test_a_configuration_without_end_is_said(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("[" * 200_000)
    with pytest.raises(ModelError, match="damaged"):
        describe(tmp_path)


def test_what_llama_cpp_holds_twice_counts_twice(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    write_table(path, "Q4_K", 64)
    assert list(describe(path).gguf.values()) == [path.stat().st_size + 64 * 144]
