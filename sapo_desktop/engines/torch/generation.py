"""Answers to questions in one batch: the decoding loop, its memory, and cancellation.

Each distinct prompt is read once and continued by all its answers. Finished sequences leave the batch once there are
enough of them, and others take their places. Running out of memory halves the batch and continues with the rest. A
cancel is checked at every step. Left out: speculative decoding, beams, stop strings (an answer ends with
end-of-sequence or at the limit).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sapo_desktop.core.errors import OutOfMemory
from sapo_desktop.core.records import FinishReason, Sampling
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.answering import Answers, GenerationJob, GenerationMonitor
from sapo_desktop.engines.drawing import stream
from sapo_desktop.engines.torch.llama.decoding import PromptBatch, Start
from sapo_desktop.engines.torch.memory import is_out_of_memory, release_memory, return_freed_memory

COMPACT_SHARE = 1 / 8
"""Finished sequences leave the batch at this share: copying the cache costs about two steps."""

COMPACT_SHARE_RECORDED = 1 / 2
"""The same if steps are recorded. A new recording takes about ten steps' time, and a card is hardly faster with
fewer sequences. Of the shares half, a quarter, an eighth and never, half wrote 2 to 19% more tokens per second on
one card. (Once each: `python -m tests.bench.engines.card --only "qwen2.5-0.5b 4"` with this number changed.)"""

REFILL_SHARE = 1 / 2
"""New sequences start at this share of free places: attention processes those that start together at once."""


@torch.inference_mode()
def generate(job: GenerationJob, start: Start, device: torch.device, watch: GenerationMonitor) -> Answers:
    """Answer each prompt `job.answers` times. Raises HostCancelled, or OutOfMemory if not even one sequence fits."""
    watch.total = job.total
    done = _Collected(job.total)
    most = min(job.batch or job.total, job.total)
    waiting = [row for row in range(job.total) if job.limit(row)]
    watch.finished += job.total - len(waiting)
    while waiting:
        # Similar lengths, so that one long question does not pad the others; longest first, so that memory runs out
        # early.
        waiting.sort(key=lambda row: (-len(job.prompt(row)), row))
        batch, short = _Batch(job, start, device, watch, done), False
        try:
            batch.play(waiting, most)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            if len(batch.alive) == 1:
                raise OutOfMemory(
                    sentence(
                        "There is not enough memory for a single answer. Shorten the answers or choose a smaller model."
                    )
                ) from error
            watch.tokens -= done.forget(batch.alive)
            waiting += batch.alive
            most = len(batch.alive) // 2
            short = True
        del batch  # not earlier: until here the error holds it too
        if short:
            release_memory()
    return_freed_memory()
    return Answers(done.tokens, done.logprobs, done.finish, most)


class _Collected:
    """What has been drawn, per sequence."""

    def __init__(self, total: int) -> None:
        self.tokens: list[list[int]] = [[] for _ in range(total)]
        self.logprobs: list[list[float]] = [[] for _ in range(total)]
        self.finish: list[FinishReason] = ["length"] * total

    def forget(self, rows: list[int]) -> int:
        """Restart these sequences; returns how many tokens are lost."""
        lost = sum(len(self.tokens[row]) for row in rows)
        for row in rows:
            self.tokens[row], self.logprobs[row] = [], []
        return lost


class _Batch:
    """Sequences that are decoded together."""

    def __init__(
        self, job: GenerationJob, start: Start, device: torch.device, watch: GenerationMonitor, done: _Collected
    ) -> None:
        self._job, self._device, self._watch, self._done = job, device, watch, done
        self._decoding = start()
        self._rows: list[int] = []
        """Rows of the batch, in order, including those that ended recently."""
        self.alive: list[int] = []
        """The rows that continue."""
        self._noise: dict[int, NDArray[np.float64]] = {}

    def play(self, waiting: list[int], most: int) -> None:
        """Answer all waiting sequences, at most so many at once; started ones are removed from `waiting`."""
        following: Tensor | None = None
        while waiting or self.alive:
            self._watch.check()
            logits = [] if following is None else [self._decoding.step(following)]
            beginning = self._beginning(waiting, most)
            if beginning:
                del waiting[: len(beginning)]
                self._rows += beginning
                self.alive += beginning
                logits.append(self._begin(beginning))
            following = self._draw(torch.cat(logits) if len(logits) > 1 else logits[0])

    def _beginning(self, waiting: list[int], most: int) -> list[int]:
        """The waiting sequences that start now."""
        job, free = self._job, most - len(self._rows)  # finished ones occupy their room until they leave
        late = self.alive and free < REFILL_SHARE * most
        if late or not waiting:
            return []
        count = min(free, len(waiting))
        if job.prompt_tokens:
            held = sum(map(len, {tuple(job.prompt(row)) for row in self.alive}))
            fitting = (job.prompt_tokens - held) // max(1, len(job.prompt(waiting[0])))
            count = min(count, max(fitting, 0 if self.alive else 1) * job.answers)
        # Answers to one question start together: its prompt is read once.
        return waiting[: count - count % job.answers or count]

    def _begin(self, rows: list[int]) -> Tensor:
        """Start sequences and return the logits of their first tokens."""
        job = self._job
        return_freed_memory()  # these need other shapes, which would not fit into the gaps of the finished ones
        longest = max(job.limit(row) for row in rows)
        if not job.sampling.greedy:
            self._noise |= zip(rows, uniforms(job.sampling.seed, rows, longest + 1).numpy(), strict=True)
        numbers = {tuple(job.prompt(row)): 0 for row in rows}
        for number, prompt in enumerate(numbers):
            numbers[prompt] = number
        index = [numbers[tuple(job.prompt(row))] for row in rows]
        return self._decoding.join(PromptBatch.of([list(p) for p in numbers], index, self._device), longest)

    def _draw(self, logits: Tensor) -> Tensor | None:
        """Append the next token of each sequence; return those to continue, or None if there are none."""
        job, done, watch = self._job, self._done, self._watch
        drawn = draw(logits, job.sampling, self._numbers())
        tokens, logprobs = drawn.tokens.tolist(), drawn.logprobs.tolist()
        slots = []
        alive = set(self.alive)
        for slot, row in enumerate(self._rows):
            if row not in alive:
                continue
            token = tokens[slot]
            done.tokens[row].append(token)
            done.logprobs[row].append(logprobs[slot])
            watch.token(row, token)
            if token in job.stop_tokens or job.closes(done.tokens[row]):
                done.finish[row] = "stop" if token in job.stop_tokens else "closed"
                watch.end(row, done.tokens[row])
            elif len(done.tokens[row]) < job.limit(row):
                slots.append(slot)
        watch.tokens += len(self.alive)
        watch.finished += len(self.alive) - len(slots)
        self.alive = [self._rows[slot] for slot in slots]
        following: Tensor = drawn.tokens
        share = COMPACT_SHARE_RECORDED if self._decoding.records else COMPACT_SHARE
        if len(self._rows) - len(slots) >= max(1, share * len(self._rows)):
            kept = torch.tensor(slots, dtype=torch.int64, device=self._device)
            self._decoding.keep(kept)
            following, self._rows = following[kept], list(self.alive)
            self._noise = {row: self._noise[row] for row in self._rows if row in self._noise}
        return following if slots else None

    def _numbers(self) -> Tensor:
        """The next uniform number [B] of each sequence; not needed for greedy answers."""
        if self._job.sampling.greedy:
            return torch.zeros(len(self._rows), dtype=torch.float64)
        taken = [self._noise[row][len(self._done.tokens[row])] for row in self._rows]
        return torch.tensor(taken, dtype=torch.float64)


# Drawing tokens: each sequence has its own stream of uniform numbers, so other sequences of its batch change nothing. A
# token is drawn by inverting the cumulative distribution at the sequence's next number. Log-probabilities are those at
# the temperature.


BLOCK_BYTES = 64 * 1024 * 1024
"""Maximum memory for drawing, besides the logits themselves."""
_BYTES_A_LOGIT = 28
"""Needed at once while a row is inverted: three copies in float32, two in float64."""


@dataclass(frozen=True)
class Drawn:
    """One token per sequence."""

    tokens: Tensor
    """[B] int64."""
    logprobs: Tensor
    """[B] float32, log p at the temperature."""


def uniforms(seed: int, rows: list[int], count: int) -> Tensor:
    """Return [len(rows), count] float64 in [0, 1): the stream of sequence `row` under `seed`, on the CPU."""
    return torch.from_numpy(np.stack([stream(seed, row).random(count) for row in rows]))


def draw(logits: Tensor, sampling: Sampling, uniform: Tensor) -> Drawn:
    """Draw one token per row: logits [B, V], uniform [B] in [0, 1).

    In blocks of rows: inverting needs several copies of a block, some in float64. For a whole batch with a large
    vocabulary, these would take more memory than the cache.
    """
    rows = max(1, BLOCK_BYTES // (_BYTES_A_LOGIT * logits.shape[-1]))
    blocks = zip(torch.split(logits, rows), torch.split(uniform, rows), strict=True)
    drawn = [_draw_block(block, sampling, numbers) for block, numbers in blocks]
    if len(drawn) == 1:
        return drawn[0]
    return Drawn(torch.cat([d.tokens for d in drawn]), torch.cat([d.logprobs for d in drawn]))


def _draw_block(logits: Tensor, sampling: Sampling, uniform: Tensor) -> Drawn:
    greedy = sampling.greedy or sampling.temperature <= 0
    temperature = sampling.temperature if sampling.temperature > 0 else 1.0
    logprobs = torch.log_softmax(logits.float() / temperature, -1)
    tokens = logits.argmax(-1) if greedy else _invert(logprobs.exp(), uniform)
    return Drawn(tokens, logprobs.gather(1, tokens.unsqueeze(1)).squeeze(1))


def _invert(weights: Tensor, uniform: Tensor) -> Tensor:
    """Return the first token whose cumulative weight exceeds uniform times the total. In float64, so that rare
    tokens of a large vocabulary keep their share; Apple's graphics have no float64, so there the processor does it."""
    exact = weights.cpu() if weights.device.type == "mps" else weights
    cumulative = exact.double().cumsum(-1)
    goal = uniform.to(cumulative.device)[:, None] * cumulative[:, -1:]
    tokens = torch.searchsorted(cumulative, goal, right=True).squeeze(1)
    return tokens.clamp(max=weights.shape[-1] - 1).to(weights.device)
