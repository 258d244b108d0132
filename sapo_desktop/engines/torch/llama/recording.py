"""A step of decoding handed over to a graphics card as one: recorded (a CUDA graph), then replayed.

A step is some 65 operations a layer. A processor hands them over one by one, and a card waits for that
(docs/fit.md, "On a card"). A recording holds for as long as every tensor stays where it is and as large as it is, so
what is recorded works in place. Left out: recordings of passes with gradients, and of prompts, which differ in length.
"""

from __future__ import annotations

import contextlib
import functools
import traceback
from collections.abc import Callable, Iterator
from typing import Protocol

import torch
from torch import Tensor

from sapo_desktop.engines.torch.memory import is_out_of_memory


class Recorder(Protocol):
    """What can record work on tensors."""

    def compute(self, work: Callable[[], Tensor]) -> Tensor:
        """Do it now, as it will be recorded: libraries load and take what they need when they are first used."""

    def record(self, work: Callable[[], Tensor]) -> tuple[Callable[[], None], Tensor]:
        """Do not do it: return what does it all again, and where its result is then. Raises RuntimeError."""


class Recorded:
    """A function of tensors of fixed shapes that works in place: computed when it is first called, recorded the second
    time, replayed from then on. What it returns is good until the next call."""

    def __init__(self, function: Callable[..., Tensor], recorder: Recorder) -> None:
        self._function, self._recorder = function, recorder
        self._calls = 0
        self._replay: Callable[[], None] | None = None

    def __call__(self, *given: Tensor) -> Tensor:
        self._calls += 1
        if self._calls == 2:
            self._record(*given)
        if self._replay is None:
            return self._recorder.compute(lambda: self._function(*given))
        for held, new in zip(self._given, given, strict=True):
            held.copy_(new)
        self._replay()
        return self._result

    def _record(self, *given: Tensor) -> None:
        self._given = [tensor.clone() for tensor in given]
        try:
            self._replay, self._result = self._recorder.record(lambda: self._function(*self._given))
        except RuntimeError as error:  # a recording has memory of its own; without one all is computed, only slower
            if not is_out_of_memory(error):
                traceback.print_exc()


class CardRecorder:
    """Records on the card, for one batch of answers. The recordings share their memory: one is replayed at a time."""

    def __init__(self) -> None:
        self._pool = torch.cuda.graph_pool_handle()
        self._first: torch.cuda.CUDAGraph | None = None
        """Kept, for PyTorch forgets a pool when nothing recorded is left in it."""

    def compute(self, work: Callable[[], Tensor]) -> Tensor:
        with _beside():
            return work()

    def record(self, work: Callable[[], Tensor]) -> tuple[Callable[[], None], Tensor]:
        graph = torch.cuda.CUDAGraph()
        with _beside():
            graph.capture_begin(self._pool, capture_error_mode="thread_local")
            try:
                result = work()
            finally:
                graph.capture_end()
        self._first = self._first or graph
        return graph.replay, result


@functools.cache
def _stream() -> torch.cuda.Stream:
    """Nothing can be recorded on the usual one. One for all: cuBLAS keeps memory for each."""
    return torch.cuda.Stream()  # type: ignore[no-untyped-call]


@contextlib.contextmanager
def _beside() -> Iterator[None]:
    usual, stream = torch.cuda.current_stream(), _stream()
    stream.wait_stream(usual)
    try:
        with torch.cuda.stream(stream):
            yield
    finally:
        usual.wait_stream(stream)
