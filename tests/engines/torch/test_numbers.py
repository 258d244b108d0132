"""A model that computes with values that are no numbers is refused before anything is asked of it."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.records import TrainerSettings
from sapo_desktop.core.resources import resource
from sapo_desktop.engines import protocols as p
from sapo_desktop.engines.gguf.folder import write_folder
from sapo_desktop.engines.torch.service import create
from tests.engines.export_models import save_base, starter_like_tokenizer, tiny_model


def spoilt(weights: dict[str, Any]) -> None:
    weights["model.layers.1.mlp.up_proj.weight"][3, 5] = float("nan")


def endless(weights: dict[str, Any]) -> None:
    """Numbers, every one; their products are none."""
    for name in weights:
        if "up_proj" in name or "gate_proj" in name:
            weights[name].fill_(1e30)


def endless_but_at_the_end(weights: dict[str, Any]) -> None:
    """The row of the padding, which often ends texts too, is 0 in many models: after it all is 0."""
    weights["model.embed_tokens.weight"][:2] = 0.0
    weights["model.norm.weight"].fill_(3e38)


@pytest.mark.parametrize(
    ("edit", "what"), [(spoilt, "up_proj"), (endless, "logits"), (endless_but_at_the_end, "logits")]
)
def test_what_is_no_number_is_said_when_the_model_is_loaded(tmp_path: Path, edit: Any, what: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(resource("starter"), folder)
    weights = load_file(folder / "model.safetensors")
    weights = {name: tensor.to(torch.float32) for name, tensor in weights.items()}
    edit(weights)
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match=rf"not numbers \(.*{what}"):
        create().handle(p.Load(model=str(folder), trainer=TrainerSettings(), threads=1, device="cpu"), lambda _: None)


@pytest.mark.allowed_skip("llama-cpp-python is built from source and may be missing at a desk")
def test_llama_cpp_answers_by_no_such_values_either(tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not built here")
    from sapo_desktop.engines.llama_cpp.service import create as create_llama_cpp

    folder = save_base(tiny_model("llama", 272), starter_like_tokenizer(), tmp_path / "tiny")
    weights = load_file(folder / "model.safetensors")
    weights["model.norm.weight"].fill_(3e38)
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    write_folder(folder, tmp_path / "m.gguf", "F32")
    with pytest.raises(ModelError, match=r"not numbers \(logits"):
        create_llama_cpp().handle(p.LoadGguf(model=str(tmp_path / "m.gguf"), threads=1, device="cpu"), lambda _: None)
