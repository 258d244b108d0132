"""Written-out decoding against transformers' own forward pass and peft's adapter."""

from functools import partial
from pathlib import Path

import pytest
import torch

from sapo_desktop.engines.torch.llama import decoding as written
from sapo_desktop.engines.torch.llama.decoding import Decoding, PromptBatch, Start
from sapo_desktop.engines.torch.llama.passes import WrittenOutModel, can_be_written_out
from sapo_desktop.engines.torch.service import TorchEngine
from tests.engines.tiny import ADVANTAGES, answer, engine_in_modules, loaded_engine, sequences

CPU = torch.device("cpu")
PROMPTS = [[5, 9, 11, 30, 8], [7], [12, 40, 41]]
ROWS = [0, 0, 1, 2, 2, 2]
STEPS = 9


def trained(folder: Path) -> TorchEngine:
    """An engine whose adapter is no longer zero."""
    engine = engine_in_modules(folder, learning_rate=2e-2)
    made = answer(engine, ["what is 1+1?"], 4, max_tokens=12)
    for _ in range(3):
        engine.trainer.step(sequences(made, ADVANTAGES))
    return engine


@torch.inference_mode()
def logits_of(start: Start, continued: torch.Tensor, drop_at: int | None = None) -> torch.Tensor:
    """Logits [B, STEPS + 1, V] along given continuations; from `drop_at` on without the first and fourth
    row."""
    decoding = start()
    seen = [decoding.join(PromptBatch.of(PROMPTS, ROWS, CPU), STEPS)]
    kept = torch.arange(len(ROWS))
    for step in range(STEPS):
        if step == drop_at:
            rows = torch.tensor([1, 2, 4, 5])
            decoding.keep(rows)
            kept, seen = kept[rows], [s[rows] for s in seen]
        seen.append(decoding.step(continued[kept, step]))
    return torch.stack(seen, 1)


@torch.inference_mode()
def plain_logits(engine: TorchEngine, continued: torch.Tensor) -> torch.Tensor:
    """The same from one forward pass a sequence, no cache, no padding."""
    model = engine.lm.model
    out = []
    for row, prompt in enumerate(ROWS):
        ids = torch.tensor([PROMPTS[prompt] + continued[row].tolist()])
        out.append(model(input_ids=ids).logits[0, len(PROMPTS[prompt]) - 1 :])
    return torch.stack(out)


def continuation() -> torch.Tensor:
    return torch.randint(2, 50, (len(ROWS), STEPS), generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("base", [False, True])
def test_logits_equal_transformers_with_and_without_the_adapter(folder: Path, base: bool) -> None:
    engine = trained(folder)
    start = partial(Decoding, WrittenOutModel(engine.lm.model, adapted=not base))
    own = plain_logits(engine, continuation())
    with engine.policy.model.disable_adapter():
        untrained = plain_logits(engine, continuation())
    assert float((own - untrained).abs().max()) > 0.05
    torch.testing.assert_close(logits_of(start, continuation()), untrained if base else own, atol=1e-4, rtol=0)


def test_dropping_sequences_leaves_the_others_alone(folder: Path) -> None:
    start = partial(Decoding, WrittenOutModel(engine_in_modules(folder).lm.model, True))
    all_rows = logits_of(start, continuation())
    some = logits_of(start, continuation(), drop_at=4)
    torch.testing.assert_close(some, all_rows[[1, 2, 4, 5]], atol=1e-4, rtol=0)


@torch.inference_mode()
def test_who_joins_later_is_answered_as_from_the_start(folder: Path) -> None:
    """Three sequences, three more after four steps; one of the first leaves, then all of them."""
    engine = loaded_engine(folder)
    start = partial(Decoding, WrittenOutModel(engine.lm.model, True))
    wanted, tokens = logits_of(start, continuation()), continuation()
    decoding = start()
    first = [decoding.join(PromptBatch.of(PROMPTS[:2], [0, 0, 1], CPU), STEPS)]
    first += [decoding.step(tokens[:3, step]) for step in range(4)]
    found = [decoding.join(PromptBatch.of(PROMPTS[2:], [0, 0, 0], CPU), STEPS)]
    for step in range(2):
        both = decoding.step(torch.cat([tokens[:3, 4 + step], tokens[3:, step]]))
        first, found = [*first, both[:3]], [*found, both[3:]]
    decoding.keep(torch.tensor([1, 2, 3, 4, 5]))
    both = decoding.step(torch.cat([tokens[1:3, 6], tokens[3:, 2]]))
    found.append(both[2:])
    torch.testing.assert_close(torch.stack(first, 1), wanted[:3, :7], atol=1e-4, rtol=0)
    torch.testing.assert_close(both[:2], wanted[1:3, 7], atol=1e-4, rtol=0)
    decoding.keep(torch.tensor([2, 3, 4]))
    found += [decoding.step(tokens[3:, step]) for step in range(3, STEPS)]
    torch.testing.assert_close(torch.stack(found, 1), wanted[3:], atol=1e-4, rtol=0)


@torch.inference_mode()
def test_what_ended_may_stay_beyond_its_end(llama: Path) -> None:
    decoding = Decoding(WrittenOutModel(loaded_engine(llama).lm.model, True))
    decoding.join(PromptBatch.of(PROMPTS, ROWS, CPU), 2)
    for _ in range(written.ROOM + 2):
        logits = decoding.step(torch.zeros(len(ROWS), dtype=torch.int64))
    assert bool(logits.isfinite().all())


def test_a_cache_that_grows_gives_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = partial(Decoding, WrittenOutModel(loaded_engine(folder).lm.model, True))
    whole, some = logits_of(start, continuation()), logits_of(start, continuation(), drop_at=4)
    monkeypatch.setattr(written, "ROOM", 3)
    torch.testing.assert_close(logits_of(start, continuation()), whole, atol=0, rtol=0)
    torch.testing.assert_close(logits_of(start, continuation(), drop_at=4), some, atol=0, rtol=0)


def test_prompts_in_several_blocks_give_the_same(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = partial(Decoding, WrittenOutModel(loaded_engine(llama).lm.model, True))
    whole = logits_of(start, continuation())
    monkeypatch.setattr(written, "PREFILL_TOKENS", 10)  # two prompts of five a block
    torch.testing.assert_close(logits_of(start, continuation()), whole, atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    "change",
    [
        {"model_type": "mistral"},
        {"hidden_act": "gelu"},
        {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 10000.0}},
        {"layer_types": ["full_attention", "sliding_attention"]},
    ],
)
def test_other_kinds_are_not_written_out(llama: Path, change: dict[str, object]) -> None:
    config = engine_in_modules(llama).lm.model.config
    assert can_be_written_out(config)
    for name, value in change.items():
        setattr(config, name, value)
    assert not can_be_written_out(config)
