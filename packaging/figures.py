"""Writes the pages of docs/ that hold figures, from what the scripts in tests/bench and tests/attack recorded.

    python packaging/figures.py          reads docs/data/, writes figures.md, speed.md, fit.md, learning.md and .svg
    python packaging/figures.py --measure first_answer kills ...    runs these scripts first, keeps what they print
    python packaging/figures.py --measure strangers --options "--wscat wscat"

No figure is typed by hand. A goal that was missed is shown as missed.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import re
import shlex
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from fit_page import fit_page  # noqa: E402

from sapo_desktop.core.records import EvalReport  # noqa: E402
from sapo_desktop.core.settings import Settings  # noqa: E402
from sapo_desktop.lab.table import Run, read_runs, t_interval  # noqa: E402
from sapo_desktop.lab.table import table as lab_table  # noqa: E402
from tests.bench.figure import Figure  # noqa: E402
from tests.bench.node.learning import (  # noqa: E402
    GOAL,
    SAMPLES,
    VALIDATION_GOAL,
    Curve,
    Learning,
    base_at_best,
    machine,
    mean_gain,
    validation_share,
)

DATA = ROOT / "docs" / "data"
WRITTEN = "<!-- Written by packaging/figures.py; do not edit. -->\n"
SMOOTH = 20
REACHED = 0.3
"""A validation score that every run passes while it rises."""
NOISY = """This page lists what was measured, by script. A goal is held unless the table says "missed".
In brackets is a 95% interval, or the range of several tries. Machines are shared and noisy: trust ratios within one run
more than times. Unless a section says otherwise, the machine was {usual}. `docs/data/` has everything that was
recorded: figures without a goal, dates, notes and profiles."""
INTERVAL = re.compile(r"95% interval (.+ to [^;]+)|^([\d.]+ to [\d.]+) in \d+")
"""What of a figure's note is shown."""
PLOTTED = {"growth": "CPU seconds by what grows, both axes logarithmic"}
LARGEST_ALONE = {"tasks", "cheapest"}
OF_SPEED = (
    "round",
    "round_large",
    "overlapped",
    "overlap",
    "train",
    "precision",
    "generate",
    "generate_large",
    "session",
    "imports",
    "growth",
    "growth_memory",
)
"""On docs/speed.md, in this order."""
ON_PAGES_OF_THEIR_OWN = {"memory", *OF_SPEED}  # fit.md, speed.md
SPEED_PAGE = Path(__file__).with_name("speed_page.md")

SCRIPTS = {
    "first_answer": "tests.bench.node.first_answer",
    "busy": "tests.bench.node.busy",
    "asking": "tests.bench.node.asking",
    "guest": "tests.bench.node.guest",
    "generate": "tests.bench.engines.generate",
    "generate_large": "tests.bench.engines.generate",  # with --options "--models 0.5B"
    "generate_profile": "tests.bench.engines.generate_profile",
    "train": "tests.bench.engines.train",
    "precision": "tests.bench.engines.precision",
    "memory": "tests.bench.engines.memory",
    "session": "tests.bench.node.session",
    "tasks": "tests.bench.tasks.speed",
    "cheapest": "tests.bench.tasks.cheapest",
    "guard": "tests.bench.swarm.guard",
    "kills": "tests.attack.node.kills",
    "faults": "tests.attack.node.faults",
    "power": "tests.attack.node.power",
    "hours": "tests.attack.node.hours",
    "lines": "tests.attack.sockets.lines",
    "flood": "tests.attack.peers.flood",
    "backbone": "tests.attack.peers.backbone",
    "frames": "tests.attack.sockets.frames",
    "claims": "tests.attack.peers.claims",
    "escape": "tests.attack.node.escape",
    "swarm": "tests.attack.peers.swarm",
    "strangers": "tests.attack.sockets.strangers",
    "foreign": "tests.attack.peers.foreign",
    "autobahn": "tests.attack.sockets.autobahn",
    "fuzz": "tests.attack.fuzz",
    "scenarios": "tests.attack.peers.scenarios",
    "planted": "tests.attack.peers.planted",
    "many_relays": "tests.attack.peers.many_relays",
    "load": "tests.attack.peers.load",
    "bandwidth": "tests.bench.swarm.bandwidth",
    "two_kinds": "tests.bench.swarm.two_kinds",
    "together": "tests.bench.swarm.together",
    "round": "tests.bench.engines.round",
    "round_large": "tests.bench.engines.round",  # with --options "--models 0.5B --rounds 2"
    "growth": "tests.bench.engines.growth",
    "growth_memory": "tests.bench.engines.growth",
    "overlap": "tests.bench.engines.overlap",
    "overlapped": "tests.bench.node.overlapped",
    "imports": "tests.bench.engines.imports",
    "pace": "tests.bench.engines.pace",
    "window": "tests.bench.window.cost",
    "window_profile": "tests.bench.window.profile",
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the pages of docs/ that hold figures.")
    parser.add_argument("--measure", nargs="+", choices=SCRIPTS, default=[], help="run these scripts first")
    parser.add_argument("--options", default="", help="more words for these scripts, in one string")
    given = parser.parse_args()
    for name in given.measure:
        measure(name, shlex.split(given.options))
    if (DATA / "learning.json").is_file():
        names = ("learning.json", "learning_steps_of_32.json", "learning_hour.json")
        learning, larger, longer = map(recorded_learning, names)
        (ROOT / "docs" / "learning.md").write_text(learning_page(learning, larger, longer), encoding="utf-8")
        plot_learning(learning, ROOT / "docs" / "learning.svg")
    if (DATA / "memory.jsonl").is_file():
        made, measured = recorded(DATA / "memory.jsonl")
        page = WRITTEN + "\n" + fit_page(made, measured, table)
        (ROOT / "docs" / "fit.md").write_text(page, encoding="utf-8")
    (ROOT / "docs" / "figures.md").write_text(figures_page(sorted(DATA.glob("*.jsonl"))), encoding="utf-8")
    if (DATA / "growth.jsonl").is_file():
        plot_growth(recorded(DATA / "growth.jsonl")[1], ROOT / "docs" / "growth.svg")
    (ROOT / "docs" / "speed.md").write_text(speed_page(), encoding="utf-8")


def measure(name: str, options: Sequence[str]) -> None:
    """Run a script and keep its figures with the conditions they were measured under."""
    command = [sys.executable, "-m", SCRIPTS[name], *options, "--json"]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=ROOT).stdout
    head = {
        "title": name.replace("_", " ").capitalize(),
        "command": shlex.join(["python", "-m", SCRIPTS[name], *options]),
        "machine": machine(),
        "date": datetime.date.today().isoformat(),
    }
    DATA.mkdir(exist_ok=True)
    (DATA / f"{name}.jsonl").write_bytes(msgspec.json.encode(head) + b"\n" + printed)


def recorded_learning(name: str) -> Learning:
    """What `tests.bench.node.learning --record` wrote."""
    return msgspec.json.decode((DATA / name).read_bytes(), type=Learning)


def learning_page(learning: Learning, larger: Learning, longer: Learning) -> str:
    """Tables and plot of the silo runs. `larger`: the same with larger steps; `longer`: some of those, prolonged."""
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
            "The model gives one greedy answer to each question.",
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
            "## Smaller steps",
            "",
            *step_lines(learning, larger),
            "",
            "## Prolonged",
            "",
            *longer_lines(larger, longer),
            "",
            "## With others, and which questions",
            "",
            *lab_lines(),
            "",
            "## On the way",
            "",
            wrapped(
                f"A run took {min(minutes):.0f} to {max(minutes):.0f} minutes, on cores shared with other work. The "
                f"held-out questions behind Home's line took {scoring:.1%} of that (the goal: {VALIDATION_GOAL:.0%})."
            ),
            "",
            "![Reward and validation score by round](learning.svg)",
            "",
        ]
    )


def wrapped(paragraph: str) -> str:
    return textwrap.fill(paragraph, 120, break_long_words=False, break_on_hyphens=False)


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
    """What more rounds brought to the same seeds: most comes early."""
    by_seed = {curve.seed: curve for curve in learning.curves}
    rows = []
    for curve in longer.curves:
        for rounds, one in ((learning.rounds, by_seed[curve.seed]), (longer.rounds, curve)):
            greedy, drawn = one.test["last"], one.sampled["last"]
            levels = [f"{level_mean(greedy, level):.3f}" for level in ("easy", "middle", "hard")]
            row = [str(curve.seed), str(rounds), f"{greedy.score:.3f}", f"{drawn.score:.3f}", f"{drawn.pass_at_k:.3f}"]
            rows.append([*row, *levels])
    return [
        f"    {longer.command} --out .cache/learning --record docs/data/learning_hour.json",
        "",
        table(["seed", "rounds", "greedy", "drawn", f"a right one among {SAMPLES}", "easy", "middle", "hard"], rows),
        "",
        wrapped(
            f"These are steps of {step_size(longer)} groups, the default then. Most of what is learned is learned "
            "in the first rounds. One seed is an anecdote."
        ),
    ]


def step_lines(learning: Learning, larger: Learning) -> list[str]:
    """How many groups were answered until the validation score stood at REACHED, and where both end."""
    rows, ratios, ends = [], [], []
    for small, large in zip(learning.curves, larger.curves, strict=True):
        few, many = reached(small) * step_size(learning), reached(large) * step_size(larger)
        last, other = small.test["last"].score, large.test["last"].score
        ratios.append(many / few)
        ends.append(last - other)
        groups = [f"{few:,.0f}", f"{many:,.0f}", f"{many / few:.2f}"]
        rows.append([str(small.seed), *groups, f"{last:.3f}", f"{other:.3f}"])
    times, apart = t_interval(ratios), t_interval(ends)
    assert times is not None and apart is not None, "there are several seeds"
    steps = (step_size(learning), step_size(larger))
    heads = [f"groups until {REACHED}, steps of {size}" for size in steps]
    tests = [f"test at the end, steps of {size}" for size in steps]
    return [
        wrapped(
            f"The default is steps of {steps[0]} groups, as in SAPO. The default before was {steps[1]}, found with a "
            "starter that had less to learn. Both answer the same number of questions in all. The validation score is "
            "the one on Home."
        ),
        "",
        f"    {larger.command} --out .cache/larger --record docs/data/learning_steps_of_32.json",
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
        wrapped(
            f"Of the groups in a step {chosen.informative:.0%} teach where questions are chosen, "
            f"{alike.informative:.0%} where they are drawn alike. {REACHED} is reached after {chosen.reached:.0f} and "
            f"{alike.reached:.0f} CPU-seconds: what is learned first is learned from any question. The choice is the "
            "default all the same: a score comes no later by it, and fewer answers are wasted."
        ),
    ]


def _guarded(run: Run, mix: str) -> bool:
    return run.arm.mix == mix and run.arm.weighting in ("", "guarded")


def with_interval(value: float | None, low: float | None, high: float | None) -> str:
    """None: not known."""
    if value is None or low is None or high is None:
        return ""
    return f"{value:.2f}" + (f" ({low:.2f} to {high:.2f})" if low < high else "")


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


def figures_page(files: Sequence[Path]) -> str:
    """One table per script; the first line of each file says how it was made."""
    shown = [file for file in files if file.stem not in ON_PAGES_OF_THEIR_OWN and not file.stem.endswith("_profile")]
    usual = Counter(recorded(file)[0]["machine"] for file in shown).most_common(1)[0][0]
    return "\n".join([WRITTEN, "# Figures", "", wrapped(NOISY.format(usual=usual)), *sections(shown, usual)]) + "\n"


def speed_page() -> str:
    """What speed_page.md says, then the figures of the engines."""
    files = [file for name in OF_SPEED if (file := DATA / f"{name}.jsonl").is_file()]
    return "\n".join([WRITTEN, SPEED_PAGE.read_text(encoding="utf-8").strip(), *sections(files, "")]) + "\n"


def sections(files: Sequence[Path], usual: str) -> list[str]:
    """A heading, the commands and a table of each script; its machine, where it is not the `usual` one."""
    parts = []
    for _, of_script in itertools.groupby(files, lambda file: SCRIPTS[file.stem]):
        recordings = list(of_script)
        script = recordings[0].stem
        runs = [recorded(file) for file in recordings]
        parts += ["", f"## {runs[0][0]['title']}", "", *(f"    {made['command']}" for made, _ in runs), ""]
        machines = list(dict.fromkeys(made["machine"] for made, _ in runs))
        if machines != [usual]:
            parts += [f"On {'; the next command on '.join(machines)}.", ""]
        measured = [figure for _, of_run in runs for figure in of_run]
        if script in LARGEST_ALONE:
            parts += ["For each figure, the family where it is largest:", ""]
            measured = largest(measured)
        parts.append(figures_table(script, measured))
        if script in PLOTTED:
            parts += ["", f"![{PLOTTED[script]}]({script}.svg)"]
    return parts


def largest(figures: Sequence[Figure]) -> list[Figure]:
    """Of figures named SCRIPT.FAMILY.MEASURE the largest of each measure."""
    found: dict[str, Figure] = {}
    for figure in figures:
        _, family, measure = figure.name.split(".", 2)
        if measure not in found or figure.value > found[measure].value:
            found[measure] = msgspec.structs.replace(figure, name=f"{measure}, {family}")
    return list(found.values())


def figures_table(script: str, figures: Sequence[Figure]) -> str:
    """A row per figure, or where some have goals per goal.

    Where every name is SCRIPT/ONE/OTHER or SCRIPT.ONE.OTHER: a row for each of the longer side, goal or not.
    """
    named = re.compile(rf"{script}([/.])(.+)")
    split = []
    for figure in figures:
        found = named.fullmatch(figure.name)
        split.append(tuple(found[2].split(found[1], 1)) if found else (figure.name,))
    if any(len(parts) == 1 for parts in split):
        with_goals = [(parts, figure) for parts, figure in zip(split, figures, strict=True) if figure.goal]
        if with_goals:
            rows = [["/".join(parts), valued(figure), figure.goal or ""] for parts, figure in with_goals]
            return table(["figure", "value", "goal"], rows)
        rows = [["/".join(parts), valued(figure)] for parts, figure in zip(split, figures, strict=True)]
        return table(["figure", "value"], rows)
    ones, others = (list(dict.fromkeys(side)) for side in zip(*split, strict=True))
    cells = dict(zip(split, figures, strict=True))
    if len(ones) < len(others):
        ones, others, cells = others, ones, {(b, a): figure for (a, b), figure in cells.items()}
    rows, of_rows = [], []
    for one in ones:
        row = [cells.get((one, other)) for other in others]
        unit, goal = next(f.unit for f in row if f), next((f.goal for f in row if f and f.goal), "")
        if goal or unit != "times":  # a ratio that nobody asked for can be worked out
            rows.append([one, *(crossed(figure, goal) for figure in row)])
            of_rows.append((unit, goal))
    return table(["", *others, "unit", "goal"], [[*row, *of] for row, of in zip(rows, of_rows, strict=True)])


def crossed(figure: Figure | None, goal: str) -> str:
    """A figure in a row that has a goal, or none (empty): what it missed is said, and where the goal is not its own."""
    if figure is None:
        return ""
    remark = ", **missed**" if figure.held is False else " (no goal)" if goal and not figure.goal else ""
    value = f"{figure.value:,.0f}" if figure.value >= 1000 else f"{figure.value:.3g}"
    return value + remark


def valued(figure: Figure) -> str:
    """With its interval, where its note tells one, and the word where its goal was missed."""
    found = INTERVAL.search(figure.note)
    interval = f"({found[1] or found[2]})" if found else ""
    missed = ", **missed**" if figure.held is False else ""
    return " ".join(filter(None, [f"{figure.value:.4g}", figure.unit, interval])) + missed


def recorded(file: Path) -> tuple[dict[str, str], list[Figure]]:
    """How a script's figures were made, and the figures."""
    head, *lines = file.read_bytes().splitlines()
    made = msgspec.json.decode(head, type=dict[str, str])
    return made, [msgspec.json.decode(line, type=Figure) for line in lines]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    first, *others = ("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in [head, *rows])
    return "\n".join([first, "|" + "---|" * len(head), *others])


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def pyplot() -> Any:
    """matplotlib's, which writes the same file from the same data."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "sapo"
    from matplotlib import pyplot

    return pyplot


def plot_growth(figures: Sequence[Figure], path: Path) -> None:
    """What grows, log-log: a panel each, from the points in its note ("4: 0.567 s; 8: 0.954 s")."""
    figures = [figure for figure in figures if figure.unit == "exponent"]
    drawn, rows = pyplot().subplots(1, len(figures), figsize=(2.6 * len(figures), 2.6), layout="constrained")
    for axis, figure in zip(rows, figures, strict=True):
        points = [point.removesuffix(" s").replace(",", "").split(": ") for point in figure.note.split("; ")]
        xs, ys = [float(x) for x, _ in points], [float(y) for _, y in points]
        axis.loglog(xs, ys, marker="o", color="#0072B2")
        axis.minorticks_off()
        axis.set_xticks(xs, [f"{x:,.0f}" for x in xs])
        axis.set_yticks([ys[0], ys[-1]], [f"{y:.2g}" for y in (ys[0], ys[-1])])
        what, by = figure.name.split(", ")
        axis.set_xlabel(by, fontsize=8)
        axis.set_title(f"{what}: exponent {figure.value:.2f}", fontsize=8)
        axis.tick_params(labelsize=7)
        axis.grid(alpha=0.25)
    rows[0].set_ylabel("CPU seconds", fontsize=8)
    drawn.savefig(path, metadata={"Date": None})


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


if __name__ == "__main__":
    main()
