"""The written-out model in training: values and gradients against transformers' and peft's modules."""

from pathlib import Path

import msgspec
import pytest
import torch

from sapo_desktop.core.records import TrainingSequence
from sapo_desktop.engines.torch.llama import passes as written
from sapo_desktop.engines.torch.service import TorchEngine
from tests.engines.tiny import engine_in_modules, gradients, moved, token_logprobs_of


def trained(folder: Path, method: str) -> tuple[TorchEngine, list[TrainingSequence]]:
    """An engine that has moved away from its start (LoRA's B is zero there) and a batch."""
    engine = engine_in_modules(folder, method=method, learning_rate=1e-2, micro_batch=3)
    return engine, moved(engine)


@pytest.mark.parametrize("method", ["lora", "full"])
def test_gradients_equal_those_through_the_modules(folder: Path, method: str, way: str) -> None:
    engine, batch = trained(folder, method)
    engine.trainer.settings = msgspec.structs.replace(engine.trainer.settings, recompute=way == "recomputed")
    engine.trainer.written_out = True
    ours = gradients(engine, batch)
    engine.trainer.written_out = False
    theirs = gradients(engine, batch)
    assert ours.keys() == theirs.keys() == engine.policy.trainable().keys()
    for name, gradient in ours.items():
        torch.testing.assert_close(gradient, theirs[name], atol=1e-6, rtol=1e-4, msg=name)


@pytest.mark.parametrize("method", ["lora", "full"])
@pytest.mark.parametrize("base", [False, True])
def test_logprobs_equal_those_through_the_modules(folder: Path, method: str, base: bool, way: str) -> None:
    engine, batch = trained(folder, method)

    def logprobs(written_out: bool) -> torch.Tensor:
        engine.trainer.written_out = written_out
        if not base:
            return torch.cat(token_logprobs_of(engine, batch))
        with engine.policy.as_base():
            return torch.cat(token_logprobs_of(engine, batch))

    torch.testing.assert_close(logprobs(True), logprobs(False), atol=1e-5, rtol=1e-5)


@pytest.fixture(params=["packed", "where they lie", "recomputed", "folded"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How weights and activations are held: as of a small model, of a large one, of one that hardly fits; or attention
    as on a card."""
    if request.param == "folded":
        monkeypatch.setattr(written, "FOLDED_ON", ("cpu",))
    elif request.param != "packed":
        monkeypatch.setattr(written, "SMALL", 0)
    return str(request.param)


@pytest.mark.parametrize("kv_heads", [1, 2, 6])
def test_groups_that_stand_one_after_the_other_see_the_same(kv_heads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(4)
    sizes = [(6, 5), (kv_heads, 7), (kv_heads, 7)]
    inputs = [torch.randn(3, heads, steps, 8, requires_grad=True) for heads, steps in sizes]
    seen = torch.rand(3, 1, 5, 7) < 0.7
    seen[..., 0] = True
    shape = written._Shape(6, kv_heads, 8, 1e-6)

    def mixed() -> list[torch.Tensor]:
        out = written.MaskedAttention(shape, seen)(*inputs)
        return [out, *torch.autograd.grad(out.square().sum(), inputs)]

    grouped = mixed()
    monkeypatch.setattr(written, "FOLDED_ON", ("cpu",))
    for ours, theirs in zip(mixed(), grouped, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_a_model_that_is_not_written_out_learns_too(neox: Path) -> None:
    engine, batch = trained(neox, "lora")
    assert not engine.trainer.written_out
    assert engine.trainer.step(batch).grad_norm > 0
