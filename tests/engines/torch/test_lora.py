"""Adapters: what is trained, how it is stored, and that the base stays unchanged."""

import json
from pathlib import Path

import pytest
import torch

from sapo_desktop.core.errors import CheckpointError
from sapo_desktop.core.records import TrainingSequence
from sapo_desktop.core.resources import resource
from tests.engines.tiny import answer, learn, loaded_engine, same, weights


def test_a_fresh_adapter_changes_no_answer(folder: Path) -> None:
    engine = loaded_engine(folder)
    own, base = (answer(engine, ["a", "b"], 2, max_tokens=10, base=b) for b in (False, True))
    assert own.completions == base.completions


def test_the_adapters_start_comes_from_the_seed_alone(llama: Path) -> None:
    torch.manual_seed(1)
    first = weights(loaded_engine(llama, seed=5))
    torch.manual_seed(2)
    assert same(weights(loaded_engine(llama, seed=5)), first)
    assert not same(weights(loaded_engine(llama, seed=6)), first)


@pytest.mark.parametrize("kind", ["llama", "starter"])
def test_a_card_that_nobody_computes_on_is_left_alone(kind: str, llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """torch would wake it up to keep its random numbers."""
    asked: list[object] = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda device: asked.append(device) or torch.get_rng_state())
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state, device: None)
    loaded_engine(llama if kind == "llama" else resource("starter"))
    assert asked == []


@pytest.mark.parametrize("method", ["lora", "full"])
def test_the_base_answers_as_before_after_training(llama: Path, method: str) -> None:
    engine = loaded_engine(llama, method=method, learning_rate=1e-2)
    untrained = answer(engine, ["a", "b"], 2, max_tokens=10).completions
    learn(engine)
    trained = weights(engine)
    assert answer(engine, ["a", "b"], 2, max_tokens=10).completions != untrained
    assert answer(engine, ["a", "b"], 2, max_tokens=10, base=True).completions == untrained
    assert same(weights(engine), trained)


def test_peft_reads_the_adapter(llama: Path, tmp_path: Path) -> None:
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    engine = loaded_engine(llama)
    learn(engine)
    engine.policy.save(tmp_path)
    assert json.loads((tmp_path / "adapter_config.json").read_text())["r"] == 8
    model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(llama), tmp_path).eval()
    ids = torch.tensor([[5, 6, 7]])
    with torch.no_grad():
        (part,) = engine.trainer.parts([TrainingSequence(prompt=[5], tokens=[6, 7, 8], advantage=1.0)], [0])
        own = engine.trainer.logprobs(part)
        wanted = model(ids).logits[0].log_softmax(-1).gather(1, torch.tensor([[6], [7], [8]]))[:, 0]
        torch.testing.assert_close(own, wanted, atol=1e-5, rtol=0)


def test_an_adapter_of_another_size_is_refused(llama: Path, tmp_path: Path) -> None:
    loaded_engine(llama, lora_rank=4).policy.save(tmp_path)
    engine = loaded_engine(llama, lora_rank=8)
    start = weights(engine)
    with pytest.raises(CheckpointError, match="rank"):
        engine.policy.load(tmp_path)
    assert same(weights(engine), start)
