"""Answers to questions by llama.cpp in one batch: each prompt is read once, and free streams are refilled.

Sequences use streams 0 to n - 1 without a gap (streams.py says why). A finished one is replaced by the next answer to a
known prompt, or by the last stream. New prompts are read once an eighth of the streams is free, several at once.
Sequences beyond the number of streams wait. Running out of memory halves the streams and starts again; a cancel ends a
pass between two operations. Each sequence draws from its own random stream, so the number of streams and the order of
endings change answers only by rounding. Left out: speculative decoding, stop strings, grammars.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sapo_desktop.core.errors import OutOfMemory
from sapo_desktop.core.records import FinishReason
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.answering import Answers, GenerationJob, GenerationMonitor
from sapo_desktop.engines.drawing import DrawnTokens, Floats, draw_tokens, stream
from sapo_desktop.engines.llama_cpp.streams import Streams

REFILL_SHARE = 1 / 8
"""New prompts are read once this share of the streams is free; reading them one by one costs a pass each."""


def generate(
    job: GenerationJob, streams: Streams, watch: GenerationMonitor, passed: Callable[[], None] = lambda: None
) -> Answers:
    """Answer each prompt `job.answers` times in streams long enough for prompt and answer.

    `passed` is called after each pass (it may change the number of threads).

    Raises:
        HostCancelled: requested by the watch.
        MemoryError: try again with fewer streams.
    """
    watch.total, watch.finished, watch.tokens = job.total, 0, 0
    streams.should_stop = watch.should_stop
    streams.clear()
    run = _Run(job, streams, watch)
    while run.seat():
        watch.check()
        run.step()
        passed()
    return run.answers()


def stream_length(job: GenerationJob) -> int:
    """Positions needed by the longest prompt with its longest answer."""
    return max((len(job.prompt(row)) + job.limit(row) for row in range(0, job.total, job.answers)), default=1)


def halved(count: int) -> int:
    """Half as many streams after memory ran out. Raises OutOfMemory if there is only one."""
    if count <= 1:
        raise OutOfMemory(
            sentence("There is not enough memory for a single answer. Shorten the answers or choose a smaller model.")
        )
    return count // 2


@dataclass
class _Run:
    """One generation: waiting sequences, the state of each stream, and the drawn tokens."""

    job: GenerationJob
    streams: Streams
    watch: GenerationMonitor
    _live: int = 0
    """Streams 0 to `_live` - 1 hold an unfinished sequence, except those in `_ended`."""
    _ended: list[int] = field(default_factory=list)
    _first: dict[tuple[int, ...], Floats] = field(default_factory=dict)
    """Logits [V] after each prompt that was read and has answers waiting."""

    def __post_init__(self) -> None:
        job, count = self.job, self.streams.count
        self._limits = np.array([job.limit(row) for row in range(job.total)], np.int64)
        longest = int(self._limits.max(initial=0))
        self._tokens = np.zeros((job.total, longest), np.int32)
        self._logprobs = np.zeros((job.total, longest), np.float32)
        self._lengths = np.zeros(job.total, np.int64)
        self._finish: list[FinishReason] = ["length"] * job.total
        # Greedy answers need no numbers; one column keeps the loop the same.
        self._noise = np.zeros((job.total, 1 if job.sampling.greedy else max(1, longest)))
        self._stop = np.array(sorted(job.stop_tokens), np.int64)
        self._last = np.array(sorted(job.closes.last), np.int64)
        self._waiting = deque(row for row in range(job.total) if self._limits[row])
        self.watch.finished = job.total - len(self._waiting)
        self._rows = np.zeros(count, np.int64)
        self._filled = np.zeros(count, np.int32)
        self._next = np.zeros(count, np.int32)
        self._holds: list[tuple[int, ...]] = [()] * count
        """The prompt at the start of each stream, also for finished sequences."""

    def seat(self) -> int:
        """Assign streams to waiting sequences; return how many are active."""
        while True:
            seated = [*self._refill(), *self._seat_new()]
            if not seated:
                return self._live
            logits = np.stack([self._first[self._prompt(int(row))] for row in self._rows[seated]])
            self._take(np.array(seated), self._draw(logits, np.array(seated)))
            self._forget_prompts()

    def step(self) -> None:
        """Add one token to every sequence."""
        live = np.arange(self._live, dtype=np.int64)
        logits = self.streams.decode(
            self._next[: self._live], self._filled[: self._live], live, np.ones(self._live, bool)
        )
        self._filled[: self._live] += 1
        self._take(live, self._draw(logits, live))

    def answers(self) -> Answers:
        return Answers(
            [self._tokens[row, :n].tolist() for row, n in enumerate(self._lengths)],
            [self._logprobs[row, :n].tolist() for row, n in enumerate(self._lengths)],
            self._finish,
            min(self.streams.count, max(1, self.job.total)),
        )

    def _draw(self, logits: Floats, streams: NDArray[np.int64]) -> DrawnTokens:
        rows = self._rows[streams]
        places = np.minimum(self._lengths[rows], self._noise.shape[1] - 1)
        return draw_tokens(logits, self.job.sampling, self._noise[rows, places])

    def _take(self, streams: NDArray[np.int64], drawn: DrawnTokens) -> None:
        """Record what was drawn, and which sequences it finished."""
        rows = self._rows[streams]
        places = self._lengths[rows]
        self._tokens[rows, places], self._logprobs[rows, places] = drawn.tokens, drawn.logprobs
        self._next[streams] = drawn.tokens
        self._lengths[rows] += 1
        self.watch.tokens += len(rows)
        if self.job.total == 1:
            self.watch.token(0, int(drawn.tokens[0]))
        stopped = np.isin(drawn.tokens, self._stop)
        closed = np.isin(drawn.tokens, self._last)
        for place in np.flatnonzero(closed):
            closed[place] = self.job.closes(self._tokens[rows[place], : self._lengths[rows[place]]].tolist())
        for place in np.flatnonzero(stopped | closed | (self._lengths[rows] >= self._limits[rows])):
            row = int(rows[place])
            if stopped[place] or closed[place]:
                self._finish[row] = "stop" if stopped[place] else "closed"
                self.watch.end(row, self._tokens[row, : self._lengths[row]].tolist())
            self.watch.finished += 1
            self._ended.append(int(streams[place]))

    def _refill(self) -> list[int]:
        """Restart streams of finished sequences with another answer to a known prompt; close up the others."""
        filled = False
        while self._ended and self._waiting and self._prompt(self._waiting[0]) in self._first:
            place = self._ended.pop()
            self._begin(place, self._waiting.popleft())
            filled = True
        for gap in sorted(self._ended, reverse=True):
            self._live -= 1
            if gap != self._live:
                self._move(self._live, gap)
        self._ended.clear()
        # Closing up may have moved a stream that was just filled, so it is found by its row.
        return [place for place in range(self._live) if not self._lengths[self._rows[place]]] if filled else []

    def _seat_new(self) -> list[int]:
        """Assign free streams at the end, once there are enough, to waiting sequences."""
        free = self.streams.count - self._live
        if not self._waiting or (self._live and free < REFILL_SHARE * self.streams.count):
            return []
        rows = [self._waiting.popleft() for _ in range(min(free, len(self._waiting)))]
        places = list(range(self._live, self._live + len(rows)))
        self._live += len(rows)
        new: dict[tuple[int, ...], int] = {}
        for place, row in zip(places, rows, strict=True):
            prompt = self._prompt(row)
            if prompt not in self._first:
                new.setdefault(prompt, place)
        self._read(new)
        for place, row in zip(places, rows, strict=True):
            self._begin(place, row)
        return places

    def _read(self, places: dict[tuple[int, ...], int]) -> None:
        """Read prompts into their streams."""
        if not places:
            return
        for prompt, place in places.items():
            self.streams.cut(place, 0)
            self._holds[place] = prompt
        logits = self.streams.read([list(prompt) for prompt in places], list(places.values()))
        self._first |= {prompt: row.copy() for prompt, row in zip(places, logits, strict=True)}

    def _begin(self, place: int, row: int) -> None:
        """Make a stream hold just the row's prompt, copied from any stream that has it."""
        prompt = self._prompt(row)
        if self._holds[place] != prompt:
            if prompt not in self._holds:
                self._read({prompt: place})
            else:
                self._copy(self._holds.index(prompt), place)
        self.streams.cut(place, len(prompt))
        self._rows[place], self._filled[place] = row, len(prompt)
        if not self.job.sampling.greedy:
            self._noise[row] = stream(self.job.sampling.seed, row).random(self._noise.shape[1])

    def _move(self, source: int, target: int) -> None:
        self._copy(source, target)
        for values in (self._rows, self._filled, self._next):
            values[target] = values[source]

    def _copy(self, source: int, target: int) -> None:
        self.streams.copy(source, target)
        self._holds[target] = self._holds[source]

    def _prompt(self, row: int) -> tuple[int, ...]:
        return tuple(self.job.prompt(row))

    def _forget_prompts(self) -> None:
        """Drop unneeded logits: with a large vocabulary they take half a megabyte per prompt."""
        # Answers to a prompt are consecutive, so the next waiting one decides.
        wanted = self._prompt(self._waiting[0]) if self._waiting else None
        for prompt in [prompt for prompt in self._first if prompt != wanted]:
            del self._first[prompt]
