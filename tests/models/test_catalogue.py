"""The shipped model catalogue is complete and consistent, and its names can be downloaded."""

import json
from pathlib import Path

import pytest

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.models import Fetch
from sapo_desktop.core.resources import resource
from sapo_desktop.models.catalogue import CATALOGUE, catalogue_specs, model_catalogue, read_catalogue
from sapo_desktop.models.fit.shape import shape_of
from sapo_desktop.models.service import _spec

KIB_A_TOKEN = {
    "smollm2-135m": 22.5,
    "smollm2-360m": 40,
    "smollm2-1.7b": 192,
    "smollm3-3b": 72,
    "qwen2.5-0.5b": 12,
    "qwen2.5-1.5b": 28,
    "qwen2.5-7b": 56,
    "qwen3-0.6b": 112,
    "qwen3-1.7b": 112,
    "qwen3-4b": 144,
    "qwen3-8b": 144,
    "llama-3.2-1b": 32,
    "llama-3.2-3b": 112,
}
"""Bytes of keys and values in 16 bits, as in published tables."""


def test_every_shape_gives_the_published_size_and_cache() -> None:
    models = model_catalogue().models
    assert sorted(entry.id for entry in models) == sorted(["starter", *KIB_A_TOKEN])
    for entry in models:
        assert entry.exact_parameters == pytest.approx(entry.parameters, rel=0.01)
        if not entry.shipped:
            assert 2 * entry.shape.kv_numbers() / 1024 == KIB_A_TOKEN[entry.id]


def test_the_starter_of_the_catalogue_is_the_one_that_ships() -> None:
    entry = model_catalogue().find("starter")
    config = json.loads(resource("starter/config.json").read_text())
    assert entry is not None and entry.shipped
    assert shape_of(config) == entry.shape
    assert (config["architectures"], config["max_position_embeddings"]) == ([entry.architecture], entry.context)
    assert entry.exact_parameters == 1_877_952  # the numbers in model.safetensors


@pytest.mark.parametrize(("name", "rank", "millions"), [("qwen2.5-0.5b", 16, 8.8), ("qwen2.5-1.5b", 16, 18.5)])
def test_adapters_have_the_published_size(name: str, rank: int, millions: float) -> None:
    entry = model_catalogue().find(name)
    assert entry.shape.adapter_parameters(rank) / 1e6 == pytest.approx(millions, rel=0.01)


def test_sizes_that_nobody_wrote_down_are_counted_by_bits() -> None:
    smallest, known = (model_catalogue().find(name) for name in ("smollm2-135m", "qwen2.5-0.5b"))
    assert smallest is not None and known is not None
    assert known.gguf_bytes("Q8_0") == 531_000_000
    assert smallest.gguf_bytes("Q8_0") == pytest.approx(134_515_008 * 8.5 / 8, rel=1e-6)


def test_every_model_says_where_it_comes_from() -> None:
    for entry in model_catalogue().models:
        assert (entry.gate == "account") == entry.repository.startswith("meta-llama/")
        assert entry.shipped != bool(entry.repository)


def test_every_model_but_the_one_that_ships_is_downloaded_by_its_id_and_gguf_versions_by_names_of_their_own() -> None:
    specs, models = catalogue_specs(), model_catalogue().models
    versions = [f"{model.id}-{file.quantisation.lower()}" for model in models for file in model.gguf]
    assert sorted(specs) == sorted([*KIB_A_TOKEN, *versions])
    assert specs["smollm2-135m"].repository == "HuggingFaceTB/SmolLM2-135M-Instruct"
    assert all(specs[name].quantisation for name in versions)
    request = Fetch(folder="/nowhere", reference="smollm2-135m")
    assert _spec(request) == specs["smollm2-135m"], "the process that downloads knows them"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (('gate = "open"', 'gate = "ajar"'), "Invalid enum value 'ajar'"),
        (("unverified = ", "unverfied = "), "unknown field `unverfied`"),
        (("context = 8192", "context = "), "cannot be used"),
    ],
)
def test_a_slip_is_found(tmp_path: Path, change: tuple[str, str], complaint: str) -> None:
    text = resource(CATALOGUE).read_text(encoding="utf-8")
    assert change[0] in text
    path = tmp_path / CATALOGUE
    path.write_text(text.replace(change[0], change[1], 1), encoding="utf-8")
    with pytest.raises(ModelError, match=complaint):
        read_catalogue(path)


def test_a_config_without_a_shape_is_refused() -> None:
    with pytest.raises(ModelError, match="hidden_size"):
        shape_of({"num_attention_heads": 4})
