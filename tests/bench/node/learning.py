"""Does a node alone learn? The main job as a user starts it, from the frozen starter, and its held-out score.

    python -m tests.bench.node.learning --out .cache/learning    300 rounds, seeds 1, 2, 3; goes on where it was ended
    python -m tests.bench.node.learning --quick                  1 round, one seed, base and last, greedy answers only

Every run is `sapo-desktop run --silo --seed S` in a data folder of its own. Base, last and best checkpoint are then
scored on the public test set: share solved of the likeliest answer (greedy), and of four answers drawn as in training
(sampled, what SAPO's paper measures). The base is also drawn from at lower temperatures: a gain that it has there
already is sharpening, not skill. Differences are paired by question; the interval over the seeds is that of the
questions' mean differences. Prints figures; `--record` keeps them for the docs.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import msgspec

from sapo_desktop.core.records import EvalReport
from sapo_desktop.core.statistics import Estimate, mean_with_error
from sapo_desktop.models.starter import starter_folder
from sapo_desktop.system.hardware import processor
from sapo_desktop.worker.store.history import History
from tests.bench.figure import Figure, arguments, at_most, show, tell

GOAL = 0.1
VALIDATION_GOAL = 0.05
SAMPLES = 4
COOLER = (0.3, 0.5, 0.7)
"""Temperatures at which the base is drawn from as well."""
CHECKPOINTS = ("base", "best", "last")
"""In the order in which they are scored: a score of the last one at the last round means that the run is done."""


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """What one seed did."""

    seed: int
    rewards: list[float]
    """Per round."""
    seconds: float
    """Of all rounds, as they report it, without what held-out questions took."""
    validation: list[EvalReport]
    test: dict[str, EvalReport]
    """Greedy answers, by checkpoint name."""
    sampled: dict[str, EvalReport]
    """Answers drawn at the training temperature, by checkpoint name."""
    cooler: list[EvalReport]
    """The base's, drawn at lower ones; of the first seed only, as all have one base."""


class Learning(msgspec.Struct, frozen=True, kw_only=True):
    """What docs/learning.md is made from."""

    command: str
    rounds: int
    machine: str
    starter: str
    """SHA-256 of the starter's manifest."""
    curves: list[Curve]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--out", type=Path, help="where the data folders lie; a run that is there is resumed")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="another setting for every run")
    parser.add_argument("--record", type=Path, help="keep the result in this file")
    given = parser.parse_args()
    rounds, seeds = (1, given.seeds[:1]) if given.quick else (given.rounds, given.seeds)
    settings = [*given.set, *(["questions=8"] if given.quick else [])]
    with tempfile.TemporaryDirectory() as scratch:
        out = given.out or Path(scratch)
        names, samples = (("base", "last"), 0) if given.quick else (CHECKPOINTS, SAMPLES)
        curves = [
            run_seed(out / f"seed-{seed}", seed, rounds, settings, names, samples, COOLER if seed == seeds[0] else ())
            for seed in seeds
        ]
    show(figures(curves), given)
    if given.record:
        given.record.parent.mkdir(parents=True, exist_ok=True)
        command = f"python -m tests.bench.node.learning --rounds {rounds} --seeds {' '.join(map(str, seeds))}"
        result = Learning(
            command=command + "".join(f" --set {item}" for item in given.set),
            rounds=rounds,
            machine=machine(),
            starter=hashlib.sha256((starter_folder() / "manifest.json").read_bytes()).hexdigest(),
            curves=curves,
        )
        given.record.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1))


def run_seed(
    folder: Path,
    seed: int,
    rounds: int,
    settings: Sequence[str],
    names: Sequence[str],
    samples: int,
    cooler: Sequence[float],
) -> Curve:
    """Play what is missing of a run, score the checkpoints of these `names`, and read its history. `cooler`:
    temperatures for the base."""
    done = rounds_done(folder)
    if done < rounds:
        tell(f"seed {seed}: rounds {done + 1} to {rounds}")
        more = [part for item in settings for part in ("--set", item)]
        command(folder, "run", "--silo", "--seed", str(seed), "--rounds", str(rounds - done), *more)
    drawn = [("test (sampled)", ["--samples", str(samples)])] if samples else []
    for kind, more in (("test", list[str]()), *drawn):
        scored = {report.checkpoint: report.round for report in evals(folder, kind)}
        if scored.get("last") == rounds:
            continue
        for name in names:
            if name != "base" or name not in scored:  # a shorter run that was prolonged left older scores
                tell(f"seed {seed}: scoring {name}, {kind}")
                command(folder, "eval", "--checkpoint", name, *more)
    for temperature in cooler if samples else ():
        if not evals(folder, cooler_kind(temperature)):
            tell(f"seed {seed}: scoring base at {temperature:g}")
            drawn_so = ["--samples", str(samples), "--temperature", str(temperature)]
            command(folder, "eval", "--checkpoint", "base", *drawn_so)
    return read_curve(folder, seed, rounds)


def cooler_kind(temperature: float) -> str:
    """The name of such scores in the history."""
    return f"test (sampled at {temperature:g})"


def command(folder: Path, name: str, *arguments: str) -> None:
    """Run a command of the product on a data folder, as a user would."""
    line = [sys.executable, "-m", "sapo_desktop", name, *arguments, "--data", str(folder), "--json"]
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)


def rounds_done(folder: Path) -> int:
    """Rounds that a resumed run would not play again: those with a checkpoint."""
    if not (folder / "history.sqlite").is_file():
        return 0
    with closing(History(folder / "history.sqlite")) as history:
        return max((report.round for report in history.last_rounds(1000) if report.checkpoint), default=0)


def evals(folder: Path, which: str) -> list[EvalReport]:
    with closing(History(folder / "history.sqlite")) as history:
        return history.evals(which)


def read_curve(folder: Path, seed: int, rounds: int) -> Curve:
    with closing(History(folder / "history.sqlite")) as history:
        reports = history.rounds(limit=rounds).rounds
        return Curve(
            seed=seed,
            rewards=[round(report.reward, 4) for report in reports],
            seconds=sum(report.seconds - report.evaluate_seconds for report in reports),
            validation=history.evals("validation"),
            test={report.checkpoint: report for report in history.evals("test")},
            sampled={report.checkpoint: report for report in history.evals("test (sampled)")},
            cooler=[report for each in COOLER for report in history.evals(cooler_kind(each))],
        )


Scores = dict[str, EvalReport]
Kind = TypeVar("Kind", Scores, list[Scores])


def mean_gain(scores: Sequence[Scores], name: str = "last", base: EvalReport | None = None) -> Estimate:
    """Mean difference of a checkpoint's rates to the base's, or to another score of it; the interval is over questions,
    each with its mean over seeds."""
    rows = [
        [after - before for after, before in zip(s[name].rates, (base or s["base"]).rates, strict=True)] for s in scores
    ]
    return mean_with_error([sum(column) / len(rows) for column in zip(*rows, strict=True)])


def figures(curves: Sequence[Curve]) -> Iterator[Figure]:
    for curve in curves:
        for kind, scores in _by_kind(curve.test, curve.sampled):
            for name in CHECKPOINTS:
                if name in scores:
                    yield Figure(f"seed {curve.seed}: {name}, solved, {kind}", scores[name].score, "share")
            difference = mean_gain([scores])
            note = f"95% interval {difference.low:+.3f} to {difference.high:+.3f}"
            yield Figure(f"seed {curve.seed}: gain, {kind}", difference.value, "share", note=note)
        yield Figure(f"seed {curve.seed}: seconds a round", curve.seconds / len(curve.rewards), "s")
        yield validation_share(curve)
    sampled = [curve.sampled for curve in curves if curve.sampled]
    for kind, of_all in _by_kind([curve.test for curve in curves], sampled):
        yield _over_all(kind, mean_gain(of_all))
    best = base_at_best(curves)
    if best is not None:
        yield _over_all("sampled, above the base at its best temperature", mean_gain(sampled, base=best))


def _over_all(kind: str, mean: Estimate) -> Figure:
    goal, held = f"+{GOAL} with an interval above 0", mean.value >= GOAL and mean.low > 0
    note = f"95% interval {mean.low:+.3f} to {mean.high:+.3f}"
    return Figure(f"gain over all seeds, {kind}", mean.value, "share", goal, held, note)


def base_at_best(curves: Sequence[Curve]) -> EvalReport | None:
    """The base's drawn answers at the temperature where most are right; None where none were drawn."""
    reports = [report for curve in curves for report in (*curve.cooler, *curve.sampled.values())]
    return max((r for r in reports if r.checkpoint == "base"), key=lambda r: r.score, default=None)


def _by_kind(greedy: Kind, sampled: Kind) -> list[tuple[str, Kind]]:
    """Greedy answers, and drawn ones where there are any: a quick run has none."""
    return [("greedy", greedy), *([("sampled", sampled)] if sampled else [])]


def validation_share(curve: Curve) -> Figure:
    """How much of a run's time went into validation scores."""
    spent = sum(report.seconds for report in curve.validation)
    share = spent / (spent + curve.seconds)
    return at_most(f"seed {curve.seed}: time spent on validation", share, "share", VALIDATION_GOAL)


def machine() -> str:
    return f"{processor()}, {os.cpu_count()} cores"


if __name__ == "__main__":
    main()
