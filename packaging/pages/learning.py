"""The page docs/learning.md: the silo runs of `tests.bench.node.learning`, and what the lab's nodes came to."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
from pages.parts import DATA, WRITTEN, mean, pyplot, table, wrapped

from sapo_desktop.core.records import EvalReport
from sapo_desktop.core.settings import Settings
from sapo_desktop.lab.table import Run, read_runs, t_interval
from sapo_desktop.lab.table import table as lab_table
from tests.bench.node.learning import (
    GOAL,
    SAMPLES,
    VALIDATION_GOAL,
    Curve,
    Learning,
    base_at_best,
    mean_gain,
    validation_share,
)

SMOOTH = 20
HOUR_EXPECTED = [
    ("greedy .38 to .44", 0.38, 0.44),
    ("drawn .02 below that", 0.015, 0.025),
    ("hard .05 to .09", 0.05, 0.09),
    ("no seed below its own 240 rounds: greedy, more than then", 0.0, 1.0),
]
"""Of an hour alone: words, and the bounds for each seed."""
REACHED = 0.3
"""A validation score that every run passes while it rises."""
RARE_ROUNDS, RARE_REACHED = 25, 0.1
"""Where a success is rare: what all arms have played, and such a score."""
FORMER_RATE = "--set learning_rate=0.002 --set learning_rate_decay=150"
"""What was the default when the runs beside learning.json were played."""


def recorded_learning(name: str) -> Learning:
    """What `tests.bench.node.learning --record` wrote."""
    return msgspec.json.decode((DATA / name).read_bytes(), type=Learning)


def learning_page(learning: Learning, slower: Learning, larger: Learning, longer: Learning) -> str:
    """Tables and plot of the silo runs.

    `slower`: the same at the learning rate that was the default before; `larger`: at that rate in larger steps;
    `longer`: the same for an hour.
    """
    questions = learning.curves[0].test["base"].questions
    scoring = mean([validation_share(curve).value for curve in learning.curves])
    minutes = [curve.seconds / 60 for curve in learning.curves]
    base, last = (mean([curve.test[name].score for curve in learning.curves]) for name in ("base", "last"))
    return "\n".join(
        [
            WRITTEN,
            "# What a node learns",
            "",
            wrapped(
                f"Alone, the starter learns to solve {last:.1%} of {questions:,} held-out test questions instead of "
                f"{base:.1%} (greedy, mean of {len(learning.curves)} seeds). It was frozen before (manifest SHA-256 "
                f"`{learning.starter[:16]}…`) and played {learning.rounds} rounds in silo with default settings, but "
                f"without giving way to other programs, on {learning.machine}. A score is the share "
                "of questions that was solved."
            ),
            "",
            f"    {learning.command} --out .cache/learning --record docs/data/learning.json",
            "",
            "## The likeliest answer",
            "",
            wrapped(
                "The model gives one greedy answer to each question. The best checkpoint on validation is chosen "
                "whenever all of its questions were asked anew, which is seldom, so that the last one may be better."
            ),
            "",
            *gain_lines(learning, [curve.test for curve in learning.curves]),
            "",
            "## Answers drawn as in training",
            "",
            f"The model gives {SAMPLES} answers to each question at temperature 1, which the paper's reward measures.",
            "",
            *gain_lines(learning, [curve.sampled for curve in learning.curves]),
            "",
            "## Skill or sharpening",
            "",
            *sharpening_lines(learning),
            "",
            "## By level",
            "",
            *level_lines(learning),
            "",
            "## A higher learning rate",
            "",
            *rate_lines(learning, slower),
            "",
            "## Smaller steps",
            "",
            *step_lines(slower, larger),
            "",
            "## An hour",
            "",
            *longer_lines(learning, longer),
            "",
            "## With others, and which questions",
            "",
            *lab_lines(),
            "",
            "## On the way",
            "",
            wrapped(
                f"A run took {min(minutes):.1f} to {max(minutes):.1f} minutes, one after the other on two cores shared "
                f"with other work. The held-out questions behind Home's line took {scoring:.1%} of that (the goal: "
                f"{VALIDATION_GOAL:.0%}). In the first 100 rounds the line is made from what was asked by then, 32 "
                "questions more every twelve rounds."
            ),
            "",
            "![Reward and validation score by round](learning.svg)",
            "",
        ]
    )


def gain_lines(learning: Learning, scores: Sequence[dict[str, EvalReport]]) -> list[str]:
    """Scores and gains of every seed, and the gain over all."""
    rows = []
    for curve, of_seed in zip(learning.curves, scores, strict=True):
        difference = mean_gain([of_seed])
        rows.append(
            [
                str(curve.seed),
                f"{of_seed['base'].score:.3f}",
                f"{of_seed['last'].score:.3f}",
                f"{of_seed['best'].score:.3f} (round {of_seed['best'].round})",
                f"{difference.value:+.3f} ({difference.low:+.3f} to {difference.high:+.3f})",
            ]
        )
    total = mean_gain(scores)
    held = "held" if total.value >= GOAL and total.low > 0 else "missed"
    return [
        table(["seed", "base", "last", "best on validation", "gain of the last (95% interval)"], rows),
        "",
        wrapped(
            f"Mean gain over the seeds: **{total.value:+.3f}**, 95% interval {total.low:+.3f} to {total.high:+.3f} "
            f"(over questions, each with its mean over the seeds). The goal was +{GOAL} with an interval above 0: "
            f"{held}."
        ),
    ]


def sharpening_lines(learning: Learning) -> list[str]:
    """Drawn answers of the base at other temperatures, and how often one of several is right, beside the last ones."""
    base = learning.curves[0].sampled["base"]
    rows = [
        [f"base, temperature {report.temperature or 1:g}", f"{report.score:.3f}", f"{report.pass_at_k:.3f}"]
        for report in (*learning.curves[0].cooler, base)
    ]
    for curve in learning.curves:
        last = curve.sampled["last"]
        rows.append([f"last of seed {curve.seed}, temperature 1", f"{last.score:.3f}", f"{last.pass_at_k:.3f}"])
    best = base_at_best(learning.curves)
    assert best is not None, "recorded runs have drawn answers"
    gain = mean_gain([curve.sampled for curve in learning.curves], base=best)
    return [
        table(["answers", "solved", f"a right one among {SAMPLES}"], rows),
        "",
        f"The gain over the base at its best temperature: **{gain.value:+.3f}**, 95% interval {gain.low:+.3f} to "
        f"{gain.high:+.3f}.",
    ]


def level_lines(learning: Learning) -> list[str]:
    """Greedy answers, a level being the mean of its families."""
    base = learning.curves[0].test["base"]
    levels = list(dict.fromkeys(mark.task.partition("/")[2] for mark in base.tasks))
    rows = [
        [
            level,
            f"{level_mean(base, level):.3f}",
            *(f"{level_mean(curve.test['last'], level):.3f}" for curve in learning.curves),
        ]
        for level in levels
    ]
    return [table(["level", "base", *(f"last of seed {curve.seed}" for curve in learning.curves)], rows)]


def longer_lines(learning: Learning, longer: Learning) -> list[str]:
    """What an hour brought to the same seeds, beside what was expected of it."""
    rows = []
    for short, long in zip(learning.curves, longer.curves, strict=True):
        for rounds, curve in ((learning.rounds, short), (longer.rounds, long)):
            greedy, drawn = curve.test["last"], curve.sampled["last"]
            levels = [f"{level_mean(greedy, level):.3f}" for level in ("easy", "middle", "hard")]
            row = [str(curve.seed), str(rounds), f"{greedy.score:.3f}", f"{drawn.score:.3f}", f"{drawn.pass_at_k:.3f}"]
            rows.append([*row, *levels])
    minutes = mean([curve.seconds / 60 for curve in longer.curves])
    best = base_at_best(longer.curves)
    assert best is not None, "recorded runs have drawn answers"
    gains = [
        ("greedy", mean_gain([curve.test for curve in longer.curves])),
        ("drawn, over the base at its best temperature", mean_gain([c.sampled for c in longer.curves], base=best)),
    ]
    return [
        f"    {longer.command} --out .cache/hour --record docs/data/learning_hour.json",
        "",
        table(["seed", "rounds", "greedy", "drawn", f"a right one among {SAMPLES}", "easy", "middle", "hard"], rows),
        "",
        table(["expected before the run", "came", ""], _hour_beside_what_was_expected(learning, longer)),
        "",
        wrapped(
            f"A run of {longer.rounds:,} rounds took {minutes:.0f} minutes, three at a time on two cores with other "
            "work; at the pace of the runs above it is an hour. Gain over the base, 95% intervals over questions: "
            + "; ".join(f"{name} **{gain.value:+.3f}** ({gain.low:+.3f} to {gain.high:+.3f})" for name, gain in gains)
            + f". The goal for an hour was +{GOAL} of both."
        ),
    ]


def _hour_beside_what_was_expected(learning: Learning, longer: Learning) -> list[list[str]]:
    """HOUR_EXPECTED was written down before a round of them was played."""
    greedy = [curve.test["last"].score for curve in longer.curves]
    below = [g - curve.sampled["last"].score for g, curve in zip(greedy, longer.curves, strict=True)]
    hard = [level_mean(curve.test["last"], "hard") for curve in longer.curves]
    more = [g - curve.test["last"].score for g, curve in zip(greedy, learning.curves, strict=True)]
    rows = []
    for (words, low, high), values in zip(HOUR_EXPECTED, (greedy, below, hard, more), strict=True):
        held = all(low <= value <= high for value in values)
        rows.append([words, ", ".join(f"{value:.3f}" for value in values), "held" if held else "**missed**"])
    return rows


def rate_lines(learning: Learning, slower: Learning) -> list[str]:
    """What the higher rate brings at first, and where both end."""
    rows, ratios, ends = [], [], []
    for one, other in zip(learning.curves, slower.curves, strict=True):
        early, later = mean(one.rewards[:SMOOTH]), mean(other.rewards[:SMOOTH])
        last, others = one.test["last"].score, other.test["last"].score
        ratios.append(early / later)
        ends.append(last - others)
        rows.append([str(one.seed), f"{early:.3f}", f"{later:.3f}", f"{last:.3f}", f"{others:.3f}"])
    times, apart = t_interval(ratios), t_interval(ends)
    assert times is not None and apart is not None, "there are several seeds"
    names = ("at .004", "at .002")
    heads = [
        *(f"reward, first {SMOOTH} rounds, {name}" for name in names),
        *(f"test at the end, {name}" for name in names),
    ]
    return [
        wrapped(
            "The learning rate is .004 at first, and half after 50 steps. The default before was .002, half after 150. "
            "Three rates beside one another, in the lab: [lab.md](lab.md#measured-so-far)."
        ),
        "",
        f"    {slower.command} {FORMER_RATE} --out .cache/slower --record docs/data/learning_slower.json",
        "",
        table(["seed", *heads], rows),
        "",
        wrapped(
            f"In the first {SMOOTH} rounds the higher rate earns "
            f"{with_interval(mean(ratios), times.low, times.high)} times as much (95% interval over seeds). At the end "
            f"it stands {mean(ends):+.3f} ({apart.low:+.3f} to {apart.high:+.3f}) beside the lower one."
        ),
    ]


def step_lines(small: Learning, larger: Learning) -> list[str]:
    """How many groups were answered until the validation score stood at REACHED, and where both end."""
    rows, ratios, ends = [], [], []
    for one, other in zip(small.curves, larger.curves, strict=True):
        few, many = reached(one) * step_size(small), reached(other) * step_size(larger)
        last, others = one.test["last"].score, other.test["last"].score
        ratios.append(many / few)
        ends.append(last - others)
        rows.append([str(one.seed), f"{few:,.0f}", f"{many:,.0f}", f"{many / few:.2f}", f"{last:.3f}", f"{others:.3f}"])
    times, apart = t_interval(ratios), t_interval(ends)
    assert times is not None and apart is not None, "there are several seeds"
    steps = (step_size(small), step_size(larger))
    heads = [f"groups until {REACHED}, steps of {size}" for size in steps]
    tests = [f"test at the end, steps of {size}" for size in steps]
    return [
        wrapped(
            f"The default is steps of {steps[0]} groups, as in SAPO. The default before was {steps[1]}, found with a "
            "starter that had less to learn. Both answer the same number of questions in all, at a learning rate of "
            ".002. The validation score is that of the newest answers to all questions, some of which lag by 80 rounds."
        ),
        "",
        f"    {larger.command} {FORMER_RATE} --out .cache/larger --record docs/data/learning_steps_of_32.json",
        "",
        table(["seed", *heads, "times as many", *tests], rows),
        "",
        wrapped(
            f"Large steps need {mean(ratios):.2f} times as many groups (95% interval over seeds {times.low:.2f} to "
            f"{times.high:.2f}). At the end the small steps stand {mean(ends):+.3f} ({apart.low:+.3f} to "
            f"{apart.high:+.3f}) beside the large ones."
        ),
    ]


def lab_lines() -> list[str]:
    """What the lab's nodes came to by sharing and by choosing questions, and what is the default for it."""
    runs = {name: read_runs(DATA / "lab" / name) for name in ("eight", "choice")}
    by_cpu, by_samples, by_rounds = (
        {line.mix: line for line in lab_table(runs["eight"], at, reach=REACHED) if line.weighting in ("", "guarded")}
        for at in ("cpu", "samples", "rounds")
    )
    silo = by_cpu["8/0"]
    ends = {
        mix: mean([end for run in runs["eight"] if _guarded(run, mix) and (end := run.held_out("greedy")) is not None])
        for mix in by_cpu
    }
    rows = [
        [
            mix,
            with_interval(by_cpu[mix].sooner, by_cpu[mix].sooner_low, by_cpu[mix].sooner_high),
            *(with_interval(line.ratio, line.ratio_low, line.ratio_high) for line in (by_samples[mix], by_rounds[mix])),
            f"{ends[mix]:.3f}",
        ]
        for mix in ("8/0", "4/4", "2/6")
    ]
    chosen, alike = (
        next(line for line in lab_table(runs["choice"], "cpu", reach=REACHED) if line.settings["curriculum"] == value)
        for value in ("on", "off")
    )
    assert silo.greedy_first is not None and chosen.reached is not None and alike.reached is not None
    heads = ["mix", f"{REACHED} greedy, times as soon in CPU-seconds", "reward, equal samples", "equal rounds", "end"]
    return [
        wrapped(
            f"Eight nodes of the lab, {silo.seeds} seeds, from {silo.greedy_first:.3f} greedy. Beside 8/0, a node "
            "alone: times as much, with 95% intervals over seeds. The commands, what was expected, and every other "
            "arm: [lab.md](lab.md)."
        ),
        "",
        table(heads, rows),
        "",
        wrapped(
            "The default is 4/4. A round then brings what a node's own would, for less computing, since others' "
            "answers are not generated again. 2/6 rises soonest, but a round brings less and the end is lower: "
            "others' answers fit a model less than its own do. No mix ends above a node alone. We think so because "
            "the starter stops at what it was primed with, which each node finds by itself within minutes; neither "
            "more room nor a smaller learning rate nor others' successes at hard questions lifted that. The paper's "
            "gain, 1.94 times in equal rounds, did not come."
        ),
        "",
        weaker_line(),
        "",
        rare_line(),
        "",
        wrapped(
            f"Of the groups in a step {chosen.informative:.0%} teach where questions are chosen, "
            f"{alike.informative:.0%} where they are drawn alike. {REACHED} is reached after {chosen.reached:.0f} and "
            f"{alike.reached:.0f} CPU-seconds: what is learned first is learned from any question. The choice is the "
            "default all the same: a score comes no later by it, and fewer answers are wasted."
        ),
    ]


def weaker_line() -> str:
    """What a smaller model gains by sharing: beside starters in equal computing, among its own in equal rounds."""
    smaller = [run.of("smaller") for run in read_runs(DATA / "lab" / "kinds")]
    line = next(line for line in lab_table(smaller, "cpu") if line.mix == "4/4")
    gain = with_interval(line.greedy_more, line.greedy_more_low, line.greedy_more_high, "+.3f")
    among = next(line for line in lab_table(read_runs(DATA / "lab" / "smaller"), "rounds") if line.mix == "4/4")

    def own(field: str) -> str:
        more = (getattr(among, f"{field}_more{end}") for end in ("", "_low", "_high"))
        return with_interval(*more, form="+.3f")

    return wrapped(
        f"A smaller model beside as many starters does end higher, over {line.seeds} seeds: {line.greedy:.3f} greedy "
        f"with 4/4, {line.greedy_against:.3f} alone in the same computing, {gain}. Among its own it does, too: in "
        f"equal rounds {own('greedy')} greedy and {own('sampled')} drawn."
    )


def rare_line() -> str:
    """What sharing brings on questions that a node alone hardly ever solves."""
    runs = [run.until("rounds", RARE_ROUNDS) for run in read_runs(DATA / "lab" / "rarer")]
    rounds = {line.mix: line for line in lab_table(runs, "rounds")}
    by_cpu = {line.mix: line for line in lab_table(runs, "cpu", reach=RARE_REACHED)}
    line, cheap = rounds["4/4"], by_cpu["2/6"]
    return wrapped(
        f"Where a success is rare (two families of which the starter solves {line.sampled_first:.0%}, at a quarter of "
        f"the learning rate), sharing pays as long as it rises: over {line.seeds} seeds 4/4 earns "
        f"{with_interval(line.ratio, line.ratio_low, line.ratio_high)} times a silo's reward in {RARE_ROUNDS} rounds. "
        f"2/6 earns {with_interval(cheap.ratio, cheap.ratio_low, cheap.ratio_high)} times in equal CPU-seconds, and is "
        f"{with_interval(cheap.sooner, cheap.sooner_low, cheap.sooner_high)} times as soon at {RARE_REACHED} greedy. A "
        "silo comes there too, two or three rounds later."
    )


def _guarded(run: Run, mix: str) -> bool:
    return run.arm.mix == mix and run.arm.weighting in ("", "guarded")


def with_interval(value: float | None, low: float | None, high: float | None, form: str = ".2f") -> str:
    """None: not known."""
    if value is None or low is None or high is None:
        return ""
    return f"{value:{form}}" + (f" ({low:{form}} to {high:{form}})" if low < high else "")


def reached(curve: Curve) -> float:
    """The round at which the validation score was REACHED for the first time, on the line between two scores."""
    scores = sorted({report.round: report.score for report in curve.validation}.items())
    for (before, low), (after, high) in itertools.pairwise(scores):
        if high >= REACHED:
            return before + (REACHED - low) / (high - low) * (after - before)
    raise SystemExit(f"Seed {curve.seed} never came to {REACHED}.")


def step_size(learning: Learning) -> int:
    """Groups in a step."""
    named = re.search(r"questions=([0-9]+)", learning.command)
    return int(named[1]) if named else Settings().questions


def level_mean(report: EvalReport, level: str) -> float:
    return mean([mark.solved for mark in report.tasks if mark.task.endswith(f"/{level}")])


def plot_learning(learning: Learning, path: Path) -> None:
    """Smoothed training reward and validation score of every seed."""
    colours = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")  # Okabe and Ito: told apart by everyone
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
