"""A step of decoding handed over to a graphics card as one: recorded (a CUDA graph), then replayed.

A step is some 65 operations a layer. A processor hands them over one by one, and a card waits for that
(docs/fit.md, "On a card"). A recording holds for as long as every tensor stays where it is and as large as it is, so
what is recorded works in place. Left out: recordings of passes with gradients, and of prompts, which differ in length.
"""

from __future__ import annotations

import contextlib
import functools
import traceback
import weakref
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from sapo_desktop.engines.torch.memory import is_out_of_memory


class Recording(NamedTuple):
    """What was recorded."""

    replay: Callable[[], None]
    """Does it all again."""
    result: Tensor
    """Where its result is then."""


class Recorder(Protocol):
    """What can record work on tensors."""

    def compute(self, work: Callable[[], Tensor]) -> Tensor:
        """Do it now, as it will be recorded: libraries load and take what they need when they are first used."""

    def record(self, work: Callable[[], Tensor]) -> Recording | None:
        """Record it without doing it; None where that cannot be."""


class Recorded:
    """One function of tensors of fixed shapes that works in place: computed when it is first called, recorded the
    second time, replayed from then on. What is returned is good until the next call."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._calls = 0
        self._recording: Recording | None = None

    def __call__(self, function: Callable[..., Tensor], *given: Tensor) -> Tensor:
        """Call it, always the same one; it is not kept, for it may hold this."""
        self._calls += 1
        if self._calls == 2:
            self._given = [tensor.clone() for tensor in given]
            self._recording = self._recorder.record(lambda: function(*self._given))
        if self._recording is None:
            return self._recorder.compute(lambda: function(*given))
        for held, new in zip(self._given, given, strict=True):
            held.copy_(new)
        self._recording.replay()
        return self._recording.result


class CardRecorder:
    """Records on the card, for one batch of answers. The recordings share their memory: one is replayed at a time."""

    def __init__(self) -> None:
        self._pool = torch.cuda.graph_pool_handle()
        self._first: torch.cuda.CUDAGraph | None = None
        """Kept, for PyTorch forgets a pool when nothing recorded is left in it."""
        self._able = True

    def compute(self, work: Callable[[], Tensor]) -> Tensor:
        with _beside():
            return work()

    def record(self, work: Callable[[], Tensor]) -> Recording | None:
        for again in (True, False):
            if not self._able:
                break
            try:
                return self._record(work)
            except RuntimeError as error:  # without a recording all is computed, only slower
                self._able = again and is_out_of_memory(error)
                if not is_out_of_memory(error):
                    traceback.print_exc()
            # What PyTorch keeps for later, it gives to no recording under way.
            torch.cuda.empty_cache()
            if self._first is None:
                self._pool = torch.cuda.graph_pool_handle()
        return None

    def _record(self, work: Callable[[], Tensor]) -> Recording:
        graph = torch.cuda.CUDAGraph()
        with _beside():
            graph.capture_begin(self._pool, capture_error_mode="thread_local")
            try:
                result = work()
            finally:
                graph.capture_end()
        self._first = self._first or graph
        return Recording(graph.replay, result)


_recording: weakref.ref[CardRecorder] | None = None


def card_recorder() -> CardRecorder | None:
    """A recorder for a batch that begins; None while another batch has one, as where somebody asks a question between
    two of its steps. All record on one stream, and PyTorch takes what cuBLAS has there with the first recording that
    ends, from under the others (its issue 193402)."""
    global _recording
    if _recording is not None and _recording() is not None:
        return None
    recorder = CardRecorder()
    _recording = weakref.ref(recorder)
    return recorder


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
