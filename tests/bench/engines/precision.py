"""Is bfloat16 faster than float32 on this processor? Answers and learning with the shape of SmolLM2-135M.

    python -m tests.bench.engines.precision [--quick] [--json] [--seed N]

Random weights, one thread, 16 answers of 24 tokens and a step on 8 answers of 64. A node chooses by a second of
products (engines/torch/products.py); the goal is that its choice is not the slower one by more than a tenth. `--quick`
takes a tenth of the layers and less of everything: without instructions for bfloat16 it is slow.
"""

import tempfile
import threading
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch

from sapo_desktop.core.records import Sampling, TrainerSettings, TrainingSequence
from sapo_desktop.engines.protocols import Generate, Load
from sapo_desktop.engines.torch import products
from sapo_desktop.engines.torch.service import TorchEngine
from tests.bench.engines.models import SHAPES, smollm2_like
from tests.bench.figure import Figure, arguments, at_most, cpu_seconds, show, tell
from tests.builders import as_prompts

FORMATS = ("float32", "bfloat16")


class Work(NamedTuple):
    """How much of what is done."""

    layers: int
    answers: int
    length: int
    step_answers: int
    step_length: int


WHOLE = Work(layers=30, answers=16, length=24, step_answers=8, step_length=64)
QUICK = Work(layers=3, answers=4, length=6, step_answers=2, step_length=24)


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__).parse_args()
    torch.set_num_threads(1)
    spent: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        work = QUICK if options.quick else WHOLE
        folder = smollm2_like(Path(name), work.layers, options.seed)
        for dtype in FORMATS:
            tell(dtype)
            spent[dtype] = measure(folder, dtype, work, options)
    shape = SHAPES["135M"]
    measured = products.measure(shape["hidden_size"], shape["intermediate_size"])
    chosen = "bfloat16" if measured.bfloat16_pays else "float32"
    ratio = spent["float32"] / spent["bfloat16"]
    worst, name = spent[chosen] / min(spent.values()), "number format chosen against the faster"
    best = at_most(name, worst, "times its CPU-s", 1.1, f"{chosen} is chosen")
    show([Figure("bfloat16 against float32", ratio, "times as fast"), best], options)


def measure(folder: Path, dtype: str, work: Work, options: Namespace) -> float:
    """Show what answering and learning cost in this format; returns the CPU seconds of both, each for one run."""
    settings = TrainerSettings(micro_batch=work.step_answers)
    engine = TorchEngine(Load(model=str(folder), trainer=settings, threads=1, device="cpu", dtype=dtype))
    sampling = Sampling(max_tokens=work.length, seed=options.seed)
    request = Generate(prompts=as_prompts(["what is 1+1?"]), answers=work.answers, sampling=sampling)

    def answer() -> None:
        engine.generate(request, lambda _: None, threading.Event().is_set)

    random = torch.Generator().manual_seed(options.seed)
    words = torch.randint(4, 50, (work.step_answers, work.step_length), generator=random).tolist()
    batch = [TrainingSequence(prompt=[5, 6], tokens=w, advantage=1.0 - 2 * (i % 2)) for i, w in enumerate(words)]
    answering = best_of_two(answer)
    learning = best_of_two(lambda: engine.trainer.step(batch))
    answered, learned = work.answers * work.length, work.step_answers * work.step_length
    made = [
        Figure(f"generate {dtype}", answered / answering, "tokens per CPU-s"),
        Figure(f"train {dtype}", learned / learning, "tokens per CPU-s"),
    ]
    show(made, options)
    return answering + learning


def best_of_two(work: Callable[[], object]) -> float:
    """The better of two runs, in CPU seconds."""
    return min(cpu_seconds(work), cpu_seconds(work))


if __name__ == "__main__":
    main()
