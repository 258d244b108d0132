"""Does a node alone learn? The main job as a user starts it, from the frozen starter or from any model, and its score.

    python -m tests.bench.node.learning --out .cache/learning    300 rounds, seeds 1, 2, 3; goes on where it was ended
    python -m tests.bench.node.learning --quick                  1 round, one seed, base and last, greedy answers only
    python -m tests.bench.node.learning --model FILE --minutes 60    another model, for a time in place of rounds

Every run is `sapo-desktop run --silo --seed S` in a data folder of its own. Base, last and best checkpoint are then
scored on the public test set: share solved of the likeliest answer (greedy), and of four answers drawn as in training
(sampled, what SAPO's paper measures). The base is also drawn from at lower temperatures: a gain that it has there
already is sharpening, not skill. Differences are paired by question; the interval over the seeds is that of the
questions' mean differences. Prints figures; `--record` keeps them for the docs.

A real model takes many minutes to answer the test set: with `--model` the best checkpoint is not scored, and with
`--quick` none is.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec

from sapo_desktop.core.records import EvalReport, RoundReport
from sapo_desktop.models.starter import starter_folder
from sapo_desktop.system.hardware import processor
from sapo_desktop.worker.store.history import History
from tests.bench.figure import arguments, show, tell
from tests.bench.node.gains import CHECKPOINTS, Curve, Learning, figures

SAMPLES = 4
COOLER = (0.3, 0.5, 0.7)
"""Temperatures at which the base is drawn from as well."""


class Plan(NamedTuple):
    """What is played and scored of each seed."""

    rounds: int
    minutes: float
    """In place of rounds; 0: no bound of time."""
    model: Path | None
    """In place of the starter."""
    options: Sequence[str]
    """More of `run`."""
    names: Sequence[str]
    """Checkpoints to score."""
    samples: int
    """Answers to draw to each question; 0: none."""
    level: str
    """Of the questions to score; empty: all of them."""

    @property
    def kind(self) -> str:
        """The name of greedy scores in the history."""
        return f"test {self.level}" if self.level else "test"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--minutes", type=float, default=0.0, help="play for so long in place of a number of rounds")
    parser.add_argument("--model", type=Path, help="a GGUF file or a model folder in place of the starter")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--samples", type=int, default=SAMPLES, help="answers to draw to each question; 0: none")
    parser.add_argument("--level", default="", help="score the questions of one level alone")
    parser.add_argument("--out", type=Path, help="where the data folders lie; a run that is there is resumed")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="another setting for every run")
    parser.add_argument("--record", type=Path, help="keep the result in this file")
    given = parser.parse_args()
    plan, seeds = plan_of(given), given.seeds[:1] if given.quick else given.seeds
    with tempfile.TemporaryDirectory() as scratch:
        out = given.out or Path(scratch)
        curves = [run_seed(out / f"seed-{seed}", seed, plan, COOLER if seed == seeds[0] else ()) for seed in seeds]
    show(figures(curves, plan.model is not None), given)
    if given.record:
        given.record.parent.mkdir(parents=True, exist_ok=True)
        command = f"python -m tests.bench.node.learning --rounds {plan.rounds} --seeds {' '.join(map(str, seeds))}"
        if plan.minutes:
            command = command.replace(f"--rounds {plan.rounds}", f"--minutes {plan.minutes:g}")
        model = plan.model.name if plan.model else ""
        result = Learning(
            command=command
            + (f" --samples {given.samples}" if given.samples != SAMPLES else "")
            + (f" --level {given.level}" if given.level else "")
            + (f" --model {model}" if model else "")
            + "".join(f" --set {item}" for item in given.set),
            rounds=len(curves[0].rewards),
            machine=machine(),
            starter=hashlib.sha256((starter_folder() / "manifest.json").read_bytes()).hexdigest(),
            curves=curves,
            model=model,
            minutes=plan.minutes,
        )
        given.record.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1))


def plan_of(given: Namespace) -> Plan:
    """What the command line asks for."""
    settings = [*given.set, *(["questions=8"] if given.quick else [])]
    options = [part for item in settings for part in ("--set", item)]
    model = given.model.absolute() if given.model else None
    if given.quick:
        return Plan(1, 0.0, model, options, () if model else ("base", "last"), 0, given.level)
    names = [name for name in CHECKPOINTS if name != "best" or model is None]
    return Plan(given.rounds, given.minutes, model, options, names, given.samples, given.level)


def run_seed(folder: Path, seed: int, plan: Plan, cooler: Sequence[float]) -> Curve:
    """Play what is missing of a run, score its checkpoints, and read its history. `cooler`: temperatures for the
    base."""
    if plan.model:
        command(folder, "settings", "set", "model", str(plan.model))
    play(folder, seed, plan)
    reached = rounds_done(folder)
    level = ["--level", plan.level] if plan.level else []
    drawn = [(f"{plan.kind} (sampled)", [*level, "--samples", str(plan.samples)])] if plan.samples else []
    for kind, more in ((plan.kind, level), *drawn):
        scored = {report.checkpoint: report.round for report in evals(folder, kind)}
        if scored.get("last") == reached:
            continue
        for name in plan.names:
            if name != "base" or name not in scored:  # a shorter run that was prolonged left older scores
                tell(f"seed {seed}: scoring {name}, {kind}")
                command(folder, "eval", "--checkpoint", name, *more)
    for temperature in cooler if plan.samples else ():
        if not evals(folder, cooler_kind(plan, temperature)):
            tell(f"seed {seed}: scoring base at {temperature:g}")
            drawn_so = [*level, "--samples", str(plan.samples), "--temperature", str(temperature)]
            command(folder, "eval", "--checkpoint", "base", *drawn_so)
    return read_curve(folder, seed, reached, plan)


def play(folder: Path, seed: int, plan: Plan) -> None:
    """Play the rounds, or the minutes, that are missing."""
    done = rounds_done(folder)
    options = ["run", "--silo", "--seed", str(seed), *plan.options]
    if not plan.minutes:
        if done < plan.rounds:
            tell(f"seed {seed}: rounds {done + 1} to {plan.rounds}")
            command(folder, *options, "--rounds", str(plan.rounds - done))
        return
    left = 60 * plan.minutes - seconds_done(folder)
    if left > 0:
        tell(f"seed {seed}: {left / 60:.1f} minutes from round {done + 1} on")
        process = subprocess.Popen(line(folder, *options), stdout=subprocess.DEVNULL)
        try:
            process.wait(left)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait()
        else:
            raise subprocess.CalledProcessError(process.returncode, process.args)


def cooler_kind(plan: Plan, temperature: float) -> str:
    """The name of such scores in the history."""
    return f"{plan.kind} (sampled at {temperature:g})"


def command(folder: Path, *arguments: str) -> None:
    """Run a command of the product on a data folder, as a user would."""
    subprocess.run(line(folder, *arguments), check=True, stdout=subprocess.DEVNULL)


def line(folder: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "sapo_desktop", *arguments, "--data", str(folder), "--json"]


def rounds_done(folder: Path) -> int:
    """Rounds that a resumed run would not play again: those with a checkpoint."""
    return max((report.round for report in rounds_of(folder) if report.checkpoint), default=0)


def seconds_done(folder: Path) -> float:
    """That these took, held-out questions left out."""
    reached = rounds_done(folder)
    return sum(without_scores(report) for report in rounds_of(folder) if report.round <= reached)


def rounds_of(folder: Path) -> list[RoundReport]:
    if not (folder / "history.sqlite").is_file():
        return []
    with closing(History(folder / "history.sqlite")) as history:
        return history.last_rounds(100_000)


def without_scores(report: RoundReport) -> float:
    return report.seconds - report.evaluate_seconds


def evals(folder: Path, which: str) -> list[EvalReport]:
    with closing(History(folder / "history.sqlite")) as history:
        return history.evals(which)


def read_curve(folder: Path, seed: int, rounds: int, plan: Plan) -> Curve:
    with closing(History(folder / "history.sqlite")) as history:
        reports = history.rounds(limit=rounds).rounds
        return Curve(
            seed=seed,
            rewards=[round(report.reward, 4) for report in reports],
            seconds=sum(map(without_scores, reports)),
            validation=history.evals("validation"),
            test={report.checkpoint: report for report in history.evals(plan.kind)},
            sampled={report.checkpoint: report for report in history.evals(f"{plan.kind} (sampled)")},
            cooler=[report for each in COOLER for report in history.evals(cooler_kind(plan, each))],
            readable=[round(report.readable or 0.0, 4) for report in reports],
            each_seconds=[round(without_scores(report), 3) for report in reports],
        )


def machine() -> str:
    return f"{processor()}, {os.cpu_count()} cores"


if __name__ == "__main__":
    main()
