"""One case of card.py, in its own process: CUDA's share of a card and the peaks are a process's."""

import dataclasses
import functools
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import torch

from sapo_desktop.core.fitting import Way
from sapo_desktop.core.records import Sampling, TrainerSettings, TrainingSequence
from sapo_desktop.engines.answering import Answers, GenerationJob, GenerationMonitor
from sapo_desktop.engines.protocols import Load
from sapo_desktop.engines.torch.generation import generate
from sapo_desktop.engines.torch.llama.decoding import Decoding, Start
from sapo_desktop.engines.torch.llama.passes import WrittenOutModel
from sapo_desktop.engines.torch.memory import release_memory
from sapo_desktop.engines.torch.service import TorchEngine
from sapo_desktop.system.hardware import card_memory_of
from tests.bench.figure import peak_memory

WARM_UP = 4
"""Tokens of each answer: CUDA loads its kernels when they are first used."""
COMPARED, COMPARED_TOKENS, COMPARED_AT_ONCE = 4, 64, 8
"""Questions, tokens of an answer and answers at once for comparing recorded steps with computed ones; so many that
sequences end and others join."""


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
    a_token_computed: float
    """The same where steps are not recorded."""
    mixed: float
    """Tokens a second where answers end one by one, after as many tokens on average as are written else."""
    off: float
    """What recording changes of a log-probability, at most."""
    peaks: tuple[int, int]
    """Bytes of tensors with the longest answers: while writing, and while learning."""
    reserved: tuple[int, int]
    """What PyTorch had of the card meanwhile."""
    context: int
    """What the process has of the card in addition."""
    host: int
    """The most that it had of the computer's memory."""
    file: int
    """The part of it that is pages of the model's file, which are in memory while it is loaded."""
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

    def answer(self, tokens: int, start: Start | None = None) -> None:
        """Write so many tokens of every answer of a round."""
        prompts = self._random(self._job.questions, self._job.way.prompt_tokens)
        wanted = self._wanted(prompts, self._job.way.answers, tokens)
        answers = self._answers(wanted, start or self.starter())
        self.batch = min(self.batch, answers.batch)

    def ending_one_by_one(self, mean: int) -> float:
        """Tokens a second: random weights draw each token of a vocabulary alike, so one of `mean` ends an answer."""
        prompts = self._random(self._job.questions, self._job.way.prompt_tokens)
        job = self._wanted(prompts, self._job.way.answers, self._job.way.max_tokens)
        job = dataclasses.replace(job, stop_tokens=frozenset(range(0, self.engine.lm.vocabulary, mean)))
        watch = GenerationMonitor()
        took = seconds(lambda: generate(job, self.starter(), self.engine.lm.device, watch))
        return watch.tokens / took

    def off(self) -> float:
        """The largest difference between a token's log-probability as steps are recorded and as they are computed."""
        prompts = self._random(COMPARED, self._job.way.prompt_tokens)
        ends = frozenset(range(0, self.engine.lm.vocabulary, 16))
        job = self._wanted(prompts, self._job.way.answers, COMPARED_TOKENS)
        job = dataclasses.replace(job, stop_tokens=ends, batch=COMPARED_AT_ONCE)
        computed, recorded = (self._answers(job, start) for start in (self.computing(), self.starter()))
        most = 0.0
        for row, tokens in enumerate(recorded.tokens):
            pairs = zip(tokens, computed.tokens[row], recorded.logprobs[row], computed.logprobs[row], strict=False)
            for token, other, mine, theirs in pairs:
                if token != other:  # drawn at the edge between two: what follows is of another text
                    break
                most = max(most, abs(mine - theirs))
        return most

    def starter(self) -> Start:
        return self.engine.starter(False)

    def computing(self) -> Start:
        """Begins a batch whose steps are issued operation by operation."""
        with torch.no_grad():
            return functools.partial(Decoding, WrittenOutModel(self.engine.lm.model, adapted=True))

    def _wanted(self, prompts: list[list[int]], answers: int, tokens: int) -> GenerationJob:
        """Answers of one length."""
        wanted = self.engine.job(prompts, answers, Sampling(max_tokens=tokens, seed=self._job.seed))
        return dataclasses.replace(wanted, stop_tokens=frozenset())

    def _answers(self, wanted: GenerationJob, start: Start) -> Answers:
        return generate(wanted, start, self.engine.lm.device, GenerationMonitor())

    def learn(self, tokens: int, questions: int) -> None:
        """Take a step on as many."""
        answers = self._job.way.answers
        batch = [
            TrainingSequence(prompt=prompt, tokens=answer, advantage=1.0 if at % 2 else -1.0)
            for prompt in self._random(questions, self._job.way.prompt_tokens)
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
    some = min(job.questions, -(-2 * job.way.micro_batch // job.way.answers))  # questions of two micro-batches
    player.answer(WARM_UP)
    player.learn(WARM_UP, some)
    answering = seconds(lambda: player.answer(job.written))
    learning = seconds(lambda: player.learn(job.written, job.questions))
    total = job.questions * job.way.answers
    batches = -(-total // job.way.batch)
    once = seconds(lambda: player.answer(WARM_UP))
    few, more = (seconds(lambda n=n: player.answer(n, player.computing())) for n in (WARM_UP, 3 * WARM_UP))
    off = player.off()
    longest = job.way.max_tokens
    answered, learned = peaks(lambda: player.answer(longest)), peaks(lambda: player.learn(longest, some))
    spent = Spent(
        answering=answering,
        learning=learning,
        tokens=total * job.written,
        a_token=(answering - once) / (job.written - WARM_UP) / batches,
        mixed=player.ending_one_by_one(job.written),
        a_token_computed=(more - few) / (2 * WARM_UP) / batches,
        off=off,
        peaks=(answered[0], learned[0]),
        reserved=(answered[1], learned[1]),
        context=card_memory_of([os.getpid()]) - torch.cuda.memory_reserved(),
        host=peak_memory(),
        file=(Path(job.model) / "model.safetensors").stat().st_size,
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
