"""How long a round takes, compared with the estimate of models/fit/pace.py before anything was played.

    python -m tests.bench.engines.pace [--quick] [--json] [--seed N] [--model FILE_OR_FOLDER]
        [--questions N] [--formats float32 bfloat16]

A round as the product plays it: 8 questions of the length that a chat model is asked, 8 answers to each, a step on the
answers to three quarters of them, in both number formats, one thread. The products are measured before, in the same
process, and both sides count CPU seconds of this process, so that other programs cancel out. Without a model: the shape
of SmolLM2-135M with random weights. An estimate that is right to 0.7 to 1.4 times is good enough to choose a model by.
"""

import argparse
import tempfile
from pathlib import Path

import msgspec
import torch

from sapo_desktop.core.fitting import Parts, Way
from sapo_desktop.core.records import Sampling, TrainerSettings, TrainingSequence
from sapo_desktop.engines.answering import GenerationMonitor
from sapo_desktop.engines.protocols import Load
from sapo_desktop.engines.torch import products
from sapo_desktop.engines.torch.service import TorchEngine
from sapo_desktop.models.describe import describe
from sapo_desktop.models.fit import pace
from sapo_desktop.models.fit.shape import ModelShape
from sapo_desktop.system.hardware import probe
from tests.bench.engines.models import smollm2_like
from tests.bench.figure import Figure, arguments, cpu_seconds, show, tell

QUESTIONS, ANSWERS = 8, 8
FORMATS = ("float32", "bfloat16")
LEAST, MOST = 0.7, 1.4


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="four are enough to compare by")
    parser.add_argument("--formats", nargs="+", default=list(FORMATS))
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        path = options.model or smollm2_like(Path(name), 3 if options.quick else 30, options.seed)
        shape = describe(path).shape
        for format in options.formats:
            tell(format)
            show(beside(path, shape, format, options), options)


def beside(path: Path, shape: ModelShape, format: str, options: argparse.Namespace) -> list[Figure]:
    """The estimate and the round, in one process."""
    times = products.measure(shape.hidden, shape.ffn)
    here = msgspec.structs.replace(probe(path.parent), products=[times])
    questions = 4 if options.quick else options.questions
    estimate = pace.round_seconds(the_way(format), shape, here, questions, threads=1) - pace.OTHER
    round = Round(path, format, questions, options.seed)
    answering = cpu_seconds(round.answer)
    learning = cpu_seconds(round.learn)
    ratio = estimate / (answering + learning)
    held = LEAST <= ratio <= MOST
    return [
        Figure(f"answers, {format}", answering, "CPU-s"),
        Figure(f"step, {format}", learning, "CPU-s"),
        Figure(f"estimate over round, {format}", ratio, "times", f"{LEAST} to {MOST}", held),
    ]


def the_way(format: str) -> Way:
    """The mode in which torch runs it with enough memory."""
    return Way(
        model="",
        generator="torch",
        trainer="torch",
        device="cpu",
        precision=format,
        weights="",
        batch=QUESTIONS * ANSWERS,
        micro_batch=16,
        answers=ANSWERS,
        prompt_tokens=pace.CHAT.prompt,
        max_tokens=512,
        lora_rank=8,
        memory=Parts(),
    )


class Round:
    """The engine's part of one."""

    def __init__(self, path: Path, format: str, questions: int, seed: int) -> None:
        trainer = TrainerSettings(lora_rank=8, lora_alpha=16, learning_rate=1e-5)
        self._engine = TorchEngine(Load(model=str(path), trainer=trainer, threads=1, device="cpu", dtype=format))
        random = torch.Generator().manual_seed(seed)
        most = self._engine.lm.vocabulary
        self._prompts = torch.randint(most // 2, (questions, pace.CHAT.prompt), generator=random).tolist()
        self._seed = seed
        self._batch: list[TrainingSequence] = []

    def answer(self) -> None:
        """Random prompts hardly ever end an answer before its last token."""
        sampling = Sampling(max_tokens=round(pace.CHAT.written), seed=self._seed)
        job = self._engine.job(self._prompts, ANSWERS, sampling)
        answers = self._engine._answer(job, False, GenerationMonitor())
        teaching = round(pace.TEACHING * len(self._prompts)) * ANSWERS
        self._batch = [
            TrainingSequence(
                prompt=self._prompts[place // ANSWERS],
                tokens=tokens,
                advantage=(1.0 - 2 * (place % 2)) if place < teaching else 0.0,
            )
            for place, tokens in enumerate(answers.tokens)
        ]

    def learn(self) -> None:
        self._engine.trainer.step(self._batch)


if __name__ == "__main__":
    main()
