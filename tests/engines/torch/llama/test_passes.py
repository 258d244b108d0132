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
def test_logprobs_and_gradients_equal_those_through_the_modules(folder: Path, method: str, way: str) -> None:
    engine, batch = trained(folder, method)
    with torch.no_grad():
        for own, sequence in zip(token_logprobs_of(engine, batch), batch, strict=True):
            torch.testing.assert_close(own, logprobs_through_the_modules(engine, sequence), atol=1e-5, rtol=1e-5)
    engine.trainer.settings = msgspec.structs.replace(engine.trainer.settings, recompute=way == "recomputed")
    ours = gradients(engine, batch)
    theirs = gradients_through_the_modules(engine, batch)
    assert ours.keys() == theirs.keys() == engine.policy.trainable().keys()
    for name, gradient in ours.items():
        torch.testing.assert_close(gradient, theirs[name], atol=1e-6, rtol=1e-4, msg=name)


def logprobs_through_the_modules(engine: TorchEngine, sequence: TrainingSequence) -> torch.Tensor:
    """Log p of each of its answer's tokens, from one forward pass of transformers' and peft's modules."""
    logits = engine.lm.model(input_ids=torch.tensor([sequence.prompt + sequence.tokens])).logits[0]
    predicting = logits[len(sequence.prompt) - 1 : -1] / engine.trainer.settings.temperature
    return predicting.log_softmax(-1).gather(1, torch.tensor(sequence.tokens)[:, None])[:, 0]


def gradients_through_the_modules(engine: TorchEngine, batch: list[TrainingSequence]) -> dict[str, torch.Tensor]:
    """As `gradients`: at the weights of before a step every ratio is 1, so the loss is -sum A exp(l - l') / 100."""
    engine.trainer.optimiser.zero_grad()
    for sequence in batch:
        logprobs = logprobs_through_the_modules(engine, sequence)
        (-sequence.advantage * (logprobs - logprobs.detach()).exp().sum() / 100).backward()
    return {name: p.grad.clone() for name, p in engine.policy.trainable().items() if p.grad is not None}


@pytest.fixture(params=["packed", "where they lie", "recomputed"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How weights and activations are held: as of a small model, of a large one, of one that hardly fits."""
    if request.param != "packed":
        monkeypatch.setattr(written, "SMALL", 0)
    return str(request.param)
