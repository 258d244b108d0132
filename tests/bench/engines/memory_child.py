"""One piece of work of memory.py, in a process of its own so that its memory can be read from outside.

Prints a line when it is imported, when the model is loaded, and when the work is done. Beside the work: nothing.
"""

import dataclasses
import sys
from pathlib import Path

import msgspec


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What to do, with which sizes."""

    model: str
    """Folder in transformers' layout, or a GGUF file for llama.cpp."""
    engine: str
    """torch or llama.cpp."""
    work: str
    """generate or train."""
    dtype: str = "auto"
    method: str = "lora"
    rank: int = 8
    prompts: int = 1
    answers: int = 1
    """To each prompt; all at once."""
    prompt_tokens: int = 64
    answer_tokens: int = 64
    micro_batch: int = 1
    recompute: bool = False
    rounded: bool = False
    steps: int = 2
    vocabulary: int = 256
    """Random tokens are drawn below this."""
    cache_type: str = "f16"
    """Of llama.cpp's keys and values."""
    seed: int = 1


class Phase(msgspec.Struct, frozen=True, kw_only=True):
    """Printed when a phase ends. `mapped`: bytes of the model's own files that are mapped and in memory."""

    name: str
    mapped: int = 0


def main() -> None:
    job = msgspec.json.decode(sys.argv[1].encode(), type=Job)
    if job.engine == "torch":
        with_torch(job)
    else:
        with_llama(job)


def ended(name: str, job: Job) -> None:
    """Tell the parent, and wait until it has looked."""
    print(msgspec.json.encode(Phase(name=name, mapped=mapped_bytes(Path(job.model)))).decode(), flush=True)
    sys.stdin.readline()


def mapped_bytes(model: Path) -> int:
    """Resident bytes of the mappings of a model's files."""
    total, counts = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        key = line.split(maxsplit=1)[0]
        if not key.endswith(":"):
            counts = str(model) in line
        elif counts and key == "Rss:":
            total += int(line.split()[1]) * 1024
    return total


def with_torch(job: Job) -> None:
    import torch

    from sapo_desktop.core.records import Sampling, TrainerSettings, TrainingSequence
    from sapo_desktop.engines.protocols import Load
    from sapo_desktop.engines.torch.generation import GenerationMonitor, generate
    from sapo_desktop.engines.torch.service import TorchEngine
    from sapo_desktop.worker.hosts import host

    assert host
    ended("imported", job)
    settings = TrainerSettings(
        method=job.method,  # type: ignore[arg-type]
        lora_rank=job.rank,
        micro_batch=job.micro_batch,
        recompute=job.recompute,
    )
    load = Load(model=job.model, trainer=settings, threads=1, device="cpu", dtype=job.dtype, rounded=job.rounded)
    engine = TorchEngine(load)
    if job.rounded:  # what is left in floating point, as on a card: nothing of the file is used in place
        for parameter in filter(torch.is_floating_point, engine.lm.model.parameters()):
            parameter.data = parameter.data.clone()
    ended("loaded", job)
    words = torch.Generator().manual_seed(job.seed)

    def random(rows: int, count: int) -> list[list[int]]:
        return torch.randint(4, job.vocabulary, (rows, count), generator=words).tolist()

    if job.work == "generate":
        sampling = Sampling(max_tokens=job.answer_tokens, seed=job.seed)
        prompts = random(job.prompts, job.prompt_tokens)
        wanted = dataclasses.replace(engine.job(prompts, job.answers, sampling), stop_tokens=frozenset())
        generate(wanted, engine.starter(False), engine.lm.device, GenerationMonitor())
    else:
        for _ in range(job.steps):
            rows = zip(
                random(job.micro_batch, job.prompt_tokens), random(job.micro_batch, job.answer_tokens), strict=True
            )
            batch = [
                TrainingSequence(prompt=prompt, tokens=answer, advantage=1.0 if at % 2 else -1.0)
                for at, (prompt, answer) in enumerate(rows)
            ]
            engine.trainer.step(batch)
    ended("done", job)


def with_llama(job: Job) -> None:
    from random import Random

    from sapo_desktop.core.records import Sampling
    from sapo_desktop.engines.answering import GenerationJob, GenerationMonitor
    from sapo_desktop.engines.llama_cpp import service as llama_cpp_service
    from sapo_desktop.engines.llama_cpp.generator import generate, stream_length
    from sapo_desktop.engines.llama_cpp.model import GgufModel
    from sapo_desktop.engines.llama_cpp.streams import Streams
    from sapo_desktop.worker.hosts import host

    assert host and llama_cpp_service
    ended("imported", job)
    model = GgufModel(Path(job.model), gpu=False)
    ended("loaded", job)
    words = Random(job.seed)
    prompts = [[words.randrange(4, job.vocabulary) for _ in range(job.prompt_tokens)] for _ in range(job.prompts)]
    sampling = Sampling(max_tokens=job.answer_tokens, seed=job.seed)
    wanted = GenerationJob(prompts, job.answers, sampling, frozenset(), job.prompt_tokens + job.answer_tokens)
    streams = Streams(model, wanted.total, stream_length(wanted), exact=job.cache_type == "f32")
    generate(wanted, streams, GenerationMonitor())
    ended("done", job)


if __name__ == "__main__":
    main()
