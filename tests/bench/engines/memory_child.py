"""One piece of work of memory.py, in its own process so that its memory can be read from outside.

Prints a line when it is imported, when the model is loaded, and when the work is done. It does nothing but the work.
"""

import dataclasses
import sys
from pathlib import Path

import msgspec

STEPS = 2


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One combination."""

    model: str
    """The model's name in the catalogue, or the starter."""
    engine: str = "torch"
    """torch or llama.cpp."""
    work: str = "generate"
    """generate or train."""
    method: str = "lora"
    dtype: str = "float32"
    quantisation: str = ""
    cache_type: str = "f16"
    """Number format of llama.cpp's keys and values."""
    prompts: int = 1
    answers: int = 1
    """To each prompt; all at once."""
    prompt_tokens: int = 128
    max_tokens: int = 32
    micro_batch: int = 1
    recompute: bool = False
    rounded: bool = False
    quick: bool = False

    @property
    def name(self) -> str:
        how = f"{self.engine} {self.quantisation or self.dtype}" + (" full" if self.method == "full" else "")
        how += " in 8 bits" if self.rounded else ""
        how += " twice" if self.recompute else ""
        if self.work == "train":
            return f"{self.model}, {how}, learns {self.micro_batch} x {self.prompt_tokens + self.max_tokens}"
        return f"{self.model}, {how}, answers {self.prompts} x {self.answers} x {self.prompt_tokens + self.max_tokens}"


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A case to be played."""

    case: Case
    model: str
    """Folder in transformers' layout, or a GGUF file for llama.cpp."""
    vocabulary: int
    """Random tokens are drawn below this."""
    seed: int


class Phase(msgspec.Struct, frozen=True, kw_only=True):
    """Printed when a phase ends. `mapped`: bytes of the model's own files that are mapped and in memory."""

    name: str
    mapped: int = 0


def main() -> None:
    job = msgspec.json.decode(sys.argv[1].encode(), type=Job)
    if job.case.engine == "torch":
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
    case = job.case
    settings = TrainerSettings(
        method=case.method,  # type: ignore[arg-type]
        micro_batch=case.micro_batch,
        recompute=case.recompute,
    )
    load = Load(model=job.model, trainer=settings, threads=1, device="cpu", dtype=case.dtype, rounded=case.rounded)
    engine = TorchEngine(load)
    if case.rounded:  # what is left in floating point, as on a card: nothing of the file is used in place
        for parameter in filter(torch.is_floating_point, engine.lm.model.parameters()):
            parameter.data = parameter.data.clone()
    ended("loaded", job)
    words = torch.Generator().manual_seed(job.seed)

    def random(rows: int, count: int) -> list[list[int]]:
        return torch.randint(4, job.vocabulary, (rows, count), generator=words).tolist()

    if case.work == "generate":
        sampling = Sampling(max_tokens=case.max_tokens, seed=job.seed)
        prompts = random(case.prompts, case.prompt_tokens)
        wanted = dataclasses.replace(engine.job(prompts, case.answers, sampling), stop_tokens=frozenset())
        generate(wanted, engine.starter(False), engine.lm.device, GenerationMonitor())
    else:
        for _ in range(STEPS):
            rows = zip(
                random(case.micro_batch, case.prompt_tokens), random(case.micro_batch, case.max_tokens), strict=True
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
    case, model = job.case, GgufModel(Path(job.model), gpu=False)
    ended("loaded", job)
    words = Random(job.seed)
    prompts = [[words.randrange(4, job.vocabulary) for _ in range(case.prompt_tokens)] for _ in range(case.prompts)]
    sampling = Sampling(max_tokens=case.max_tokens, seed=job.seed)
    wanted = GenerationJob(prompts, case.answers, sampling, frozenset(), case.prompt_tokens + case.max_tokens)
    streams = Streams(model, wanted.total, stream_length(wanted), exact=case.cache_type == "f32")
    generate(wanted, streams, GenerationMonitor())
    ended("done", job)


if __name__ == "__main__":
    main()
