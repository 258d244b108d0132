"""Answers made during a step: from the weights before it, weighted by the ratio in the next."""

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from sapo_desktop.core.errors import HostCancelled, OutOfMemory
from sapo_desktop.core.records import StepReport, TrainingSequence
from sapo_desktop.engines import protocols as p
from sapo_desktop.engines.torch import service as torch_service
from sapo_desktop.engines.torch.service import TorchEngine
from sapo_desktop.engines.torch.trainer import GrpoTrainer
from tests.builders import as_prompts
from tests.engines.tiny import loaded_engine, same, token_logprobs_of, weights
from tests.engines.torch.test_service import QUESTION, step_of

CAP = 2.0
"""The cap of TrainerSettings."""


def engine_of(folder: Path, **settings: object) -> TorchEngine:
    """May use two threads: one for each of the two."""
    engine = loaded_engine(folder, learning_rate=1e-2, **settings)
    engine.threads = 2
    return engine


def step(engine: TorchEngine, batch: list[TrainingSequence]) -> p.Stepped:
    """A step with answers made meanwhile; then one thread again, since threads that wait for each other are slow."""
    try:
        return engine.step(batch, NEXT)
    finally:
        torch.set_num_threads(1)


def answers(engine: TorchEngine, request: p.Generate) -> p.Generated:
    return engine.generate(request, lambda _: None, lambda: False)


NEXT = p.Generate(prompts=as_prompts(["what is 2+2?", "what is 1+1?"]), answers=4, sampling=QUESTION.sampling)


@pytest.mark.parametrize("method", ["lora", "full"])
def test_answers_are_those_of_the_weights_before_the_step_and_the_step_is_the_same(folder: Path, method: str) -> None:
    plain, beside = (engine_of(folder, method=method) for _ in range(2))
    batch = step_of(answers(plain, QUESTION)).batch
    before = answers(plain, NEXT)
    alone, both = plain.step(batch), beside.step(batch, NEXT)
    assert torch.get_num_threads() == 2  # as before
    torch.set_num_threads(1)
    assert alone.beside is None and both.beside is not None
    assert both.beside.off_policy and not before.off_policy
    assert both.beside.prompt_tokens == before.prompt_tokens
    assert [[c.tokens for c in row] for row in both.beside.completions] == [
        [c.tokens for c in row] for row in before.completions
    ]
    assert both.report.loss == pytest.approx(alone.report.loss, abs=1e-7)
    for name, weight in weights(beside).items():
        assert torch.allclose(weight, weights(plain)[name], atol=1e-6), name


def test_the_ratio_to_the_weights_that_answered_acts_in_the_loss(llama: Path) -> None:
    engine = engine_of(llama)
    stepped = step(engine, step_of(answers(engine, QUESTION)).batch)
    assert stepped.beside is not None
    advantages = [1.0, -1.0, 0.5, -0.5, 0.25, -0.25, 2.0, -2.0]
    made = [
        (prompt, c)
        for prompt, row in zip(stepped.beside.prompt_tokens, stepped.beside.completions, strict=True)
        for c in row
    ]
    batch = [
        TrainingSequence(prompt=prompt, tokens=c.tokens, advantage=a, sampler_logprobs=c.logprobs)
        for (prompt, c), a in zip(made, advantages, strict=True)
    ]
    now = token_logprobs_of(engine, batch)  # after the step: of other weights than those that answered
    ratios = [torch.ones_like(new) for new in now]  # an end that was put there was drawn by no sampler
    for ratio, new, (_, c) in zip(ratios, now, made, strict=True):
        sampled = len(c.logprobs)
        ratio[:sampled] = (new[:sampled] - torch.tensor(c.logprobs)).exp()
    assert max(float((ratio - 1).abs().max()) for ratio in ratios) > 0.01
    # -1/N sum min(C, pi / pi_answered) r A, where r = pi / pi before this step = 1.
    tokens = sum(len(s.tokens) for s in batch)
    by_hand = -sum(float(ratio.clamp(max=CAP).sum()) * a for ratio, a in zip(ratios, advantages, strict=True)) / tokens
    assert engine.trainer.step(batch).loss == pytest.approx(by_hand, rel=1e-4)


def test_one_thread_answers_in_its_turn(llama: Path) -> None:
    engine = engine_of(llama)
    engine.threads = 1
    assert step(engine, step_of(answers(engine, QUESTION)).batch).beside is None


@pytest.mark.parametrize("error", [OutOfMemory("no room"), RuntimeError("a bug")])
def test_where_answers_fail_the_step_counts(llama: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    engine = engine_of(llama)
    batch = step_of(answers(engine, QUESTION)).batch

    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(torch_service, "generate", fails)
    stepped = step(engine, batch)
    assert stepped.beside is None and not stepped.report.skipped


def test_a_cancel_before_the_step_leaves_the_weights_and_one_after_it_the_step(llama: Path) -> None:
    engine = engine_of(llama)
    batch, start = step_of(answers(engine, QUESTION)).batch, weights(engine)
    cancelled = threading.Event()
    engine.trainer.should_stop = cancelled.is_set
    cancelled.set()
    with pytest.raises(HostCancelled):
        step(engine, batch)
    assert same(weights(engine), start)

    class CancelledLater(GrpoTrainer):
        def step(self, batch: Sequence[TrainingSequence]) -> StepReport:
            cancelled.clear()
            report = super().step(batch)
            cancelled.set()
            return report

    engine.trainer.__class__ = CancelledLater
    assert not step(engine, batch).report.skipped
    assert not same(weights(engine), start)
