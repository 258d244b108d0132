"""What generate.py and its profile ask of our engine and of transformers: nine questions, eight answers each.

    python -m tests.bench.engines.generate_job MODEL JOB

is our torch engine in its own process, held to AVX2: torch looks at the environment when it is imported. JOB is
JSON. For each line it reads it answers the questions once and prints the CPU seconds, and nothing else.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import torch

from sapo_desktop.core.records import Sampling, TrainerSettings
from sapo_desktop.engines.answering import GenerationJob, GenerationMonitor
from sapo_desktop.engines.protocols import Load
from sapo_desktop.engines.torch.generation import generate
from sapo_desktop.engines.torch.lm import load_language_model
from sapo_desktop.engines.torch.service import TorchEngine, create
from tests.bench.figure import cpu_seconds

QUESTIONS, ANSWERS = 9, 8
PROMPT_TOKENS = 16
AVX2 = {"MKL_ENABLE_INSTRUCTIONS": "AVX2", "ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"}
"""What holds the libraries that torch computes with to processors from 2013."""


class JobOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between models and runs."""

    tokens: int
    seed: int
    questions: int = QUESTIONS
    answers: int = ANSWERS


def job_of(options: JobOptions) -> GenerationJob:
    """The questions, as ids of plain bytes; no answer ends early."""
    words = torch.Generator().manual_seed(options.seed)
    prompts = torch.randint(0, 250, (options.questions, PROMPT_TOKENS), generator=words)
    sampling = Sampling(max_tokens=options.tokens, seed=options.seed)
    return GenerationJob(prompts.tolist(), options.answers, sampling, frozenset(), 512)


def with_our_torch(engine: TorchEngine, job: GenerationJob) -> Callable[[], object]:
    """Our own loop in torch, with the adapter: packed into a small model's weights, next to those of a large one."""

    def ours() -> object:
        engine._packed.clear()  # as in a round: the weights have changed
        return generate(job, engine.starter(base=False), engine.lm.device, GenerationMonitor())

    return ours


def plain_model(engine: TorchEngine) -> Any:
    """The engine's model as transformers loads it, without an adapter: peft's would take two more products a layer."""
    return load_language_model(engine.lm.folder, "cpu", "float32", bare=False).model


def with_transformers(model: Any, job: GenerationJob) -> Callable[[], object]:
    """transformers' own generate(), with the base's weights."""

    def theirs() -> object:
        repeated = torch.tensor(job.prompts).repeat_interleave(job.answers, 0)
        length = job.sampling.max_tokens
        mask = torch.ones_like(repeated)
        with torch.inference_mode():
            return model.generate(
                input_ids=repeated,
                attention_mask=mask,
                max_new_tokens=length,
                min_new_tokens=length,
                do_sample=True,
                top_k=0,
            )

    return theirs


@contextlib.contextmanager
def held_to_avx2(model: str, options: JobOptions) -> Iterator[Callable[[], float]]:
    """A process that is ready to answer; what is yielded lets it do so once, and returns its CPU seconds."""
    command = [sys.executable, "-m", "tests.bench.engines.generate_job", model, msgspec.json.encode(options).decode()]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **AVX2}
    ) as child:
        asked, answered = child.stdin, child.stdout
        assert asked is not None and answered is not None

        def answer() -> float:
            print(file=asked, flush=True)
            return float(answered.readline())

        yield answer


def main() -> None:
    model, options = sys.argv[1], msgspec.json.decode(sys.argv[2], type=JobOptions)
    torch.set_num_threads(1)
    service = create()
    service.handle(Load(model=model, trainer=TrainerSettings(), threads=1, dtype="float32"), lambda _: None)
    engine = service._engine
    assert engine is not None
    ours = with_our_torch(engine, job_of(options))
    for _ in sys.stdin:
        print(cpu_seconds(ours), flush=True)


if __name__ == "__main__":
    main()
