"""What would it bring to generate the next round beside the step of this one, on two cores?

    python -m tests.bench.engines.overlap [--quick] [--json] [--seed N] [--models starter 50M]

Today a phase follows the other, each with both cores. What is measured is that, and both phases beside each other with
a core each, in two processes: rounds as `round.py` plays them, random weights, seconds of wall time, the median of
tries after the first. The bound is what a perfect overlap could bring: whichever phase takes longer gets both cores for
what is left of it when the other has ended. Handing over weights, waiting, and the answers' being a step old are not in
it, so what is built brings less.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.engines.round import ANSWERS, QUESTIONS, TOKENS, questions
from tests.bench.figure import Figure, arguments, show, tell

PHASES = GENERATE, STEP = ("generate", "step")
CORES = 2
TRIES = 4
WORTH = 1.1
"""Below it, nothing is built."""


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--models", nargs="+", default=["starter", "50M"])
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        phase, threads, folder = options.child
        repeat(phase, int(threads), Path(folder), options.seed, options.quick)
        return
    for model in ["starter"] if options.quick else options.models:
        with tempfile.TemporaryDirectory() as folder:
            from tests.bench.engines.models import model_for_both_engines

            compare(model, model_for_both_engines(Path(folder), model, options.seed), options)


def compare(model: str, folder: Path, options: argparse.Namespace) -> None:
    """Phases one by one with all cores, then both at once, and what comes of it."""
    tell(f"{model}: one after the other")
    alone, one = (
        {phase: Phase.timed([Phase(phase, threads, folder, options)])[phase] for phase in PHASES}
        for threads in (CORES, 1)
    )
    tell(f"{model}: beside each other")
    beside = Phase.timed([Phase(phase, 1, folder, options) for phase in PHASES])
    for phase in PHASES:
        for how, seconds in ((f"{CORES} threads", alone), ("1 thread", one), ("1 thread beside the other", beside)):
            show(Figure(name=f"overlap/{model}, {phase}, {how}", value=seconds[phase], unit="s"), options.json)
    gain = sum(alone.values()) / overlapped(beside, alone)
    figure = Figure(
        name=f"overlap/{model}, speed of a round at best",
        value=gain,
        unit="times today's",
        note=f"worth building from {WORTH:g} on",
    )
    show(figure, options.json)


def overlapped(beside: dict[str, float], alone: dict[str, float]) -> float:
    """Seconds of a round whose phases overlap: until the shorter one ends each has a core, then the other has all."""
    shorter, longer = sorted(PHASES, key=lambda phase: beside[phase])
    return beside[shorter] + (1 - beside[shorter] / beside[longer]) * alone[longer]


class Phase:
    """A process that repeats one phase until it is told to end."""

    def __init__(self, phase: str, threads: int, folder: Path, options: argparse.Namespace) -> None:
        self.phase = phase
        self._wanted = 1 + (2 if options.quick else TRIES)
        self._times: list[float] = []
        command = [sys.executable, "-m", "tests.bench.engines.overlap", "--child", phase, str(threads), str(folder)]
        command += ["--seed", str(options.seed), *(["--quick"] if options.quick else [])]
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "false"}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True)
        self._enough = threading.Event()
        self._reader = threading.Thread(target=self._read)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._times.append(float(line))
            if len(self._times) == self._wanted:
                self._enough.set()
        self._enough.set()

    def begin(self) -> None:
        """Once it is loaded."""
        assert self._process.stdout is not None and self._process.stdin is not None
        self._process.stdout.readline()
        self._reader.start()

    def go(self) -> None:
        assert self._process.stdin is not None
        print(file=self._process.stdin, flush=True)

    def end(self) -> float:
        """The median of its tries after the first."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._reader.join()
        if self._process.wait():
            raise SystemExit(f"{self.phase} ended with {self._process.returncode}.")
        return statistics.median(self._times[1 : self._wanted])

    @staticmethod
    def timed(phases: "list[Phase]") -> dict[str, float]:
        """Seconds of each, all of them at once."""
        for phase in phases:
            phase.begin()
        for phase in phases:
            phase.go()
        for phase in phases:
            phase._enough.wait()
        return {phase.phase: phase.end() for phase in phases}


def repeat(phase: str, threads: int, folder: Path, seed: int, quick: bool) -> None:
    """Print the seconds of one go after another, until the input ends."""
    from sapo_desktop.core.records import Sampling, TrainerSettings, TrainingSequence
    from sapo_desktop.engines.protocols import Generate, Load
    from sapo_desktop.engines.torch.service import TorchEngine

    trainer = TrainerSettings(lora_rank=8, lora_alpha=16, learning_rate=1e-5)
    engine = TorchEngine(Load(model=str(folder), trainer=trainer, threads=threads, device="cpu"))
    sampling = Sampling(max_tokens=8 if quick else TOKENS, seed=seed)
    request = Generate(prompts=questions(seed)[:QUESTIONS], answers=ANSWERS, sampling=sampling)
    made = engine.generate(request, lambda _: None, lambda: False)
    batch = [
        TrainingSequence(prompt=prompt, tokens=each.tokens, advantage=1.0 - 2 * (place % 2))
        for prompt, completions in zip(made.prompt_tokens, made.completions, strict=True)
        for place, each in enumerate(completions)
    ]
    work: dict[str, Callable[[], object]] = {
        GENERATE: lambda: engine.generate(request, lambda _: None, lambda: False),
        STEP: lambda: engine.trainer.step(batch),
    }
    print(flush=True)
    sys.stdin.readline()
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    while not ended.is_set():
        began = time.monotonic()
        work[phase]()
        print(time.monotonic() - began, flush=True)


if __name__ == "__main__":
    main()
