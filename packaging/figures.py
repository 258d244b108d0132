"""Writes the pages of docs/ that hold figures, from what the scripts in tests/bench and tests/attack recorded.

    python packaging/figures.py          reads docs/data/, writes four pages and three .svg
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
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pages.fit import fit_page  # noqa: E402
from pages.lab import plot_half_shown  # noqa: E402
from pages.learning import learning_page, plot_learning, recorded_learning  # noqa: E402
from pages.parts import DATA, filled, pyplot, wrapped  # noqa: E402

from sapo_desktop.lab.table import read_runs  # noqa: E402
from tests.bench.figure import Figure  # noqa: E402
from tests.bench.node.learning import machine  # noqa: E402

INTERVAL = re.compile(r"(?:95% interval |^)((\S+) to (?!\2(?:[; ]|$))[^; ]+)(?=;| in \d|$)")
"""The part of a figure's note that is shown, unless both ends are equal."""
COMPARED = re.compile(r"(tokens per CPU-s of|llama\.cpp against) our torch engine, [^,]+$|by the wall, ")
"""Figures shown without a goal."""
RATIOS = {"share", "times"}
"""Units that are not shown."""
LARGEST_ALONE = {"tasks", "cheapest"}
OF_SPEED = (
    "round",
    "round_large",
    "train",
    "precision",
    "generate",
    "generate_large",
    "session",
    "growth",
    "growth_memory",
)
"""On docs/speed.md, in this order."""
ON_PAGES_OF_THEIR_OWN = {"memory", "card", "imports", "generate_profile", *OF_SPEED}  # fit.md, speed.md


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the pages of docs/ that hold figures.")
    parser.add_argument(
        "--name", help="name of the file in docs/data/ (default: where this command's figures are, or the module's)"
    )
    parser.add_argument(
        "--measure", nargs=argparse.REMAINDER, metavar="WORD", help="a module to run first, with its arguments"
    )
    given = parser.parse_args()
    if given.measure:
        module, *words = given.measure
        measure(given.name or usual_name(module, words), module, words)
    docs = ROOT / "docs"
    kinds = ("", "_hour", "_reference", "_reference_hour")
    learning, longer, *of_reference = (recorded_learning(f"learning{kind}.json") for kind in kinds)
    plot_learning(learning, docs / "learning.svg")
    plot_half_shown(read_runs(DATA / "lab" / "half"), docs / "lab.svg")
    plot_growth(recorded(DATA / "growth.jsonl")[1], docs / "growth.svg")
    files = sorted(DATA.glob("*.jsonl"))
    for name, text in {
        "learning": learning_page(learning, longer, *of_reference),
        "fit": fit_page(*recorded(DATA / "memory.jsonl"), recorded(DATA / "card.jsonl")),
        "figures": page("figures.md", [file for file in files if file.stem not in ON_PAGES_OF_THEIR_OWN]),
        "speed": page("speed.md", [DATA / f"{name}.jsonl" for name in OF_SPEED]),
    }.items():
        (docs / f"{name}.md").write_text(text, encoding="utf-8")


def usual_name(module: str, words: Sequence[str]) -> str:
    """The file where this command's figures already are, or one named after the module."""
    command = shlex.join(["python", "-m", module, *words])
    same = (file.stem for file in sorted(DATA.glob("*.jsonl")) if recorded(file)[0]["command"] == command)
    return next(same, module.rpartition(".")[2])


def measure(name: str, module: str, words: Sequence[str]) -> None:
    """Run a script and store its figures with their conditions."""
    command = [sys.executable, "-m", module, *words, "--json"]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=ROOT).stdout
    head = {
        "title": name.replace("_", " ").capitalize(),
        "command": shlex.join(["python", "-m", module, *words]),
        "machine": machine(),
        "date": datetime.date.today().isoformat(),
    }
    (DATA / f"{name}.jsonl").write_bytes(msgspec.json.encode(head) + b"\n" + printed)


def page(template: str, files: Sequence[Path]) -> str:
    """The text of a template, and every script that has goals; the first line of each file says how it was made."""
    usual = Counter(recorded(file)[0]["machine"] for file in files).most_common(1)[0][0]
    scripts = (section(list(of_script)) for _, of_script in itertools.groupby(files, module_of))
    return filled(template, usual=usual, sections="\n\n".join(filter(None, scripts)))


def section(recordings: Sequence[Path]) -> str:
    """A script's heading, commands and goals; empty if it has none."""
    heads, measured = zip(*map(recorded, recordings), strict=True)
    figures = list(itertools.chain(*measured))
    lines = goal_lines(largest(figures) if recordings[0].stem in LARGEST_ALONE else figures)
    commands = "\n".join(f"    {head['command'].removeprefix('python -m ')}" for head in heads)
    return f"## {heads[0]['title']}\n\n{commands}\n\n{lines}" if lines else ""


def module_of(file: Path) -> str:
    """The module that was run: `python -m MODULE ...`."""
    return recorded(file)[0]["command"].split()[2]


def largest(figures: Sequence[Figure]) -> list[Figure]:
    """Among figures named SCRIPT.FAMILY.MEASURE with a goal, the largest of each measure."""
    found: dict[str, Figure] = {}
    for figure in filter(lambda one: one.goal, figures):
        _, family, measure = figure.name.split(".", 2)
        if measure not in found or figure.value > found[measure].value:
            found[measure] = msgspec.structs.replace(figure, name=f"largest of all families, {measure} ({family})")
    return list(found.values())


def goal_lines(figures: Sequence[Figure]) -> str:
    """A line for each goal with its figures, grouped by the part of their names before the comma."""
    of_goals: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for figure in figures:
        if figure.goal or COMPARED.match(figure.name):
            about, _, case = figure.name.partition(", ")
            goal = f" [{figure.goal}]" if figure.goal else ""
            of_goals.setdefault(goal, {}).setdefault(about, []).append((case, valued(figure)))
    return "\n".join(wrapped(f"- {described(subjects)}{goal}", indent="  ") for goal, subjects in of_goals.items())


def described(subjects: Mapping[str, Sequence[tuple[str, str]]]) -> str:
    """Their cases with their values; a common value appears once."""
    cases = []
    for about, ((first, value), *others) in subjects.items():
        cases += [(f"{about}, {first}" if first else about, value), *others]
    said = []
    for value, those in itertools.groupby(cases, lambda case: case[1]):
        names = dict.fromkeys(name for name, _ in those if name)
        said.append(f"{'; '.join(names)}: {value}")
    return "; ".join(said)


def valued(figure: Figure) -> str:
    """A value with the interval of its note, and "missed" if it missed its goal."""
    is_said = figure.unit in RATIOS or (len(figure.unit) > 3 and figure.unit in figure.name)
    unit = "" if is_said else figure.unit
    found = INTERVAL.search(figure.note)
    interval = f"({found[1]})" if found else ""
    missed = ", **missed**" if figure.held is False else ""
    value = f"{figure.value:,.0f}" if figure.value >= 1000 else f"{figure.value:.4g}"
    return " ".join(filter(None, [value, unit, interval])).replace(" %", "%") + missed


def recorded(file: Path) -> tuple[dict[str, str], list[Figure]]:
    """How a script's figures were made, and the figures."""
    head, *lines = file.read_bytes().splitlines()
    made = msgspec.json.decode(head, type=dict[str, str])
    return made, [msgspec.json.decode(line, type=Figure) for line in lines]


def plot_growth(figures: Sequence[Figure], path: Path) -> None:
    """Log-log panels of the figures that grow, each from the points in its note ("4: 0.567 s; 8: 0.954 s")."""
    figures = [figure for figure in figures if figure.unit == "exponent"]
    drawn, rows = pyplot().subplots(1, len(figures), figsize=(2.6 * len(figures), 2.6), layout="constrained")
    for axis, figure in zip(rows, figures, strict=True):
        points = [point.removesuffix(" s").replace(",", "").split(": ") for point in figure.note.split("; ")]
        xs, ys = [float(x) for x, _ in points], [float(y) for _, y in points]
        axis.loglog(xs, ys, marker="o", color="#0072B2")
        axis.minorticks_off()
        axis.set_xticks(xs, [f"{x:,.0f}" for x in xs])
        axis.set_yticks([ys[0], ys[-1]], [f"{y:.2g}" for y in (ys[0], ys[-1])])
        what, by = figure.name.removeprefix("exponent of ").split(", by ")
        axis.set_xlabel(by, fontsize=8)
        axis.set_title(f"{what}: exponent {figure.value:.2f}", fontsize=8)
        axis.tick_params(labelsize=7)
        axis.grid(alpha=0.25)
    rows[0].set_ylabel("CPU seconds", fontsize=8)
    drawn.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
