"""Steps of the trainer on tiny models."""

import threading
from pathlib import Path

import msgspec
import pytest
import torch

from sapo_desktop.core.errors import HostCancelled, OutOfMemory
from sapo_desktop.core.records import TrainingSequence
from sapo_desktop.engines.torch.batches import MicroBatch
from sapo_desktop.engines.torch.service import TorchEngine
from sapo_desktop.engines.torch.trainer import AVERAGED
from tests.builders import as_prompt
from tests.engines import tiny
from tests.engines.tiny import answer, loaded_engine, same, sequences, token_logprobs_of, weights

PROMPTS = ["what is 1+1?", "greatest common divisor of 12, 8"]
ADVANTAGES = [1.5, -0.5, 0.7, -1.7]


def made_batch(engine: TorchEngine) -> list[TrainingSequence]:
    return sequences(answer(engine, PROMPTS, 4, max_tokens=24, seed=11), ADVANTAGES)


def gradients(engine: TorchEngine, batch: list[TrainingSequence], micro_batch: int) -> dict[str, torch.Tensor]:
    """Gradients in float64 (transformers' norms still round to float32)."""
    engine.trainer.configure(None, micro_batch)
    return tiny.gradients(engine, batch, sum(len(s.tokens) for s in batch))


@pytest.mark.parametrize("method", ["lora", "full"])
def test_the_micro_batch_leaves_the_gradient_equal(folder: Path, method: str) -> None:
    engine = loaded_engine(folder, method=method)
    batch = made_batch(engine)
    engine.lm.model.double()
    whole = gradients(engine, batch, 8)
    for size in (4, 3, 1):
        for name, gradient in gradients(engine, batch, size).items():
            assert float((gradient - whole[name]).norm()) <= 1e-6 * float(whole[name].norm()), name


def test_a_right_answer_gets_likelier_and_a_wrong_one_rarer(engine: TorchEngine) -> None:
    batch = made_batch(engine)
    before = token_logprobs_of(engine, batch)
    report = engine.trainer.step(batch)
    after = token_logprobs_of(engine, batch)
    assert not report.skipped
    assert report.grad_norm > 0
    gains = [float((b - a).sum()) for a, b in zip(before, after, strict=True)]
    best, worst = 0, 3
    assert gains[best] > 0 > gains[worst]
    assert sum(g * s.advantage for g, s in zip(gains, batch, strict=True)) > 0


def test_end_of_sequence_is_trained(engine: TorchEngine) -> None:
    prompt, end = engine.lm.words.prompt_tokens(as_prompt("what is 1+1?")), engine.lm.words.end_token
    batch = [TrainingSequence(prompt=prompt, tokens=[32, end], advantage=1.0)]
    before = token_logprobs_of(engine, batch)[0][-1]
    for _ in range(3):
        engine.trainer.step(batch)
    assert token_logprobs_of(engine, batch)[0][-1] > before


def test_a_peers_answer_that_this_model_would_hardly_write_is_not_learned(engine: TorchEngine) -> None:
    own = made_batch(engine)[0]
    least = float(token_logprobs_of(engine, [own])[0].exp().min())
    learned = gradients(engine, [own], 1)
    peers = msgspec.structs.replace(own, least=0.99 * least)
    assert same(gradients(engine, [peers], 1), learned)
    peers = msgspec.structs.replace(own, least=1.01 * least)
    assert not any(gradient.any() for gradient in gradients(engine, [peers], 1).values())
    assert same(gradients(engine, [own], 1), learned)


def test_a_step_whose_answers_are_all_left_out_moves_nothing(engine: TorchEngine) -> None:
    """Adam's memory of earlier steps would, and steps and average would continue."""
    batch = made_batch(engine)
    engine.trainer.step(batch)
    start, average = weights(engine), {name: value.clone() for name, value in engine.trainer.average.items()}
    peers = [msgspec.structs.replace(s, least=1.0) for s in batch]
    report = engine.trainer.step(peers)
    assert (report.skipped, report.grad_norm, report.loss, report.steps) == (True, 0.0, 0.0, 1)
    assert report.left_out == len(peers)
    assert same(weights(engine), start) and same(engine.trainer.average, average)
    assert all(p.grad is None for p in engine.policy.trainable().values())


@pytest.mark.parametrize("micro_batch", [8, 1])
def test_answers_that_are_left_out_do_not_thin_out_what_others_teach(folder: Path, micro_batch: int) -> None:
    engine = loaded_engine(folder)
    own, *others = made_batch(engine)
    alone = gradients(engine, [own], micro_batch)
    peers = [msgspec.structs.replace(s, least=1.0) for s in others]
    for name, gradient in gradients(engine, [own, *peers], micro_batch).items():
        torch.testing.assert_close(gradient, alone[name])
    report = engine.trainer.step([own, *peers])
    assert report.loss == pytest.approx(-own.advantage, rel=1e-5)
    assert report.tokens == sum(len(s.tokens) for s in [own, *peers])
    assert report.left_out == len(peers)


def test_no_advantage_is_no_step(engine: TorchEngine) -> None:
    batch = [msgspec.structs.replace(s, advantage=0.0) for s in made_batch(engine)]
    start = weights(engine)
    report = engine.trainer.step(batch)
    assert report.skipped
    assert same(weights(engine), start)
    assert not engine.trainer.optimiser.state


def test_answers_of_zero_advantage_count_in_the_normaliser_only(engine: TorchEngine) -> None:
    batch = made_batch(engine)
    silent = [msgspec.structs.replace(s, advantage=0.0) for s in batch]
    loss_alone = engine.trainer.step(batch[:1]).loss
    engine.trainer.policy.reset()
    loss_among = engine.trainer.step(batch[:1] + silent[1:]).loss
    share = len(batch[0].tokens) / sum(len(s.tokens) for s in batch)
    assert loss_alone == pytest.approx(-ADVANTAGES[0], rel=1e-5)
    assert loss_among == pytest.approx(loss_alone * share, rel=1e-5)


def test_an_empty_answer_is_passed_over(engine: TorchEngine) -> None:
    empty = TrainingSequence(prompt=[3, 4], tokens=[], advantage=1.0)
    assert engine.trainer.step([empty]).skipped
    assert not engine.trainer.step([empty, *made_batch(engine)]).skipped


def test_one_update_never_clips_and_more_do(llama: Path) -> None:
    once = loaded_engine(llama, learning_rate=3e-2)
    batch = made_batch(once)
    assert once.trainer.step(batch).clip_fraction == 0.0
    often = loaded_engine(llama, learning_rate=3e-2, updates=4)
    assert often.trainer.step(batch).clip_fraction > 0.05


def test_sampler_logprobs_of_the_own_model_change_nothing(llama: Path) -> None:
    plain, weighted = loaded_engine(llama), loaded_engine(llama)
    made = answer(plain, PROMPTS, 4, max_tokens=24, seed=11)
    batch = sequences(made, ADVANTAGES)
    claimed = [
        msgspec.structs.replace(s, sampler_logprobs=c.logprobs)
        for s, c in zip(batch, [c for row in made.completions for c in row], strict=True)
    ]
    assert plain.trainer.step(batch).grad_norm == pytest.approx(weighted.trainer.step(claimed).grad_norm, rel=1e-4)


def test_temperature_divides_the_trainers_logits_too(llama: Path) -> None:
    hot = loaded_engine(llama, temperature=1.7)
    made = answer(hot, PROMPTS, 2, max_tokens=10, temperature=1.7)
    batch = sequences(made, [1.0, -1.0])
    sampled = [c.logprobs for row in made.completions for c in row]
    for ours, theirs in zip(token_logprobs_of(hot, batch), sampled, strict=True):
        assert ours.tolist()[: len(theirs)] == pytest.approx(theirs, abs=1e-4)


class Starving:
    """Fails like torch's CPU allocator where a micro-batch is too big, after some forward passes."""

    def __init__(self, engine: TorchEngine, fits: int) -> None:
        self._forward, self._fits = engine.trainer.logprobs, fits

    def __call__(self, part: MicroBatch) -> torch.Tensor:
        if len(part.sequences) > self._fits:
            raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to ...")
        return self._forward(part)


def test_out_of_memory_halves_the_micro_batch_and_steps(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    starved, fed = loaded_engine(llama, micro_batch=8), loaded_engine(llama, micro_batch=2)
    batch = made_batch(fed)
    monkeypatch.setattr(starved.trainer, "logprobs", Starving(starved, fits=2))
    report = starved.trainer.step(batch)
    assert report.micro_batch == 2
    assert fed.trainer.step(batch).loss == report.loss
    assert same(weights(starved), weights(fed))


def test_out_of_memory_at_one_sequence_is_no_step(engine: TorchEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    batch, start = made_batch(engine), weights(engine)
    monkeypatch.setattr(engine.trainer, "logprobs", Starving(engine, fits=0))
    with pytest.raises(OutOfMemory):
        engine.trainer.step(batch)
    assert same(weights(engine), start)


def test_other_failures_are_not_taken_for_memory(engine: TorchEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(part: MicroBatch) -> torch.Tensor:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    batch = made_batch(engine)
    monkeypatch.setattr(engine.trainer, "logprobs", broken)
    with pytest.raises(RuntimeError, match="mat1"):
        engine.trainer.step(batch)


def test_cancel_between_micro_batches_leaves_the_weights(llama: Path) -> None:
    engine = loaded_engine(llama, micro_batch=2)
    batch, start, cancelled = made_batch(engine), weights(engine), threading.Event()
    forward = engine.trainer.logprobs

    def cancel_after_first(part: MicroBatch) -> torch.Tensor:
        cancelled.set()
        return forward(part)

    engine.trainer.should_stop = cancelled.is_set
    engine.trainer.logprobs = cancel_after_first  # type: ignore[method-assign]
    with pytest.raises(HostCancelled):
        engine.trainer.step(batch)
    assert same(weights(engine), start)
    assert all(p.grad is None for p in engine.policy.trainable().values())


def test_the_average_leans_to_the_later_of_the_first_steps_and_then_forgets(llama: Path) -> None:
    """After a step w0/4 + 3 w1/4, after two that times 2/5 + 3 w2/5. From the 97th step on each counts 3%."""
    engine = loaded_engine(llama)
    seen = [weights(engine)]
    for seed in range(2):
        made = answer(engine, ["what is 1+1?"], 2, max_tokens=8, seed=seed)
        engine.trainer.step(sequences(made, [1.0, -1.0]))
        seen.append(weights(engine))
    for name, value in engine.trainer.average.items():
        torch.testing.assert_close(value, 0.1 * seen[0][name] + 0.3 * seen[1][name] + 0.6 * seen[2][name])
    before = {name: value.clone() for name, value in engine.trainer.average.items()}
    engine.trainer.steps = 99
    made = answer(engine, ["what is 1+1?"], 2, max_tokens=8, seed=9)
    engine.trainer.step(sequences(made, [1.0, -1.0]))
    for name, value in weights(engine).items():
        torch.testing.assert_close(engine.trainer.average[name], AVERAGED * before[name] + (1 - AVERAGED) * value)


@pytest.mark.parametrize("method", ["lora", "full"])
def test_what_learns_is_put_back_after_its_average_was_shown(llama: Path, method: str) -> None:
    engine = loaded_engine(llama, method=method)
    made = answer(engine, ["what is 1+1?"], 2, max_tokens=8, seed=1)
    engine.trainer.step(sequences(made, [1.0, -1.0]))
    live = weights(engine)
    with pytest.raises(KeyError), engine.trainer.averaged():
        assert same(weights(engine), engine.trainer.average) and not same(weights(engine), live)
        raise KeyError
    assert same(weights(engine), live)
