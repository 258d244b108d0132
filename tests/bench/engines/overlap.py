"""How much faster is answering the next round during this one's training step? An upper bound, on two cores.

    python -m tests.bench.engines.overlap [--quick] [--json] [--seed N] [--models starter 50M] [--times N]
        [--tokens N]

It times a round's answers and its step (those of round.py) twice. First one after the other with two threads, as a node
with two cores does it. Then at the same time, in two processes with one thread each. The
second omits passing the adapter on, and the loss from learning with answers of the previous adapter. So no
implementation can gain more than the ratio.

On a busy computer wall times say little, because threads of one process wait for each other. So there are two ratios.
The one by wall time is right if nothing else runs. The other uses the processor time of the busiest thread, which calls
the others. Threads sleep while they wait, so this is the time on an idle computer, minus the moments of waking up,
which makes the ratio a little too small. Both are medians of alternating turns, with the 95% interval of the mean of
their logarithms.
"""

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Literal

import msgspec

from sapo_desktop.lab.table import t_interval
from tests.bench.engines.round import TOKENS, Phases
from tests.bench.figure import Figure, arguments, show, tell

TIMES = {"starter": 12, "50M": 6}
WORTH = 1.1
"""The ratio above which it would be worth building."""
Phase = Literal["answer", "learn"]
PHASES: tuple[Phase, ...] = ("answer", "learn")


class Took(msgspec.Struct, frozen=True):
    """Seconds of one phase."""

    wall: float
    thread: float
    """Processor time of the thread that calls."""
    cpu: float
    """Processor time of all threads."""


class Turn(msgspec.Struct, frozen=True):
    """One round in both ways."""

    alone: dict[Phase, Took]
    """One phase after the other, two threads."""
    beside: dict[Phase, Took]
    """At the same moment, a thread each."""

    def gain(self, seconds: Callable[[Took], float]) -> float:
        """One after the other against side by side."""
        return sum(map(seconds, self.alone.values())) / max(map(seconds, self.beside.values()))


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--models", nargs="+", default=["starter", "50M"])
    parser.add_argument("--times", type=int, default=0, help="turns of each model")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="of an answer; fewer take less time")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        serve(Path(options.child[0]), int(options.child[1]), options.seed, options.tokens)
        return
    for model in ["starter"] if options.quick else options.models:
        with tempfile.TemporaryDirectory() as folder:
            from tests.bench.engines.models import model_for_both_engines

            path = model_for_both_engines(Path(folder), model, options.seed)
            turns = played(model, path, options)
        show(figures(model, turns), options)


def played(model: str, folder: Path, options: argparse.Namespace) -> list[Turn]:
    """Both ways in turns; the first, which warms up, does not count."""
    times = 3 if options.quick else options.times or TIMES.get(model, 3)
    with Child(folder, 2, options) as both, Child(folder, 1, options) as answers, Child(folder, 1, options) as learns:
        turns = []
        for number in range(times + 1):
            tell(f"{model}: {number} of {times}")
            alone = {phase: both.begin(phase).took() for phase in PHASES}
            answers.begin("answer")
            learns.begin("learn")
            turns.append(Turn(alone, {"answer": answers.took(), "learn": learns.took()}))
    return turns[1:]


class Child:
    """A process with an engine of its own, which plays a phase on request."""

    def __init__(self, folder: Path, threads: int, options: argparse.Namespace) -> None:
        command = [sys.executable, "-m", "tests.bench.engines.overlap", "--child", str(folder), str(threads)]
        environment = {**os.environ, "OMP_WAIT_POLICY": "passive", "TOKENIZERS_PARALLELISM": "false"}
        self._process = subprocess.Popen(
            [*command, "--seed", str(options.seed), "--tokens", str(options.tokens)],
            env=environment | {"OMP_NUM_THREADS": str(threads)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        if self._process.wait():
            raise SystemExit(f"An engine ended with {self._process.returncode}.")

    def begin(self, phase: Phase) -> "Child":
        assert self._process.stdin is not None
        self._process.stdin.write(phase.encode() + b"\n")
        self._process.stdin.flush()
        return self

    def took(self) -> Took:
        """Wait for the phase that was begun, and return its cost."""
        assert self._process.stdout is not None
        return msgspec.json.decode(self._process.stdout.readline(), type=Took)


def serve(folder: Path, threads: int, seed: int, tokens: int) -> None:
    """Play each phase that a line of the input names."""
    phases = Phases(folder, seed, tokens=tokens, threads=threads)
    batch = phases.answer(0)
    work: dict[str, Callable[[], object]] = {"answer": lambda: phases.answer(1), "learn": lambda: phases.learn(batch)}
    for line in sys.stdin:
        wall, thread, cpu = time.monotonic(), time.thread_time(), time.process_time()
        work[line.strip()]()
        took = Took(time.monotonic() - wall, time.thread_time() - thread, time.process_time() - cpu)
        print(msgspec.json.encode(took).decode(), flush=True)


def figures(model: str, turns: list[Turn]) -> Iterator[Figure]:
    """The bounds, and what they are made of."""
    for name, seconds in (("wall", attrgetter("wall")), ("the busiest thread", attrgetter("thread"))):
        gains = [math.log(turn.gain(seconds)) for turn in turns]
        interval = t_interval(gains)
        assert interval is not None, "there are several turns"
        note = f"95% interval {math.exp(interval.low):.2f} to {math.exp(interval.high):.2f}"
        note += f"; from {WORTH} on it is worth building"
        yield Figure(f"bound by {name}, {model}", math.exp(statistics.median(gains)), "times as fast", note=note)
        for way in ("alone", "beside"):
            for phase in PHASES:
                value = statistics.median(seconds(getattr(turn, way)[phase]) for turn in turns)
                yield Figure(f"{phase}s {way}, {name}, {model}", value, "s")
    work = statistics.median(cpu(turn.alone) / cpu(turn.beside) for turn in turns)
    yield Figure(f"processor time of two threads, {model}", work, "times that of one")


def cpu(phases: dict[Phase, Took]) -> float:
    return sum(took.cpu for took in phases.values())


if __name__ == "__main__":
    main()
