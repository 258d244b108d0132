"""How fast does the torch engine learn? One step on 64 answers, on one thread.

    python -m tests.bench.engines.train [--quick] [--json] [--seed N]

Random weights in the starter's shape (tests/bench/engines/models.py) and random answers of 80 to 160 tokens. Also: what
the chunked log-softmax costs against a plain one and how much memory it leaves free, and that resuming
a trainer is a matter of milliseconds.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import torch

from sapo_desktop.core.records import TrainerSettings, TrainingSequence
from sapo_desktop.engines.protocols import Load
from sapo_desktop.engines.torch.logprobs import chunk_rows, token_logprobs
from sapo_desktop.engines.torch.service import TorchEngine
from sapo_desktop.engines.torch.state import restore_trainer, save_trainer
from tests.bench.engines.models import WORDS, starter_like
from tests.bench.figure import Figure, arguments, at_most, cpu_seconds, show, tell

VOCABULARY, WIDTH = 151_936, 64
"""Qwen2's vocabulary, where logits matter; a narrow model, so that they are what is measured."""


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__).parse_args()
    torch.set_num_threads(1)
    repeats = 1 if options.quick else 3
    batch = made_up(16 if options.quick else 64, options.seed)
    for method in ("lora", "full"):
        with tempfile.TemporaryDirectory() as folder:
            engine = make_engine(Path(folder), method, options.seed)
            show(steps(engine, batch, repeats), options)
            show(saving(engine), options)
            if method == "lora":
                show([recomputing(engine, batch, repeats)], options)
    show(log_softmax(repeats, options.seed), options)


def make_engine(folder: Path, method: str, seed: int) -> TorchEngine:
    """An engine over random weights."""
    settings = TrainerSettings(method="full" if method == "full" else "lora")
    return TorchEngine(Load(model=str(starter_like(folder, seed)), trainer=settings, threads=1))


def made_up(count: int, seed: int) -> list[TrainingSequence]:
    """Answers that nobody gave, half of them praised."""
    random = torch.Generator().manual_seed(seed)

    def number(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=random))

    def words(length: int) -> list[int]:
        return [int(i) for i in torch.randint(4, WORDS, (length,), generator=random)]

    return [
        TrainingSequence(prompt=words(number(10, 30)), tokens=words(number(80, 160)), advantage=1.0 if i % 2 else -1.0)
        for i in range(count)
    ]


def steps(engine: TorchEngine, batch: list[TrainingSequence], repeats: int) -> Iterator[Figure]:
    """Optimiser steps on the batch."""
    method = engine.policy.method
    engine.trainer.step(batch[:8])
    best = float("inf")
    for turn in range(repeats):
        tell(f"{method}: step {turn + 1} of {repeats}")
        best = min(best, cpu_seconds(lambda: engine.trainer.step(batch)))
    tokens = sum(len(s.prompt) + len(s.tokens) for s in batch)
    yield Figure(f"speed of a step, {method}", tokens / best, "tokens per CPU-s")
    note = "" if len(batch) == 64 else f"scaled from {len(batch)}"
    yield at_most(f"a step on 64 answers, {method}", best * 64 / len(batch), "CPU-s", 4, note)


def recomputing(engine: TorchEngine, batch: list[TrainingSequence], repeats: int) -> Figure:
    """What it costs to make each layer's tensors again; steps by turns, as a machine is slower now and then."""
    trainer = engine.trainer
    best = {False: float("inf"), True: float("inf")}
    for _ in range(repeats):
        for again in best:
            trainer.settings = msgspec.structs.replace(trainer.settings, recompute=again)
            best[again] = min(best[again], cpu_seconds(lambda: trainer.step(batch)))
    times = best[True] / best[False]
    return Figure("layers made twice, time, lora", times, "times a step's")


def saving(engine: TorchEngine) -> Iterator[Figure]:
    """Save and restore."""
    with tempfile.TemporaryDirectory() as folder:
        saved = cpu_seconds(lambda: save_trainer(engine.trainer, Path(folder)))
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        restored = cpu_seconds(lambda: restore_trainer(engine.trainer, Path(folder)))
    method = engine.policy.method
    yield Figure(f"save, {method}", saved, "CPU-s")
    yield Figure(f"restore, {method}", restored, "CPU-s")
    yield Figure(f"checkpoint, {method}", size / 1e6, "MB")


def log_softmax(repeats: int, seed: int) -> Iterator[Figure]:
    """Chunked against plain log-probabilities with a large vocabulary, forward and backward."""
    torch.manual_seed(seed)
    rows = 512
    hidden = torch.randn(rows, WIDTH, requires_grad=True)
    weight = torch.randn(VOCABULARY, WIDTH)
    targets = torch.randint(VOCABULARY, (rows,))

    def plain() -> None:
        torch.log_softmax(hidden @ weight.T, -1).gather(1, targets[:, None]).sum().backward()

    def chunked() -> None:
        token_logprobs(hidden, weight, targets).sum().backward()

    tell("log-softmax over a large vocabulary")
    first, second = (min(cpu_seconds(work) for _ in range(repeats)) for work in (chunked, plain))
    yield at_most("chunked log-softmax, time against plain", first / second, "times", 1.5)
    share = chunk_rows(VOCABULARY) / rows
    yield Figure("chunked log-softmax, share of logits held", share, "of all")


if __name__ == "__main__":
    main()
