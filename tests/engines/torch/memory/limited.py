"""A process that works under a real limit of memory (RLIMIT_DATA), for test_memory_limit.py. Prints the result.

    python -m tests.engines.torch.memory.limited WORK MEGABYTES

The limit is what the process holds once the starter is loaded, and so many MB more.
"""

import json
import resource
import sys
from pathlib import Path

import torch

from sapo_desktop.core.errors import OutOfMemory
from sapo_desktop.core.records import Sampling, TrainerSettings, TrainingSequence
from sapo_desktop.core.resources import resource as shipped
from sapo_desktop.engines.protocols import Load
from sapo_desktop.engines.torch.generation import GenerationJob, GenerationMonitor, generate
from sapo_desktop.engines.torch.service import TorchEngine

SEQUENCES, LENGTH = 8, 64


def main() -> None:
    work, megabytes = sys.argv[1], int(sys.argv[2])
    settings = TrainerSettings(micro_batch=SEQUENCES, learning_rate=1e-2)
    engine = TorchEngine(Load(model=str(shipped("starter")), trainer=settings, threads=1))
    learn(engine, 1)  # whatever the libraries keep from their first call on is there before the limit is set
    limit = held() + megabytes * 1_000_000
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    try:
        outcome = learn(engine, SEQUENCES) if work == "learn" else answer(engine)
    except OutOfMemory as error:
        outcome = {"out_of_memory": str(error)}
    print(json.dumps(outcome))


def held() -> int:
    """Bytes that count for the limit."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))


def learn(engine: TorchEngine, sequences: int) -> dict[str, object]:
    """A step on so many answers; about 6 MB each at once."""
    batch = [
        TrainingSequence(prompt=[5] * 16, tokens=[7 + i % 40] * (LENGTH - 16), advantage=1.0 if i % 2 else -1.0)
        for i in range(sequences)
    ]
    before = {name: value.clone() for name, value in engine.policy.trainable().items()}
    report = engine.trainer.step(batch)
    changed = any(not torch.equal(before[name], value) for name, value in engine.policy.trainable().items())
    return {"micro_batch": report.micro_batch, "skipped": report.skipped, "changed": changed, "loss": report.loss}


def answer(engine: TorchEngine) -> dict[str, object]:
    """32 answers of 496 tokens; about 3 MB of cache each."""
    job = GenerationJob([[5] * 16] * 8, 4, Sampling(max_tokens=496, seed=1), frozenset(), engine.lm.context)
    answers = generate(job, engine.starter(False), engine.lm.device, GenerationMonitor())
    return {"batch": answers.batch, "lengths": sorted({len(tokens) for tokens in answers.tokens})}


if __name__ == "__main__":
    main()
