"""Our torch engine in a process of its own, held to AVX2: torch looks at the environment when it is imported.

    python -m tests.bench.generate_child MODEL JOB

JOB is JSON. For each line it reads it answers the questions once and prints the CPU seconds. Beside that: nothing.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import msgspec
import torch

from sapo_desktop.core.records import TrainerSettings
from sapo_desktop.engines.protocols import Load
from sapo_desktop.engines.torch.service import Service
from tests.bench.figure import cpu_seconds
from tests.bench.generate_job import JobOptions, job_of, with_our_torch

AVX2 = {"MKL_ENABLE_INSTRUCTIONS": "AVX2", "ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"}
"""What holds the libraries that torch computes with to processors from 2013."""


@contextlib.contextmanager
def held_to_avx2(model: str, options: JobOptions) -> Iterator[Callable[[], float]]:
    """A process that is ready to answer; what is yielded lets it do so once, and returns its CPU seconds."""
    command = [sys.executable, "-m", "tests.bench.generate_child", model, msgspec.json.encode(options).decode()]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **AVX2}
    ) as child:
        asked, told = child.stdin, child.stdout
        assert asked is not None and told is not None

        def answer() -> float:
            print(file=asked, flush=True)
            return float(told.readline())

        yield answer


def main() -> None:
    model, options = sys.argv[1], msgspec.json.decode(sys.argv[2], type=JobOptions)
    torch.set_num_threads(1)
    service = Service()
    service.handle(Load(model=model, trainer=TrainerSettings(), threads=1, dtype="float32"), lambda _: None)
    engine = service._engine
    assert engine is not None
    ours = with_our_torch(engine, job_of(options))
    for _ in sys.stdin:
        print(cpu_seconds(ours), flush=True)


if __name__ == "__main__":
    main()
