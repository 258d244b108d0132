"""What bfloat16, and matrices in 8 bits, cost in precision, on a round of the real starter: 8 questions of the
catalogue, 8 answers each, computed where the weights lie, as larger models are.

The adapter is the same in all, drawn by chance, so that all of its gradients count. Measured here, for bfloat16, 8 bits
in float32, and both: the log-probability of a token is off by .010, .011 and .022 (root mean square), the gradient's
cosine to float32's is .9995, .9995 and .998, its length off by 1.3, .6 and 1.8%.
"""

import math

import pytest
import torch

from sapo_desktop.core.records import TrainerSettings, TrainingSequence
from sapo_desktop.engines.protocols import Load
from sapo_desktop.engines.torch.llama import passes
from sapo_desktop.engines.torch.service import TorchEngine
from sapo_desktop.models.starter import starter_folder
from tests.engines.llama_cpp.cpp import catalogue_questions
from tests.engines.tiny import answer, sequences, token_logprobs_of

pytestmark = pytest.mark.slow  # the examiner makes the questions

ADVANTAGES = [1.5, -0.5, 0.7, -1.7, 0.2, -0.2, 0.9, -0.9]
MOST_OFF, LEAST_COSINE = 0.03, 0.995


def engine_in(dtype: str, rounded: bool = False) -> TorchEngine:
    load = Load(
        model=str(starter_folder()),
        trainer=TrainerSettings(micro_batch=16),
        threads=1,
        device="cpu",
        dtype=dtype,
        rounded=rounded,
    )
    engine = TorchEngine(load)
    random = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for _, value in sorted(engine.policy.trainable().items()):
            value.copy_(0.3 / math.sqrt(value.shape[-1]) * torch.randn(value.shape, generator=random))
    return engine


def gradient_of(engine: TorchEngine, batch: list[TrainingSequence]) -> torch.Tensor:
    tokens, known = sum(len(s.tokens) for s in batch), dict(enumerate(token_logprobs_of(engine, batch)))
    engine.trainer.accumulate(batch, list(range(len(batch))), tokens, known)
    found = [p.grad.float().flatten() for _, p in sorted(engine.policy.trainable().items()) if p.grad is not None]
    return torch.cat(found)


@pytest.mark.parametrize(
    ("dtype", "rounded", "most_longer"),
    [("bfloat16", False, 0.02), ("float32", True, 0.01), ("bfloat16", True, 0.03)],
)
def test_a_step_in_fewer_digits_is_that_of_float32_within_bounds(
    dtype: str, rounded: bool, most_longer: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "SMALL", 0)
    exact, rough = engine_in("float32"), engine_in(dtype, rounded)
    questions = catalogue_questions([5])[::10][:8]
    batch = sequences(answer(exact, questions, 8, max_tokens=64, seed=5), ADVANTAGES)
    assert len(batch) == 64
    off = torch.cat(token_logprobs_of(rough, batch)).float() - torch.cat(token_logprobs_of(exact, batch))
    wanted, gradient = gradient_of(exact, batch), gradient_of(rough, batch)

    assert off.square().mean().sqrt() < MOST_OFF
    assert torch.cosine_similarity(gradient, wanted, dim=0) > LEAST_COSINE
    assert gradient.norm() / wanted.norm() == pytest.approx(1, abs=most_longer)
    assert not torch.equal(gradient, wanted)  # otherwise nothing was compared
