"""The generation loop: batches, seeds, limits, memory and cancelling."""

import gc
import threading
import weakref
from pathlib import Path

import msgspec
import pytest
import torch

from sapo_desktop.core.errors import HostCancelled, OutOfMemory
from sapo_desktop.core.records import Completion, Sampling, TrainerSettings
from sapo_desktop.engines import answering
from sapo_desktop.engines.answering import Answers, GenerationJob, GenerationMonitor
from sapo_desktop.engines.protocols import Generate, GenerationProgress, Load, TokenText
from sapo_desktop.engines.torch import generation
from sapo_desktop.engines.torch.generation import generate
from sapo_desktop.engines.torch.llama.decoding import Decoding, PromptBatch, Start
from sapo_desktop.engines.torch.llama.passes import WrittenOutModel
from sapo_desktop.engines.torch.service import TorchEngine
from tests.builders import as_prompt, as_prompts
from tests.engines.tiny import answer, engine_in_modules, loaded_engine, sequences, token_logprobs_of

PROMPTS = ["what is 1+1?", "a", "greatest common divisor of 12, 8", "what is 1+1?"]
CPU = torch.device("cpu")


def flat(completions: list[list[Completion]]) -> list[Completion]:
    return [c for row in completions for c in row]


def test_a_batch_equals_one_by_one(folder: Path) -> None:
    engine = loaded_engine(folder)
    for sampling in ({"greedy": True}, {"seed": 4}):
        together = answer(engine, PROMPTS, 2, max_tokens=20, **sampling)
        job = GenerationJob(
            together.prompt_tokens,
            2,
            msgspec.convert({"max_tokens": 20, **sampling}, Sampling),
            engine.lm.words.stop_tokens,
            engine.lm.context,
            engine.lm.words.closes,
            batch=1,
        )
        words = engine.lm.words
        alone = generate(job, engine.starter(False), CPU, GenerationMonitor())
        made = flat(alone.completions(2, words.text, words.end_token))
        assert [c.tokens for c in made] == [c.tokens for c in flat(together.completions)]
        for one, other in zip(alone.logprobs, flat(together.completions), strict=True):
            assert one == pytest.approx(other.logprobs, abs=1e-4)


def test_greedy_answers_equal_transformers_generate(folder: Path) -> None:
    engine = engine_in_modules(folder)
    made = answer(engine, PROMPTS, greedy=True, max_tokens=15)
    for prompt, (completion,) in zip(made.prompt_tokens, made.completions, strict=True):
        out = engine.lm.model.generate(
            input_ids=torch.tensor([prompt]),
            attention_mask=torch.ones(1, len(prompt), dtype=torch.int64),
            max_new_tokens=15,
            do_sample=False,
        )
        assert out[0, len(prompt) :].tolist() == completion.tokens


def test_logprobs_equal_the_trainers(folder: Path) -> None:
    engine = loaded_engine(folder)
    made = answer(engine, PROMPTS, 3, max_tokens=30, seed=9)
    trainers = token_logprobs_of(engine, sequences(made, [1.0, 0.0, -1.0]))
    for completion, values in zip(flat(made.completions), trainers, strict=True):
        sampled = values.tolist()[: len(completion.logprobs)]
        assert completion.logprobs == pytest.approx(sampled, abs=1e-4)


def test_a_seed_repeats_bit_for_bit_and_rows_differ(engine: TorchEngine) -> None:
    first, again, other = (answer(engine, PROMPTS, 2, max_tokens=20, seed=s) for s in (1, 1, 2))
    assert first.completions == again.completions
    assert first.completions != other.completions
    assert first.completions[0] != first.completions[3]  # the same prompt, another row


def test_end_of_sequence_is_kept_and_the_limit_is_reported(engine: TorchEngine) -> None:
    made = flat(answer(engine, PROMPTS, 8, max_tokens=25, seed=2).completions)
    stopped = [c for c in made if c.finish == "stop"]
    closed = [c for c in made if c.finish == "closed"]
    cut = [c for c in made if c.finish == "length"]
    assert stopped and cut and closed
    assert all(c.tokens[-1] == engine.lm.words.end_token and c.text.endswith("</answer>") for c in closed)
    assert all(c.tokens[-1] == engine.lm.words.end_token and len(c.tokens) <= 25 for c in stopped)
    assert all(len(c.tokens) == 25 and engine.lm.words.end_token not in c.tokens for c in cut)
    assert all(len(c.tokens) == len(c.logprobs) + (c.finish == "closed") and "<eos>" not in c.text for c in made)


def test_compaction_changes_no_answer(engine: TorchEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    often = answer(engine, PROMPTS, 6, max_tokens=30, seed=3)
    monkeypatch.setattr(generation, "COMPACT_SHARE", 2.0)
    never = answer(engine, PROMPTS, 6, max_tokens=30, seed=3)
    assert [c.tokens for c in flat(often.completions)] == [c.tokens for c in flat(never.completions)]


def test_a_prompt_that_fills_the_context_gets_no_answer(engine: TorchEngine) -> None:
    made = answer(engine, ["a" * 126, "b" * 200, "c"], max_tokens=40, greedy=True)
    assert len(made.prompt_tokens[0]) == 128
    assert [len(c.tokens) for c in flat(made.completions)[:2]] == [0, 0]
    assert flat(made.completions)[0].finish == "length"
    assert flat(made.completions)[2].tokens
    near = flat(answer(engine, ["a" * 120], max_tokens=40, seed=1).completions)[0]
    assert len(near.tokens) <= 6


def test_nothing_asked_is_nothing_answered(engine: TorchEngine) -> None:
    assert answer(engine, [], 4).completions == []


class Rationed(Decoding):
    """Decodes like another, but few sequences at once; how many are under way is written down where some join."""

    records = False

    def __init__(self, start: Start, fits: int = 99) -> None:
        self._start, self._fits = start, fits
        self.batches: list[int] = []
        self.widths: list[int] = []

    def __call__(self) -> Decoding:
        self._decoding = self._start()
        self._under_way = 0
        return self

    def join(self, batch: PromptBatch, room: int) -> torch.Tensor:
        self._under_way += len(batch.rows)
        self.batches.append(self._under_way)
        self.widths.append(batch.ids.shape[1])
        if self._under_way > self._fits:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.")
        return self._decoding.join(batch, room)

    def step(self, tokens: torch.Tensor) -> torch.Tensor:
        return self._decoding.step(tokens)

    def keep(self, rows: torch.Tensor) -> None:
        self._under_way = len(rows)
        self._decoding.keep(rows)


@pytest.mark.parametrize("short_of", [0, 10])
def test_few_prompts_at_once_where_they_are_long(engine: TorchEngine, short_of: int) -> None:
    made = answer(engine, PROMPTS, 2, max_tokens=20, seed=4)
    longest = max(map(len, made.prompt_tokens))
    job = GenerationJob(
        made.prompt_tokens,
        2,
        Sampling(max_tokens=20, seed=4),
        engine.lm.words.stop_tokens,
        engine.lm.context,
        engine.lm.words.closes,
        prompt_tokens=longest - short_of,
    )
    start = Rationed(engine.starter(False))
    answers = generate(job, start, CPU, GenerationMonitor())
    again = answers.completions(2, engine.lm.words.text, engine.lm.words.end_token)
    assert [c.tokens for c in flat(again)] == [c.tokens for c in flat(made.completions)]
    assert (start.batches[0], start.widths[0]) == (2, longest)
    assert max(start.batches) < 8 and start.widths[-1] < longest


@pytest.mark.parametrize("records", [False, True])
def test_who_ended_makes_room_for_others(engine: TorchEngine, records: bool) -> None:
    """Where steps are recorded those that ended stay for longer; they count within the limit."""
    prompts = [engine.lm.words.prompt_tokens(as_prompt(p)) for p in PROMPTS * 4]
    sampling, stop = Sampling(max_tokens=60, seed=2), engine.lm.words.stop_tokens
    whole = generate(GenerationJob(prompts, 4, sampling, stop, 128), engine.starter(False), CPU, GenerationMonitor())
    start, watch = Rationed(engine.starter(False)), GenerationMonitor()
    start.records = records
    some_ended = GenerationJob(prompts, 4, sampling, stop, 128, batch=16, prompt_tokens=sum(map(len, prompts[:3])))
    few = generate(some_ended, start, CPU, watch)
    assert few.tokens == whole.tokens and few.finish == whole.finish
    assert max(start.batches) <= 16 and len(start.batches) > 5  # more than four turns of 16
    assert watch.finished == watch.total == 64 and watch.tokens == sum(map(len, few.tokens))


def rationed(engine: TorchEngine, fits: int) -> tuple[Answers, Rationed]:
    prompts = [engine.lm.words.prompt_tokens(as_prompt(p)) for p in PROMPTS]
    job = GenerationJob(prompts, 2, Sampling(max_tokens=12, seed=6), engine.lm.words.stop_tokens, 128)
    start = Rationed(engine.starter(False), fits)
    return generate(job, start, CPU, GenerationMonitor()), start


def test_out_of_memory_halves_the_batch_and_goes_on(engine: TorchEngine) -> None:
    whole, _ = rationed(engine, fits=8)
    halved, start = rationed(engine, fits=3)
    assert start.batches[:3] == [8, 4, 2] and max(start.batches[2:]) == 2
    assert halved.batch == 2
    assert halved.tokens == whole.tokens


def test_what_did_not_fit_is_gone_before_less_is_tried(engine: TorchEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or its cache would still be there when half of it is made."""
    begun: list[weakref.ref[Decoding]] = []
    left: list[bool] = []

    class Starved(Decoding):
        def join(self, batch: PromptBatch, room: int) -> torch.Tensor:
            logits = super().join(batch, room)
            if len(batch.rows) > 3:
                raise MemoryError
            return logits

    def start() -> Decoding:
        made = Starved(WrittenOutModel(engine.lm.model, True))
        begun.append(weakref.ref(made))
        return made

    monkeypatch.setattr(generation, "release_memory", lambda: left.append(begun[-1]() is not None))
    prompts = [engine.lm.words.prompt_tokens(as_prompt(p)) for p in PROMPTS]
    job = GenerationJob(prompts, 2, Sampling(max_tokens=4, seed=6), engine.lm.words.stop_tokens, 128)
    gc.disable()
    try:
        generate(job, start, CPU, GenerationMonitor())
    finally:
        gc.enable()
    assert left and not any(left)


def test_out_of_memory_at_one_sequence_is_an_error(engine: TorchEngine) -> None:
    with pytest.raises(OutOfMemory):
        rationed(engine, fits=0)


def test_a_batch_that_did_not_fit_is_not_tried_again(engine: TorchEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    start = Rationed(engine.starter(False), fits=4)
    monkeypatch.setattr(engine, "starter", lambda base: start)
    assert answer(engine, PROMPTS, 2, max_tokens=5).batch == 4
    assert answer(engine, PROMPTS, 2, max_tokens=5).batch == 4
    assert start.batches.count(8) == 1


def test_a_cancel_is_seen_at_the_next_step(engine: TorchEngine) -> None:
    cancelled = threading.Event()
    cancelled.set()
    request = Generate(prompts=as_prompts(PROMPTS), answers=2, sampling=Sampling())
    with pytest.raises(HostCancelled):
        engine.generate(request, lambda _: None, cancelled.is_set)


def test_progress_counts_sequences_and_tokens(engine: TorchEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "PROGRESS_SECONDS", 0.0)
    progress: list[GenerationProgress] = []
    request = Generate(prompts=as_prompts(PROMPTS), answers=2, sampling=Sampling(max_tokens=20, seed=2))
    made = engine.generate(request, progress.append, threading.Event().is_set)  # type: ignore[arg-type]
    assert all(t.total == 8 for t in progress)
    assert [t.tokens for t in progress] == sorted(t.tokens for t in progress)
    assert progress[-1].tokens <= sum(len(c.tokens) for c in flat(made.completions))
    answers = flat(made.completions)
    shown = [t.ended for t in progress if t.ended is not None]
    assert shown and all(one.text == answers[one.place].text for one in shown)
    assert all(answers[one.place].finish in ("stop", "closed") for one in shown)


def test_a_single_answer_is_streamed(engine: TorchEngine) -> None:
    pieces: list[str] = []
    tokens: list[int] = []

    def listen(message: msgspec.Struct) -> None:
        if isinstance(message, TokenText):
            pieces.append(message.text)
            tokens.append(message.tokens)

    request = Generate(prompts=as_prompts(["a"]), answers=1, sampling=Sampling(max_tokens=12, seed=1))
    made = engine.generate(request, listen, threading.Event().is_set)
    assert len(pieces) > 3
    assert "".join(pieces) == made.completions[0][0].text
    assert tokens == sorted(set(tokens)) and tokens[-1] <= len(made.completions[0][0].tokens)


def test_the_loader_may_bound_how_many_answers_are_under_way(llama: Path) -> None:
    engine = TorchEngine(Load(model=str(llama), trainer=TrainerSettings(), threads=1, batch=3))
    assert answer(engine, PROMPTS, 2, max_tokens=5).batch == 3
