"""Recorded decoding against the same without a recorder.

A card's recording repeats the operations that it saw, on the tensors that it saw, whatever Python would do by then; the
recorder here does the same on the processor. On a card itself: tests/bench/engines/card.py.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from sapo_desktop.engines.torch.llama import decoding as written
from sapo_desktop.engines.torch.llama import recording
from sapo_desktop.engines.torch.llama.decoding import Decoding, PromptBatch
from sapo_desktop.engines.torch.llama.passes import WrittenOutModel
from sapo_desktop.engines.torch.llama.recording import CardRecorder, Recorded, Recording, card_recorder
from tests.engines.tiny import loaded_engine

CPU = torch.device("cpu")
PROMPTS = [[5, 9, 11, 30, 8], [7], [12, 40, 41]]
ROWS = [0, 0, 1, 2, 2, 2]
TOKENS = torch.randint(2, 50, (12, 9), generator=torch.Generator().manual_seed(3))


class Tape(TorchDispatchMode):
    """Keeps every operation below autograd, with the tensors that it was given and what it returned."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, Any, Any, Any]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self.calls.append((func, args, kwargs or {}, result))
        return result


class TapeRecorder:
    def __init__(self) -> None:
        self.recorded = self.replayed = 0

    def compute(self, work: Callable[[], Tensor]) -> Tensor:
        return work()

    def record(self, work: Callable[[], Tensor]) -> Recording | None:
        self.recorded += 1
        with Tape() as tape:
            result = work()  # which a card does not do yet; a step that is done again writes the same to the same place
        place = torch.empty_like(result)

        def replay() -> None:
            self.replayed += 1
            now: dict[int, Any] = {}
            swapped = partial(tree_map, lambda held: now.get(id(held), held))
            for func, args, kwargs, then in tape.calls:
                found = func(*swapped(args), **swapped(kwargs))
                for old, new in zip(leaves(then), leaves(found), strict=True):
                    now[id(old)] = new
            place.copy_(now[id(result)])

        return Recording(replay, place)


def leaves(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple | list) else [result]


class Refuses(TapeRecorder):
    def record(self, work: Callable[[], Tensor]) -> Recording | None:
        return None


@torch.inference_mode()
def play(model: WrittenOutModel, recorder: TapeRecorder | None) -> list[Tensor]:
    """Logits of: four steps of six sequences, another three that join, two of the first six dropped, then the rest of
    the first."""
    decoding = Decoding(model, recorder)
    seen = [decoding.join(PromptBatch.of(PROMPTS, ROWS, CPU), 9)]
    seen += [decoding.step(TOKENS[:6, at]).clone() for at in range(4)]
    seen += [decoding.join(PromptBatch.of(PROMPTS[1:], [0, 1, 1], CPU), 9)]
    seen += [decoding.step(TOKENS[:9, at]).clone() for at in range(3)]
    decoding.keep(torch.tensor([1, 2, 4, 5, 6, 8]))
    seen += [decoding.step(TOKENS[:6, at]).clone() for at in range(5)]
    decoding.keep(torch.tensor([4, 5]))
    return seen + [decoding.step(TOKENS[:2, at]).clone() for at in range(3)]


def test_recorded_steps_give_the_same(folder: Path) -> None:
    model = WrittenOutModel(loaded_engine(folder).lm.model, True)
    recorder = TapeRecorder()
    found, wanted = play(model, recorder), play(model, None)
    # At first, after the join, after some were dropped, and when the room of the first and of the later is used up; of
    # each all steps but the first, and after the second drop there is but one before that.
    assert recorder.recorded == 5
    assert recorder.replayed == 15 - 6
    for mine, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-4, rtol=0)


@torch.inference_mode()
def test_what_ended_may_stay_beyond_its_end(llama: Path) -> None:
    recorder = TapeRecorder()
    decoding = Decoding(WrittenOutModel(loaded_engine(llama).lm.model, True), recorder)
    decoding.join(PromptBatch.of(PROMPTS, ROWS, CPU), 3)
    for _ in range(written.ROOM + 5):
        logits = decoding.step(torch.zeros(len(ROWS), dtype=torch.int64))
    assert bool(logits.isfinite().all())
    assert recorder.recorded == 3  # its own room, and what was made beyond it twice


def test_what_cannot_be_recorded_is_computed(folder: Path) -> None:
    model = WrittenOutModel(loaded_engine(folder).lm.model, True)
    for mine, theirs in zip(play(model, Refuses()), play(model, None), strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-4, rtol=0)


def test_a_recording_is_of_its_own_copy_of_what_was_given() -> None:
    double = Recorded(TapeRecorder())
    given = [torch.tensor([float(number)]) for number in range(4)]
    assert [float(double(lambda x: x * 2, x)) for x in given] == [0.0, 2.0, 4.0, 6.0]
    assert [float(x) for x in given] == [0.0, 1.0, 2.0, 3.0]


@torch.inference_mode()
def test_a_batch_that_is_left_holds_nothing(llama: Path) -> None:
    """What it had of a card is needed at once, after a want of memory above all: no cycle may hold it."""
    decoding = Decoding(WrittenOutModel(loaded_engine(llama).lm.model, True), TapeRecorder())
    decoding.join(PromptBatch.of(PROMPTS, ROWS, CPU), 9)
    for at in range(3):
        decoding.step(TOKENS[:6, at])
    held = weakref.ref(decoding)
    gc.disable()
    try:
        del decoding
        assert held() is None
    finally:
        gc.enable()


# -- the card's recorder, on a card that is played ----------------------------------------------------------------


class Graph:
    """A CUDA graph that refuses so many times; `pools` has what each began with."""

    refusals: ClassVar[list[RuntimeError]] = []
    pools: ClassVar[list[int]] = []

    def capture_begin(self, pool: int, capture_error_mode: str) -> None:
        assert capture_error_mode == "thread_local"
        self.pools.append(pool)
        if self.refusals:
            raise self.refusals.pop(0)

    def capture_end(self) -> None: ...

    def replay(self) -> None: ...


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> type[Graph]:
    pools = itertools.count(1)
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: next(pools))
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    monkeypatch.setattr(recording, "_own_stream", contextlib.nullcontext)
    monkeypatch.setattr(recording, "_recording", None)
    Graph.refusals, Graph.pools = [], []
    return Graph


FULL = "CUDA error: out of memory"
RESULT = torch.ones(1)


def test_recordings_of_a_batch_share_a_pool(card: type[Graph]) -> None:
    recorder = CardRecorder()
    for _ in range(3):
        assert recorder.record(lambda: RESULT) is not None
    assert card.pools == [1, 1, 1]


def test_want_of_memory_is_answered_with_what_pytorch_kept_and_a_new_pool(card: type[Graph]) -> None:
    card.refusals = [RuntimeError(FULL)]
    recorder = CardRecorder()
    assert recorder.record(lambda: RESULT) is not None
    assert card.pools == [1, 2]


def test_a_card_that_stays_full_is_not_asked_again(card: type[Graph], capsys: pytest.CaptureFixture[str]) -> None:
    card.refusals = [RuntimeError(FULL), RuntimeError(FULL)]
    recorder = CardRecorder()
    assert recorder.record(lambda: RESULT) is None and recorder.record(lambda: RESULT) is None
    assert len(card.pools) == 2
    assert not capsys.readouterr().err


def test_what_cannot_be_recorded_is_said_once(card: type[Graph], capsys: pytest.CaptureFixture[str]) -> None:
    card.refusals = [RuntimeError("operation not permitted when stream is capturing")]
    recorder = CardRecorder()
    assert recorder.record(lambda: RESULT) is None and recorder.record(lambda: RESULT) is None
    assert capsys.readouterr().err.count("operation not permitted") == 1
    assert recorder.compute(lambda: RESULT) is RESULT


def test_one_batch_records_at_a_time(card: type[Graph]) -> None:
    first = card_recorder()
    assert first is not None and card_recorder() is None
    del first
    assert card_recorder() is not None
