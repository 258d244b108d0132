"""Loss and gradients against TRL 1.16.0's GRPOTrainer, given the same advantages.

TRL's settings: loss_type="dapo" (the loss whose normaliser is the token count of the whole batch), epsilon
0.2, epsilon_high 0.28, importance_sampling_level="token", beta 0, disable_dropout; where a sampler's
log-probabilities are given, vllm_importance_sampling_correction in the mode "token_truncate" with clip_max 2.
Advantages are handed in: TRL's own divide by the sample standard deviation + 1e-4, ours by the population's.
"""

from pathlib import Path
from typing import Any

import pytest
import torch

from sapo_desktop.core.records import TrainingSequence
from sapo_desktop.engines.torch.service import TorchEngine
from tests.engines.tiny import answer, loaded_engine, sequences, token_logprobs_of

pytestmark = pytest.mark.slow  # the import of TRL alone takes longer than all quick tests

CAP = 2.0
ADVANTAGES = [1.5, -0.5, 0.7, -1.7]


def trl_trainer(folder: Path, out: Path) -> Any:
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer

    settings = GRPOConfig(
        output_dir=str(out),
        use_cpu=True,
        bf16=False,
        report_to=[],
        per_device_train_batch_size=8,
        num_generations=4,
        loss_type="dapo",
        epsilon=0.2,
        epsilon_high=0.28,
        beta=0.0,
        importance_sampling_level="token",
        vllm_importance_sampling_correction=True,
        vllm_importance_sampling_mode="token_truncate",
        vllm_importance_sampling_clip_max=CAP,
        disable_dropout=True,
    )
    trainer = GRPOTrainer(
        model=AutoModelForCausalLM.from_pretrained(folder),
        reward_funcs=lambda completions, **_: [0.0] * len(completions),
        args=settings,
        train_dataset=Dataset.from_dict({"prompt": ["a"] * 8}),
        processing_class=AutoTokenizer.from_pretrained(folder),
    )
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = 1
    return trainer


def padded(rows: list[list[float]], left: bool = False) -> torch.Tensor:
    width = max(map(len, rows))
    filled = [[0] * (width - len(r)) + r if left else r + [0] * (width - len(r)) for r in rows]
    return torch.tensor(filled)


def trl_inputs(batch: list[TrainingSequence], old: list[list[float]]) -> dict[str, torch.Tensor]:
    """What TRL's collation would hand to its loss: prompts padded left, answers right."""
    return {
        "prompt_ids": padded([s.prompt for s in batch], left=True),
        "prompt_mask": padded([[1] * len(s.prompt) for s in batch], left=True),
        "completion_ids": padded([s.tokens for s in batch]),
        "completion_mask": padded([[1] * len(s.tokens) for s in batch]),
        "advantages": torch.tensor([s.advantage for s in batch]),
        "old_per_token_logps": padded(old).float(),
        "num_items_in_batch": torch.tensor(sum(len(s.tokens) for s in batch)),
    }


def shifted(values: list[torch.Tensor], by: float, seed: int) -> list[list[float]]:
    """Log-probabilities some other policy might have given: far enough that the clip acts."""
    random = torch.Generator().manual_seed(seed)
    return [(v + by * torch.randn(v.shape, generator=random)).tolist() for v in values]


def our_gradients(engine: TorchEngine, batch: list[TrainingSequence], old: list[list[float]]) -> tuple[Any, Any]:
    known = {i: torch.tensor(values) for i, values in enumerate(old)}
    tokens = sum(len(s.tokens) for s in batch)
    update = engine.trainer.accumulate(batch, list(range(len(batch))), tokens, known)
    return update, {name: p.grad for name, p in engine.policy.trainable().items()}


@pytest.mark.parametrize("external_sampler", [False, True])
def test_loss_and_gradients_equal_trl(llama: Path, tmp_path: Path, external_sampler: bool) -> None:
    engine = loaded_engine(llama, method="full", micro_batch=3, importance_cap=CAP)
    made = answer(engine, ["what is 1+1?", "greatest common divisor of 12, 8"], 4, max_tokens=20, seed=5)
    batch = sequences(made, ADVANTAGES)
    own = token_logprobs_of(engine, batch)
    old = shifted(own, 0.3, seed=1)
    trl = trl_trainer(llama, tmp_path)
    inputs = trl_inputs(batch, old)
    if external_sampler:
        sampled = shifted(own, 0.6, seed=2)
        batch = [
            TrainingSequence(prompt=s.prompt, tokens=s.tokens, advantage=s.advantage, sampler_logprobs=p)
            for s, p in zip(batch, sampled, strict=True)
        ]
        trl.use_vllm = True
        ratio = torch.exp(padded(old).float() - padded(sampled).float())
        inputs["importance_sampling_ratio"] = ratio.clamp(max=CAP)
    loss = trl.compute_loss(trl.model, inputs)
    loss.backward()
    theirs = {name: p.grad for name, p in trl.model.named_parameters()}

    update, ours = our_gradients(engine, batch, old)

    assert update.clipped > 10
    assert update.loss == pytest.approx(float(loss.detach()), abs=1e-5)
    assert ours.keys() == theirs.keys()
    for name, gradient in ours.items():
        torch.testing.assert_close(gradient, theirs[name], atol=1e-5, rtol=0, msg=name)
