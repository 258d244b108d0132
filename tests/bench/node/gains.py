"""What `tests.bench.node.learning` finds out: its records, and the figures that follow from them."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

import msgspec

from sapo_desktop.core.records import EvalReport
from sapo_desktop.core.statistics import Estimate, mean_with_error
from sapo_desktop.core.task_list import LEVELS
from sapo_desktop.tasks.catalogue import level_of
from tests.bench.figure import Figure, at_most

GOAL = 0.1
MODEL_GOALS = 0.3, 0.25
"""Gains of another model than the starter: greedy, and drawn over the base at its best temperature."""
VALIDATION_GOAL = 0.05
FORM_KNOWN, FORM_GOAL = 0.8, 120.0
"""A share of answers that can be read, and the seconds after which another model than the starter gets there."""
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
    readable: list[float] = []
    """Share of own answers that could be read, per round."""
    each_seconds: list[float] = []
    """Of `seconds`, per round."""


class Learning(msgspec.Struct, frozen=True, kw_only=True):
    """What docs/learning.md is made from."""

    command: str
    rounds: int
    machine: str
    starter: str
    """SHA-256 of the starter's manifest."""
    curves: list[Curve]
    model: str = ""
    """The file's or folder's name where another model than the starter played."""
    minutes: float = 0.0
    """That rounds were played for in place of `rounds`."""


Scores = dict[str, EvalReport]


def mean_gain(scores: Sequence[Scores], name: str = "last", base: EvalReport | None = None) -> Estimate:
    """Mean difference of a checkpoint's rates to the base's, or to another score of it; the interval is over questions,
    each with its mean over seeds."""
    rows = [
        [after - before for after, before in zip(s[name].rates, (base or s["base"]).rates, strict=True)] for s in scores
    ]
    return mean_with_error([sum(column) / len(rows) for column in zip(*rows, strict=True)])


def figures(curves: Sequence[Curve], is_another: bool) -> Iterator[Figure]:
    """`is_another`: whether another model than the starter played, for which other goals hold."""
    for curve in curves:
        yield from scores_of(curve)
        yield Figure(f"seed {curve.seed}: seconds a round", curve.seconds / len(curve.rewards), "s")
        yield from form_of(curve, FORM_GOAL if is_another else None)
        yield validation_share(curve)
    greedy_goal, drawn_goal = MODEL_GOALS if is_another else (GOAL, GOAL)
    tested, sampled = ([one for one in kind if one] for kind in ([c.test for c in curves], [c.sampled for c in curves]))
    if tested:
        yield _over_all("greedy", mean_gain(tested), greedy_goal)
    best = base_at_best(curves)
    if sampled and best is not None:
        yield _over_all("sampled", mean_gain(sampled), drawn_goal)
        yield _over_all("sampled, above the base at its best temperature", mean_gain(sampled, base=best), drawn_goal)


def scores_of(curve: Curve) -> Iterator[Figure]:
    """Held-out scores of one seed, and the gain."""
    for kind, scores in (("greedy", curve.test), ("sampled", curve.sampled)):
        for name in [name for name in CHECKPOINTS if name in scores]:
            report, what = scores[name], f"seed {curve.seed}: {name}"
            yield Figure(f"{what}, solved, {kind}", report.score, "share")
            if kind == "sampled":
                yield Figure(f"{what}, a right one among {report.samples}", report.pass_at_k, "share")
            else:
                for level, score in by_level(report).items():
                    yield Figure(f"{what}, solved, {kind}, {level}", score, "share")
        if {"base", "last"} <= set(scores):
            difference = mean_gain([scores])
            note = f"95% interval {difference.low:+.3f} to {difference.high:+.3f}"
            yield Figure(f"seed {curve.seed}: gain, {kind}", difference.value, "share", note=note)


def by_level(report: EvalReport) -> dict[str, float]:
    """Share solved of all questions of each level."""
    found = {}
    for level in LEVELS:
        marks = [mark for mark in report.tasks if level_of(mark.task) == level]
        if marks:
            found[level] = sum(mark.solved * mark.answers for mark in marks) / sum(mark.answers for mark in marks)
    return found


def form_of(curve: Curve, goal: float | None) -> Iterator[Figure]:
    """How soon drawn answers have the form that can be read."""
    newest = curve.readable[-10:]
    yield Figure(f"seed {curve.seed}: readable, first round", curve.readable[0], "share")
    yield Figure(f"seed {curve.seed}: readable, last rounds", sum(newest) / len(newest), "share")
    soon = until_readable(curve)
    if soon is not None:
        yield at_most(f"seed {curve.seed}: until {FORM_KNOWN:.0%} can be read", soon, "s", goal)


def until_readable(curve: Curve) -> float | None:
    """Seconds until a round in which `FORM_KNOWN` of the drawn answers could be read; None if there was none."""
    after = accumulate(curve.each_seconds)
    shares = zip(after, curve.readable, strict=True)
    return next((seconds for seconds, share in shares if share >= FORM_KNOWN), None)


def _over_all(kind: str, mean: Estimate, goal: float) -> Figure:
    words, held = f"+{goal} with an interval above 0", mean.value >= goal and mean.low > 0
    note = f"95% interval {mean.low:+.3f} to {mean.high:+.3f}"
    return Figure(f"gain over all seeds, {kind}", mean.value, "share", words, held, note)


def base_at_best(curves: Sequence[Curve]) -> EvalReport | None:
    """The base's drawn answers at the temperature where most are right; None where none were drawn."""
    reports = [report for curve in curves for report in (*curve.cooler, *curve.sampled.values())]
    return max((r for r in reports if r.checkpoint == "base"), key=lambda r: r.score, default=None)


def validation_share(curve: Curve) -> Figure:
    """How much of a run's time went into validation scores."""
    spent = sum(report.seconds for report in curve.validation)
    share = spent / (spent + curve.seconds)
    return at_most(f"seed {curve.seed}: time spent on validation", share, "share", VALIDATION_GOAL)
