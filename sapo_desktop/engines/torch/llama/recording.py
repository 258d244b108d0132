"""A decoding step that a graphics card runs as a whole: recorded (a CUDA graph), then replayed.

A step has some 65 operations per layer. A processor issues them one by one, and a card waits for that (docs/fit.md, "On
a card"). A recording is valid while every tensor keeps its place and size, so recorded functions work in place. Left
out: recordings of passes with gradients, and of prompts, whose lengths differ.
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
    """A recorded function."""

    replay: Callable[[], None]
    """Runs it again."""
    result: Tensor
    """The place of its result."""


class Recorder(Protocol):
    """Something that can record work on tensors."""

    def compute(self, work: Callable[[], Tensor]) -> Tensor:
        """Run it now as it will be recorded: libraries initialise themselves at first use."""

    def record(self, work: Callable[[], Tensor]) -> Recording | None:
        """Record it without running it; None if that is impossible."""


class Recorded:
    """A function of tensors of fixed shapes that works in place: computed at the first call, recorded at the second,
    replayed from then on. The result is valid until the next call."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._calls = 0
        self._recording: Recording | None = None

    def __call__(self, function: Callable[..., Tensor], *given: Tensor) -> Tensor:
        """Call it, always with the same function. It is not stored, because it may refer to this object."""
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
    """Records on the card, for one batch of answers. Recordings share memory, because they are replayed one at a
    time."""

    def __init__(self) -> None:
        self._pool = torch.cuda.graph_pool_handle()
        self._first: torch.cuda.CUDAGraph | None = None
        """Kept alive, because PyTorch drops a memory pool once no recording uses it."""
        self._able = True

    def compute(self, work: Callable[[], Tensor]) -> Tensor:
        with _own_stream():
            return work()

    def record(self, work: Callable[[], Tensor]) -> Recording | None:
        for again in (True, False):
            if not self._able:
                break
            try:
                return self._record(work)
            except RuntimeError as error:  # without a recording everything works, only slower
                self._able = again and is_out_of_memory(error)
                if not is_out_of_memory(error):
                    traceback.print_exc()
            # PyTorch gives its cached memory to no running recording.
            torch.cuda.empty_cache()
            if self._first is None:
                self._pool = torch.cuda.graph_pool_handle()
        return None

    def _record(self, work: Callable[[], Tensor]) -> Recording:
        graph = torch.cuda.CUDAGraph()
        with _own_stream():
            graph.capture_begin(self._pool, capture_error_mode="thread_local")
            try:
                result = work()
            finally:
                graph.capture_end()
        self._first = self._first or graph
        return Recording(graph.replay, result)


_recording: weakref.ref[CardRecorder] | None = None


def card_recorder() -> CardRecorder | None:
    """A recorder for a new batch; None while another batch has one, as when a question is asked between two of its
    steps. All record on one stream, and PyTorch frees cuBLAS's memory there with the first recording that ends,
    although others use it (its issue 193402)."""
    global _recording
    if _recording is not None and _recording() is not None:
        return None
    recorder = CardRecorder()
    _recording = weakref.ref(recorder)
    return recorder


@functools.cache
def _stream() -> torch.cuda.Stream:
    """Nothing can be recorded on the default stream. One stream for all: cuBLAS keeps memory for each."""
    return torch.cuda.Stream()  # type: ignore[no-untyped-call]


@contextlib.contextmanager
def _own_stream() -> Iterator[None]:
    usual, stream = torch.cuda.current_stream(), _stream()
    stream.wait_stream(usual)
    try:
        with torch.cuda.stream(stream):
            yield
    finally:
        usual.wait_stream(stream)
