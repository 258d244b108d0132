"""Writes the pages of docs/ that hold figures, from what the scripts in tests/bench and tests/attack recorded.

    python packaging/figures.py          reads docs/data/, writes figures.md, speed.md, fit.md, learning.md and .svg
    python packaging/figures.py --measure tests.attack.sockets.strangers --wscat wscat
                                         runs this first, by a module's name and its words, and keeps what it prints
                                         where this command's figures are, or under the module's name, or as --name

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
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pages.fit import fit_page  # noqa: E402
from pages.learning import learning_page, plot_learning, recorded_learning  # noqa: E402
from pages.parts import DATA, WRITTEN, pyplot, table, wrapped  # noqa: E402

from tests.bench.figure import Figure  # noqa: E402
from tests.bench.node.learning import machine  # noqa: E402

NOISY = """What was measured, by script. A goal is held unless it says "missed". In brackets is a 95% interval, or the
range of several tries. A value without a unit is a share, or a count of what its name says. Machines are shared and
noisy: trust ratios within one run more than times. They were {usual}, unless a section says otherwise. `docs/data/` has
the rest: figures without a goal, dates, notes."""
INTERVAL = re.compile(r"95% interval (.+ to [^;]+)|^([\d.]+ to [\d.]+) in \d+")
"""What of a figure's note is shown."""
PLOTTED = {"growth": "CPU seconds by what grows, both axes logarithmic"}
LARGEST_ALONE = {"tasks", "cheapest"}
RATIOS_ALONE = {"overlap", "overlapped"}
A_LIST = 4
"""So many figures or fewer are a list, more a table."""
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
    "growth",
    "growth_memory",
)
"""On docs/speed.md, in this order."""
ON_PAGES_OF_THEIR_OWN = {"memory", "card", "imports", *OF_SPEED}  # fit.md, speed.md
SPEED_PAGE = ROOT / "packaging" / "pages" / "speed.md"


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the pages of docs/ that hold figures.")
    parser.add_argument(
        "--name", help="of what is measured in docs/data/ (default: where this command's figures are, or the module's)"
    )
    parser.add_argument("--measure", nargs=argparse.REMAINDER, metavar="WORD", help="a module to run first, its words")
    given = parser.parse_args()
    if given.measure:
        module, *words = given.measure
        measure(given.name or usual_name(module, words), module, words)
    docs = ROOT / "docs"
    learning, slower, larger, longer = (
        recorded_learning(f"learning{name}.json") for name in ("", "_slower", "_steps_of_32", "_hour")
    )
    plot_learning(learning, docs / "learning.svg")
    plot_growth(recorded(DATA / "growth.jsonl")[1], docs / "growth.svg")
    for name, page in {
        "learning": learning_page(learning, slower, larger, longer),
        "fit": WRITTEN + "\n" + fit_page(*recorded(DATA / "memory.jsonl"), recorded(DATA / "card.jsonl")),
        "figures": figures_page(sorted(DATA.glob("*.jsonl"))),
        "speed": speed_page(),
    }.items():
        (docs / f"{name}.md").write_text(page, encoding="utf-8")


def usual_name(module: str, words: Sequence[str]) -> str:
    """The file whose figures this command made before, or one that is called as the module."""
    command = shlex.join(["python", "-m", module, *words])
    same = (file.stem for file in sorted(DATA.glob("*.jsonl")) if recorded(file)[0]["command"] == command)
    return next(same, module.rpartition(".")[2])


def measure(name: str, module: str, words: Sequence[str]) -> None:
    """Run a script and keep its figures with the conditions they were measured under."""
    command = [sys.executable, "-m", module, *words, "--json"]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=ROOT).stdout
    head = {
        "title": name.replace("_", " ").capitalize(),
        "command": shlex.join(["python", "-m", module, *words]),
        "machine": machine(),
        "date": datetime.date.today().isoformat(),
    }
    (DATA / f"{name}.jsonl").write_bytes(msgspec.json.encode(head) + b"\n" + printed)


def figures_page(files: Sequence[Path]) -> str:
    """One table per script; the first line of each file says how it was made."""
    shown = [file for file in files if file.stem not in ON_PAGES_OF_THEIR_OWN and not file.stem.endswith("_profile")]
    usual = Counter(recorded(file)[0]["machine"] for file in shown).most_common(1)[0][0]
    return "\n".join([WRITTEN, "# Figures", "", wrapped(NOISY.format(usual=usual)), *sections(shown, usual)]) + "\n"


def speed_page() -> str:
    """What pages/speed.md says, then the figures of the engines."""
    files = [DATA / f"{name}.jsonl" for name in OF_SPEED]
    usual = Counter(recorded(file)[0]["machine"] for file in files).most_common(1)[0][0]
    written = SPEED_PAGE.read_text(encoding="utf-8").strip().format(usual=usual)
    return "\n".join([WRITTEN, written, *sections(files, usual)]) + "\n"


def sections(files: Sequence[Path], usual: str) -> list[str]:
    """A heading, the commands and a table of each script; its machine, where it is not the `usual` one."""
    parts = []
    for _, of_script in itertools.groupby(files, module_of):
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
        if script in RATIOS_ALONE:
            measured = [figure for figure in measured if figure.unit.startswith("times")]
        parts.append(figures_table(script, measured))
        if script in PLOTTED:
            parts += ["", f"![{PLOTTED[script]}]({script}.svg)"]
    return parts


def module_of(file: Path) -> str:
    """What was run for it: `python -m MODULE ...`."""
    return recorded(file)[0]["command"].split()[2]


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

    Where every name is SCRIPT/ONE/OTHER or SCRIPT.ONE.OTHER, or none has a goal and every one is ONE: OTHER: a row for
    each of the longer side, goal or not.
    """
    goals = any(figure.goal for figure in figures)
    named = re.compile(rf"{script}([/.])(.+)")
    split = []
    for figure in figures:
        found = named.fullmatch(figure.name)
        split.append(tuple(found[2].split(found[1], 1)) if found else (figure.name,))
    if not goals and all(": " in figure.name for figure in figures):
        split = [tuple(figure.name.split(": ", 1)) for figure in figures]
    if any(len(parts) == 1 for parts in split):
        rows = [
            ["/".join(parts).removeprefix(f"{script}: "), valued(figure), figure.goal or ""]
            for parts, figure in zip(split, figures, strict=True)
            if figure.goal or not goals
        ]
        if len(rows) <= A_LIST:
            return "\n".join(f"- {name}: {value}" + (f"; goal {goal}" if goal else "") for name, value, goal in rows)
        head = ["figure", "value", "goal"]
        return table(head, rows) if goals else table(head[:2], [row[:2] for row in rows])
    ones, others = (list(dict.fromkeys(side)) for side in zip(*split, strict=True))
    cells = dict(zip(split, figures, strict=True))
    if len(ones) <= len(others):
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
    unit = "" if figure.unit == "share" or (len(figure.unit) > 3 and figure.unit in figure.name) else figure.unit
    found = INTERVAL.search(figure.note)
    interval = f"({found[1] or found[2]})" if found else ""
    missed = ", **missed**" if figure.held is False else ""
    return " ".join(filter(None, [f"{figure.value:.4g}", unit, interval])) + missed


def recorded(file: Path) -> tuple[dict[str, str], list[Figure]]:
    """How a script's figures were made, and the figures."""
    head, *lines = file.read_bytes().splitlines()
    made = msgspec.json.decode(head, type=dict[str, str])
    return made, [msgspec.json.decode(line, type=Figure) for line in lines]


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


if __name__ == "__main__":
    main()
