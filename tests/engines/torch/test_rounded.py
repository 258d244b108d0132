"""Bases whose matrices are held in 8 bits, against the same base with the rounded numbers written out."""

from pathlib import Path

import msgspec
import pytest
import torch
from safetensors.torch import load_file
from torch import nn
from transformers import AutoModelForCausalLM

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.records import TrainerSettings
from sapo_desktop.engines.exporting.export import export
from sapo_desktop.engines.protocols import Export, Load
from sapo_desktop.engines.torch.llama import passes
from sapo_desktop.engines.torch.rounded import RoundedLinear, round_matrices, whole
from sapo_desktop.engines.torch.service import TorchEngine
from tests.engines.tiny import (
    answer,
    engine_in_modules,
    gradients,
    moved,
    save_model,
    token_logprobs_of,
    weights,
)

SETTINGS = TrainerSettings(learning_rate=1e-2, micro_batch=3)


def rounded_engine(folder: Path, trainer: TrainerSettings = SETTINGS) -> TorchEngine:
    return TorchEngine(Load(model=str(folder), trainer=trainer, threads=1, device="cpu", rounded=True))


def written_out(folder: Path, to: Path) -> Path:
    """A copy of the model whose matrices are the rounded ones, as plain numbers."""
    save_model(to, folder.name[:-1])
    model = AutoModelForCausalLM.from_pretrained(folder)
    round_matrices(model, torch.device("cpu"))
    layers = {name: one for name, one in model.named_modules() if isinstance(one, RoundedLinear)}
    plain = AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        for name, layer in layers.items():
            plain.get_submodule(name).weight.copy_(whole(layer.weight, layer.scale))
    plain.save_pretrained(to)
    return to


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_no_weight_is_off_by_more_than_half_a_step_of_its_row(dtype: torch.dtype) -> None:
    torch.manual_seed(1)
    layer = nn.Linear(30, 20).to(dtype)
    with torch.no_grad():
        layer.weight[3] *= 1000
        layer.weight[4] = 0
    rounded = RoundedLinear(layer)
    off = (rounded.weight * rounded.scale.float() - layer.weight.float()).abs()
    assert rounded.weight.dtype == torch.int8 and rounded.weight.abs().amax() >= 126
    assert bool((off <= layer.weight.float().abs().amax(1, keepdim=True) / 127 * 0.51).all())
    assert whole(rounded.weight, rounded.scale).dtype == dtype


@pytest.mark.parametrize("way", ["packed", "where they lie", "recomputed"])
def test_answers_and_gradients_are_those_of_the_rounded_numbers(
    folder: Path, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way != "packed":
        monkeypatch.setattr(passes, "SMALL", 0)
    trainer = msgspec.structs.replace(SETTINGS, recompute=way == "recomputed")
    ours = rounded_engine(folder, trainer)
    theirs = engine_in_modules(written_out(folder, tmp_path / "plain"), **msgspec.to_builtins(trainer))
    assert any(isinstance(one, RoundedLinear) for one in ours.policy.model.modules())

    batch = moved(ours)
    theirs.policy.take(weights(ours))

    for mine, other in zip(token_logprobs_of(ours, batch), token_logprobs_of(theirs, batch), strict=True):
        torch.testing.assert_close(mine, other, atol=1e-5, rtol=1e-5)
    found, wanted = gradients(ours, batch), gradients(theirs, batch)
    assert found.keys() == wanted.keys() == ours.policy.trainable().keys()
    for name, gradient in found.items():
        torch.testing.assert_close(gradient, wanted[name], atol=1e-6, rtol=1e-4, msg=name)
    for base in (False, True):
        made = [answer(one, ["what is 2+3?"], 3, base=base, max_tokens=20, seed=7) for one in (ours, theirs)]
        assert [one.tokens for one in made[0].completions[0]] == [one.tokens for one in made[1].completions[0]]


def test_no_matrix_is_kept_whole_for_the_backward_pass(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "SMALL", 0)
    engine = rounded_engine(folder)
    batch = moved(engine)[:-1]  # in all, no activation has the shape of a matrix
    matrices = {tuple(one.weight.shape) for one in engine.policy.model.modules() if isinstance(one, RoundedLinear)}
    kept: list[torch.Tensor] = []

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        gradients(engine, batch)
    floating = [tuple(one.shape) for one in kept if one.is_floating_point()]
    assert any(one.dtype == torch.int8 for one in kept)
    assert not matrices & {*floating, *(shape[::-1] for shape in floating)}


def test_what_it_learned_is_exported_on_the_base_as_it_was(folder: Path, tmp_path: Path) -> None:
    engine = rounded_engine(folder)
    moved(engine)
    engine.export(Export(format="merged", folder=str(tmp_path / "merged")))
    plain = engine_in_modules(folder)
    with engine.trainer.averaged():
        plain.policy.take(weights(engine))
    export("merged", plain.policy.model, plain.lm.tokenizer, folder, tmp_path / "plain")
    ours, theirs = (load_file(tmp_path / name / "model.safetensors") for name in ("merged", "plain"))
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        torch.testing.assert_close(tensor, theirs[name], msg=name)


def test_it_is_noted(llama: Path) -> None:
    assert rounded_engine(llama).loaded().dtype == "float32/int8"


def test_all_weights_are_not_trained_in_eight_bits(llama: Path) -> None:
    with pytest.raises(UsageError, match="float32 weights"):
        rounded_engine(llama, TrainerSettings(method="full"))
