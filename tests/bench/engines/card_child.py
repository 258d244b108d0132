"""One case of card.py, in a process of its own: CUDA's share of a card and the peaks are a process's."""

import dataclasses
import os
import sys
import time
from collections.abc import Callable

import msgspec
import torch

from sapo_desktop.core.fitting import Way
from sapo_desktop.core.records import Sampling, TrainerSettings, TrainingSequence
from sapo_desktop.engines.protocols import Load
from sapo_desktop.engines.torch.generation import GenerationMonitor, generate
from sapo_desktop.engines.torch.memory import release_memory
from sapo_desktop.engines.torch.service import TorchEngine
from sapo_desktop.system.hardware import card_memory_of
from tests.bench.figure import peak_memory

WARM_UP = 4
"""Tokens of each answer: CUDA loads its kernels when they are first used."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What is played."""

    model: str
    way: Way
    questions: int
    written: int
    """Tokens of each answer in the round that is timed."""
    card_memory: int
    """Bytes that tensors may take."""
    vocabulary: int
    """Random tokens are drawn below this."""
    seed: int


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """What it took; sizes in bytes, times in seconds."""

    answering: float
    learning: float
    tokens: int
    """Written while answering."""
    a_token: float
    """The time of one token of each of the answers that are under way, where they are as many as in the plan."""
    peaks: tuple[int, int]
    """Of the tensors, with the longest answers: while they are written, and learned from."""
    reserved: tuple[int, int]
    """What PyTorch had of the card meanwhile."""
    context: int
    """What the process has of the card beside that."""
    host: int
    """The most that it had of the computer's memory."""
    halved: int
    """How often less was tried, for want of memory."""


class Player:
    """The engine as the loader would have it."""

    def __init__(self, job: Job) -> None:
        way = job.way
        self._job = job
        self.trainer = TrainerSettings(
            micro_batch=way.micro_batch, recompute=way.recompute, lora_rank=way.lora_rank, lora_alpha=2 * way.lora_rank
        )
        load = Load(
            model=job.model,
            trainer=self.trainer,
            threads=max(1, (os.cpu_count() or 2) // 2),
            device="cuda",
            dtype=way.precision,
            rounded=way.rounded,
            batch=way.batch,
            card_memory=job.card_memory,
        )
        self.engine = TorchEngine(load)
        self._words = torch.Generator().manual_seed(job.seed)
        self.batch = way.batch

    def _random(self, rows: int, count: int) -> list[list[int]]:
        return torch.randint(4, self._job.vocabulary, (rows, count), generator=self._words).tolist()

    def answer(self, tokens: int) -> None:
        """Write so many tokens of every answer of a round."""
        prompts = self._random(self._job.questions, self._job.way.prompt_tokens)
        wanted = self.engine.job(prompts, self._job.way.answers, Sampling(max_tokens=tokens, seed=self._job.seed))
        wanted = dataclasses.replace(wanted, stop_tokens=frozenset())
        answers = generate(wanted, self.engine.starter(False), self.engine.lm.device, GenerationMonitor())
        self.batch = min(self.batch, answers.batch)

    def learn(self, tokens: int) -> None:
        """Take a step on as many."""
        answers = self._job.way.answers
        batch = [
            TrainingSequence(prompt=prompt, tokens=answer, advantage=1.0 if at % 2 else -1.0)
            for prompt in self._random(self._job.questions, self._job.way.prompt_tokens)
            for at, answer in enumerate(self._random(answers, tokens))
        ]
        assert not self.engine.trainer.step(batch).skipped

    @property
    def halved(self) -> int:
        now = self.engine.trainer.settings
        again = now.recompute != self.trainer.recompute
        batches = (self._job.way.batch // self.batch).bit_length() - 1
        return batches + (self.trainer.micro_batch // now.micro_batch).bit_length() - 1 + again


def main() -> None:
    job = msgspec.json.decode(sys.argv[1].encode(), type=Job)
    player = Player(job)
    player.answer(WARM_UP)
    player.learn(WARM_UP)
    answering, learning = seconds(lambda: player.answer(job.written)), seconds(lambda: player.learn(job.written))
    total = job.questions * job.way.answers
    once = seconds(lambda: player.answer(WARM_UP))
    longest = job.way.max_tokens
    answered, learned = peaks(lambda: player.answer(longest)), peaks(lambda: player.learn(longest))
    spent = Spent(
        answering=answering,
        learning=learning,
        tokens=total * job.written,
        a_token=(answering - once) / (job.written - WARM_UP) / -(-total // job.way.batch),
        peaks=(answered[0], learned[0]),
        reserved=(answered[1], learned[1]),
        context=card_memory_of([os.getpid()]) - torch.cuda.memory_reserved(),
        host=peak_memory(),
        halved=player.halved,
    )
    print(msgspec.json.encode(spent).decode())


def seconds(work: Callable[[], None]) -> float:
    """Wall seconds until the card is done."""
    torch.cuda.synchronize()
    began = time.monotonic()
    work()
    torch.cuda.synchronize()
    return time.monotonic() - began


def peaks(work: Callable[[], None]) -> tuple[int, int]:
    """What tensors took at most, and what was reserved for them."""
    release_memory()
    torch.cuda.reset_peak_memory_stats()
    work()
    return torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()


if __name__ == "__main__":
    main()
