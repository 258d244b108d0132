"""The cost of the window: time to its first picture, memory, frames and clicks while the node works, and in the tray.

    python -m tests.bench.window.cost [--quick] [--json]

It runs on its own screen (Xvfb, with a tray host). The start alternates with that of the smallest pyqtgraph window (a
plotting library that the product does not use), since a computer's speed changes during a measurement. Frames and
clicks are measured while generator and trainer of a real node with the starter compute on all cores; the chart has
100,000 points.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.bench.figure import Figure, arguments, at_most, show, tell
from tests.display import a_display

START_GOAL, MEMORY_GOAL, FRAME_GOAL, CLICK_GOAL, HIDDEN_GOAL = 1.5, 150e6, 0.016, 0.050, 0.005


def main() -> None:
    given = arguments(__doc__).parse_args()
    pairs, seconds = (1, 2) if given.quick else (9, 30)
    with a_display(tray=True) as screen, tempfile.TemporaryDirectory() as scratch:
        show([*starting(Path(scratch), pairs, screen), *loaded(Path(scratch), seconds, screen)], given)


def starting(scratch: Path, pairs: int, screen: dict[str, str]) -> Iterator[Figure]:
    """Ours against the bare one, a pair at a time."""
    ours, bare = [], []
    child(["bare"], screen)  # the first start of all reads the libraries from the disk
    for number in range(pairs):
        bare += child(["bare"], screen)
        ours += child(["start", str(scratch / f"start-{number}")], screen)
        tell(f"start {number + 1}: bare {bare[-1]['cpu']:.2f} CPU-s, ours {ours[-1]['cpu']:.2f}")
    for kind, name in (("cpu", "CPU"), ("wall", "wall")):
        ratios = [our[kind] / other[kind] for our, other in zip(ours, bare, strict=True)]
        took = statistics.median(our[kind] for our in ours)
        yield Figure(f"to the first picture, {name}", took, "s")
        note = f"{min(ratios):.2f} to {max(ratios):.2f} in {pairs} pairs"
        name = f"first picture against a bare pyqtgraph window, {name}"
        yield at_most(name, statistics.median(ratios), "times", START_GOAL, note)


def loaded(scratch: Path, seconds: float, screen: dict[str, str]) -> Iterator[Figure]:
    """With a node that computes on all cores."""
    folder = scratch / "load"
    folder.mkdir()
    cores = os.cpu_count()
    (folder / "settings.toml").write_text(f"version = 1\nthreads = {cores}\nsilo = true\nvalidate_every = 0\n")
    fresh, full, paused, hidden = child(["load", str(folder), str(seconds)], screen)
    yield resident("memory, with a node at work", fresh)
    yield resident("memory, with 100,000 rounds", full)
    yield late("a frame", full["frames"], FRAME_GOAL)
    yield late("a frame while it is paused", paused["frames"])
    yield late("a click", full["clicks"], CLICK_GOAL)
    yield late("a click while it is paused", paused["clicks"])
    note = f"{hidden['rounds']} rounds finished meanwhile"
    yield at_most("CPU when hidden in the tray", 100 * hidden["hidden"], "%", 100 * HIDDEN_GOAL, note)


def resident(name: str, memory: dict[str, Any]) -> Figure:
    note = f"{memory['anonymous'] / 1e6:.0f} MB of it not shared with others by way of files"
    return at_most(name, memory["rss"] / 1e6, "MB", MEMORY_GOAL / 1e6, note)


def late(name: str, taken: Sequence[Sequence[float]], goal: float | None = None) -> Figure:
    """A high percentile of wall times; the note has the window's own computing time."""
    wall, cpu = zip(*taken, strict=True)
    p50, p90, p99 = (quantile(wall, share) for share in (0.5, 0.9, 0.99))
    note = f"median {p50:.1f}, p90 {p90:.1f} ms of {len(taken)}; "
    note += f"CPU of it: median {quantile(cpu, 0.5):.1f}, p99 {quantile(cpu, 0.99):.1f} ms"
    return at_most(f"p99 of {name}", p99, "ms", 1000 * goal if goal else None, note)


def quantile(seconds: Sequence[float], share: float) -> float:
    """Milliseconds."""
    ordered = sorted(seconds)
    return 1000 * ordered[min(len(ordered) - 1, round(share * len(ordered)))]


def child(words: Sequence[str], screen: dict[str, str]) -> list[dict[str, Any]]:
    line = [sys.executable, "-m", "tests.bench.window.child", *words]
    run = subprocess.run(line, env=screen, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(text) for text in run.stdout.splitlines()]


if __name__ == "__main__":
    main()
