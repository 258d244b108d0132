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
from sapo_desktop.engines.torch.service import Service


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
    with pytest.raises(ModelError, match=rf"no numbers \(.*{what}"):
        Service().handle(p.Load(model=str(folder), trainer=TrainerSettings(), threads=1, device="cpu"), lambda _: None)
