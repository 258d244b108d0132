"""Recorded decoding against the same without a recorder.

A card's recording repeats the operations that it saw, on the tensors that it saw, whatever Python would do by then; the
recorder here does the same on the processor. On a card itself: tests/bench/engines/card.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from sapo_desktop.engines.torch.llama import decoding as written
from sapo_desktop.engines.torch.llama.decoding import Decoding, PromptBatch
from sapo_desktop.engines.torch.llama.passes import WrittenOutModel
from sapo_desktop.engines.torch.llama.recording import Recorded
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

    def record(self, work: Callable[[], Tensor]) -> tuple[Callable[[], None], Tensor]:
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

        return replay, place


def leaves(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple | list) else [result]


class Refuses(TapeRecorder):
    def __init__(self, error: RuntimeError) -> None:
        super().__init__()
        self.error = error

    def record(self, work: Callable[[], Tensor]) -> tuple[Callable[[], None], Tensor]:
        raise self.error


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


@pytest.mark.parametrize("said", ["CUDA out of memory: not enough memory: you tried to allocate", "not permitted"])
def test_what_cannot_be_recorded_is_computed(folder: Path, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    model = WrittenOutModel(loaded_engine(folder).lm.model, True)
    found, wanted = play(model, Refuses(RuntimeError(said))), play(model, None)
    for mine, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-4, rtol=0)
    # Want of memory is nothing to tell: the next recording may find some.
    assert ("not permitted" in capsys.readouterr().err) == (said == "not permitted")


def test_a_recording_is_of_its_own_copy_of_what_was_given() -> None:
    double = Recorded(lambda x: x * 2, TapeRecorder())
    given = [torch.tensor([float(number)]) for number in range(4)]
    assert [float(double(x)) for x in given] == [0.0, 2.0, 4.0, 6.0]
    assert [float(x) for x in given] == [0.0, 1.0, 2.0, 3.0]
