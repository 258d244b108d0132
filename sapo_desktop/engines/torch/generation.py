"""Answers to questions in one batch: the loop, its memory and its manners.

Each distinct prompt is read once and continued by all its answers. Sequences that ended leave the batch when
enough of them have. Out of memory halves the batch and goes on with what is left; a cancel is seen at every
step. Left out: speculative decoding, beams, stop strings (an answer ends with end-of-sequence or at the
limit).
"""

from __future__ import annotations

import torch

from sapo_desktop.core.errors import OutOfMemory
from sapo_desktop.core.records import FinishReason
from sapo_desktop.core.sentences import sentence
from sapo_desktop.engines.answering import Answers, GenerationJob, GenerationMonitor
from sapo_desktop.engines.torch.decoder import PromptBatch, Start
from sapo_desktop.engines.torch.memory import is_out_of_memory, release_memory, return_freed_memory
from sapo_desktop.engines.torch.sampling import draw, uniforms

COMPACT_SHARE = 1 / 8
"""Sequences leave the batch once this share of it has ended: copying the cache costs about two steps."""


@torch.inference_mode()
def generate(job: GenerationJob, start: Start, device: torch.device, watch: GenerationMonitor) -> Answers:
    """Answer each prompt `job.answers` times; raises HostCancelled, or OutOfMemory when one sequence is too
    many."""
    watch.total = job.total
    done = _Collected(job.total)
    batch = min(job.batch or job.total, job.total)
    # Alike in length, so that one long question does not pad all others; longest first, so that memory runs out before
    # any work is lost.
    order = sorted(range(job.total), key=lambda row: -len(job.prompt(row)))
    at = 0
    while at < job.total:
        rows = order[at : at + _fitting(job, batch, len(job.prompt(order[at])))]
        before = (watch.finished, watch.tokens)
        try:
            _generate_rows(job, rows, start, device, watch, done)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            if len(rows) == 1:
                raise OutOfMemory(
                    sentence(
                        "There is not enough memory for a single answer. Shorten the answers or choose a smaller model."
                    )
                ) from error
            watch.finished, watch.tokens = before
            done.forget(rows)
            batch = len(rows) // 2
            release_memory()
            continue
        at += len(rows)
        return_freed_memory()  # the next turn's cache has another shape and would not fit into what this one leaves
    return Answers(done.tokens, done.logprobs, done.finish, batch)


def _fitting(job: GenerationJob, batch: int, longest: int) -> int:
    """How many sequences may be under way together where the longest prompt has so many tokens."""
    return min(batch, max(1, job.prompt_tokens // max(1, longest))) if job.prompt_tokens else batch


class _Collected:
    """What has been drawn, per sequence."""

    def __init__(self, total: int) -> None:
        self.tokens: list[list[int]] = [[] for _ in range(total)]
        self.logprobs: list[list[float]] = [[] for _ in range(total)]
        self.finish: list[FinishReason] = ["length"] * total

    def forget(self, rows: list[int]) -> None:
        for row in rows:
            self.tokens[row], self.logprobs[row], self.finish[row] = [], [], "length"


def _generate_rows(
    job: GenerationJob, rows: list[int], start: Start, device: torch.device, watch: GenerationMonitor, done: _Collected
) -> None:
    """Answer the given sequences in one batch."""
    limits = {row: job.limit(row) for row in rows}
    watch.finished += sum(limits[row] == 0 for row in rows)
    alive = [row for row in rows if limits[row] > 0]
    if not alive:
        return
    longest = max(limits[row] for row in alive)
    started = start(_prompt_batch(job, alive, device), longest)
    logits, decoding = started.logits, started.decoding
    # Without a draw the numbers are not needed; one column keeps the loop the same.
    noise = uniforms(job.sampling.seed, alive, 1 if job.sampling.greedy else longest)
    slots = list(range(len(alive)))  # rows of the batch whose sequence goes on
    for step in range(longest):
        watch.check()
        drawn = draw(logits, job.sampling, noise[:, min(step, noise.shape[1] - 1)])
        tokens, logprobs = drawn.tokens.tolist(), drawn.logprobs.tolist()
        going = []
        for slot in slots:
            row, token = alive[slot], tokens[slot]
            done.tokens[row].append(token)
            done.logprobs[row].append(logprobs[slot])
            watch.token(row, token)
            if token in job.stop_tokens:
                done.finish[row] = "stop"
                watch.end(row, done.tokens[row])
            elif len(done.tokens[row]) < limits[row]:
                going.append(slot)
        watch.tokens += len(slots)
        watch.finished += len(slots) - len(going)
        slots = going
        if not slots:
            return
        following = drawn.tokens
        if len(alive) - len(slots) >= max(1, COMPACT_SHARE * len(alive)):
            kept = torch.tensor(slots)
            decoding.keep(kept.to(device))
            following, noise = following[kept.to(device)], noise[kept]
            alive, slots = [alive[slot] for slot in slots], list(range(len(slots)))
        logits = decoding.step(following)


def _prompt_batch(job: GenerationJob, rows: list[int], device: torch.device) -> PromptBatch:
    numbers = {tuple(job.prompt(row)): 0 for row in rows}
    for number, prompt in enumerate(numbers):
        numbers[prompt] = number
    index = [numbers[tuple(job.prompt(row))] for row in rows]
    return PromptBatch.of([list(prompt) for prompt in numbers], index, device)
