"""The page docs/learning.md: its text (learning.md) with the results of the silo runs of
`tests.bench.node.learning`."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import msgspec
from pages.parts import DATA, filled, mean, pyplot, table, wrapped

from sapo_desktop.core.records import EvalReport
from sapo_desktop.core.statistics import Estimate
from tests.bench.node.gains import (
    GOAL,
    VALIDATION_GOAL,
    Learning,
    base_at_best,
    mean_gain,
    until_readable,
    validation_share,
)
from tests.bench.node.learning import SAMPLES

SMOOTH = 20
HOUR_EXPECTED = [
    ("greedy .38 to .44", 0.38, 0.44),
    ("drawn .02 below that", 0.015, 0.025),
    ("hard .05 to .09", 0.05, 0.09),
    ("greedy not below its own 240 rounds", 0.0, 1.0),
]
"""Of an hour alone, written down before a round of it was played: words, and the bounds for each seed."""
KINDS = ("greedy", "drawn, over the base at its best temperature")
LEVELS = ("easy", "middle", "hard")
REFERENCE_GOAL = 0.4
REFERENCE_HOUR_EXPECTED = 0.36, 0.5
"""Of each seed after an hour, written down before a round of it was played."""


def recorded_learning(name: str) -> Learning:
    """What `tests.bench.node.learning --record` wrote."""
    return msgspec.json.decode((DATA / name).read_bytes(), type=Learning)


def learning_page(learning: Learning, longer: Learning, reference: Learning, reference_hour: Learning) -> str:
    """The whole page. `longer`: the same for an hour; `reference`: a real language model for some minutes, and for an
    hour."""
    first = learning.curves[0]
    base = first.test["base"]
    drawn = [*first.cooler, first.sampled["base"]]
    minutes = [curve.seconds / 60 for curve in learning.curves]
    gains = [gains_of(learning), gains_of(longer)]
    return filled(
        "learning.md",
        last=mean(greedy(learning)),
        questions=base.questions,
        base=base.score,
        starter=learning.starter[:16],
        rounds=learning.rounds,
        machine=learning.machine,
        command=learning.command,
        scores=score_table(learning, longer),
        seeds=len(learning.curves),
        samples=SAMPLES,
        gains="\n".join(
            wrapped(f"- {kind}: {in_words(short)}, after {longer.rounds:,} rounds {in_words(long)}", indent="  ")
            for kind, short, long in zip(KINDS, *gains, strict=True)
        ),
        goal=GOAL,
        held=said(all(gain.value >= GOAL and gain.low > 0 for gain in itertools.chain(*gains))),
        shortest=min(minutes),
        longest=max(minutes),
        scoring=mean([validation_share(curve).value for curve in learning.curves]),
        scoring_goal=VALIDATION_GOAL,
        temperatures=", ".join(f"{report.temperature or 1:g}" for report in drawn),
        cooler=", ".join(f"{report.score:.3f}" for report in drawn),
        hour_command=longer.command,
        hour_rounds=longer.rounds,
        hour_minutes=mean([curve.seconds / 60 for curve in longer.curves]),
        hour_expected=against_expectation(learning, longer),
        **of_reference(reference),
        **of_reference_hour(reference_hour),
    )


def of_reference(runs: Learning) -> dict[str, Any]:
    """The text of its section."""
    base = runs.curves[0].test["base"]
    gain = mean_gain([curve.test for curve in runs.curves])
    rounds = [len(curve.rewards) for curve in runs.curves]
    soon = sorted(seconds for curve in runs.curves if (seconds := until_readable(curve)) is not None)
    return {
        "reference_command": runs.command,
        "reference_base": ", ".join(f"{score:.1%}" for score in greedy(runs, "base")),
        "reference_questions": base.questions,
        "reference_minutes": runs.minutes,
        "reference_rounds": f"{min(rounds)} to {max(rounds)}",
        "reference_last": ", ".join(f"{score:.1%}" for score in greedy(runs)),
        "reference_gain": in_words(gain),
        "reference_held": said(gain.value >= REFERENCE_GOAL),
        "reference_read": mean([curve.readable[0] for curve in runs.curves]),
        "reference_soon": f"{soon[0]:.0f} to {soon[-1]:.0f}",
    }


def of_reference_hour(runs: Learning) -> dict[str, Any]:
    """The text of its section."""
    rounds = [len(curve.rewards) for curve in runs.curves]
    low, high = REFERENCE_HOUR_EXPECTED
    return {
        "reference_hour_minutes": runs.minutes,
        "reference_hour_rounds": f"{min(rounds)} to {max(rounds)}",
        "reference_hour_last": ", ".join(f"{score:.1%}" for score in greedy(runs)),
        "reference_hour_gain": in_words(mean_gain([curve.test for curve in runs.curves])),
        "reference_hour_expected": f"{low:.0%} to {high:.0%}",
        "reference_hour_held": said(all(low <= score <= high for score in greedy(runs))),
        "reference_hour_families": ", ".join(most_gained(runs)),
    }


def most_gained(runs: Learning, count: int = 4) -> list[str]:
    """The tasks with the largest gains, mean over the seeds: `letter_counting 50% to 90%`."""
    base, last = (solved_by_task(runs, name) for name in ("base", "last"))
    best = sorted(base, key=lambda task: base[task] - last[task])[:count]
    return [f"{task.partition('/')[0]} {base[task]:.0%} to {last[task]:.0%}" for task in best]


def solved_by_task(runs: Learning, checkpoint: str) -> dict[str, float]:
    """Mean over the seeds."""
    found: dict[str, list[float]] = {}
    for curve in runs.curves:
        for mark in curve.test[checkpoint].tasks:
            found.setdefault(mark.task, []).append(mark.solved)
    return {task: mean(shares) for task, shares in found.items()}


def greedy(runs: Learning, checkpoint: str = "last") -> list[float]:
    """The last score of each seed."""
    return [curve.test[checkpoint].score for curve in runs.curves]


def apart(runs: Learning, others: Learning) -> list[float]:
    """How much higher each seed ended greedy."""
    return [one - other for one, other in zip(greedy(runs), greedy(others), strict=True)]


def in_words(gain: Estimate) -> str:
    return f"{gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"


def said(held: bool) -> str:
    return "held" if held else "**missed**"


def gains_of(runs: Learning) -> list[Estimate]:
    """Over the base, for each of KINDS."""
    best = base_at_best(runs.curves)
    assert best is not None, "recorded runs have drawn answers"
    return [
        mean_gain([curve.test for curve in runs.curves]),
        mean_gain([curve.sampled for curve in runs.curves], base=best),
    ]


def score_table(learning: Learning, longer: Learning) -> str:
    """What the seeds solve on average: before, after each length of run."""
    runs = [(learning, "base"), (learning, "last"), (longer, "last")]
    names = ["greedy", "drawn", f"a right one among {SAMPLES}", *LEVELS]
    heads = ["", "base", f"{learning.rounds} rounds", f"{longer.rounds:,} rounds"]
    return table(heads, list(zip(names, *(column(*one) for one in runs), strict=True)))


def column(runs: Learning, name: str) -> list[str]:
    """For the checkpoints of this name."""
    rows = []
    for curve in runs.curves:
        test, drawn = curve.test[name], curve.sampled[name]
        rows.append([test.score, drawn.score, drawn.pass_at_k, *(level_mean(test, level) for level in LEVELS)])
    return [f"{mean(values):.3f}" for values in zip(*rows, strict=True)]


def against_expectation(learning: Learning, longer: Learning) -> str:
    """What was expected of an hour, and whether each seed met it."""
    ends = greedy(longer)
    below = [end - curve.sampled["last"].score for end, curve in zip(ends, longer.curves, strict=True)]
    hard = [level_mean(curve.test["last"], "hard") for curve in longer.curves]
    came = zip(HOUR_EXPECTED, (ends, below, hard, apart(longer, learning)), strict=True)
    return ", ".join(
        f"{words} ({said(all(low <= value <= high for value in values))})" for (words, low, high), values in came
    )


def level_mean(report: EvalReport, level: str) -> float:
    return mean([mark.solved for mark in report.tasks if mark.task.endswith(f"/{level}")])


def plot_learning(learning: Learning, path: Path) -> None:
    """Smoothed training reward and validation score of every seed."""
    colours = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")  # Okabe and Ito: everyone can distinguish them
    figure, axes = pyplot().subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for curve, colour in zip(learning.curves, colours, strict=False):
        smooth = [mean(curve.rewards[max(0, n - SMOOTH) : n]) for n in range(1, len(curve.rewards) + 1)]
        axes[0].plot(range(1, len(smooth) + 1), smooth, color=colour, label=f"seed {curve.seed}")
        scores = sorted({report.round: report for report in curve.validation}.values(), key=lambda r: r.round)
        axes[1].plot([r.round for r in scores], [r.score for r in scores], color=colour, marker=".")
    axes[0].set(title=f"training reward, mean of {SMOOTH} rounds", xlabel="round")
    axes[1].set(title="validation, share solved (greedy)", xlabel="round")
    axes[0].legend(frameon=False)
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.grid(alpha=0.25)
    figure.savefig(path, metadata={"Date": None})
