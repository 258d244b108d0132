"""The output of every script with figures: a line per figure, for people or (`--json`) for packaging/figures.py.

A script exits with 0 even if it misses goals: a busy computer is no reason for a red build, and the docs show the
measurements either way.
"""

import argparse
import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec


class Figure(msgspec.Struct, frozen=True, omit_defaults=True):
    """One measured value, named as docs/figures.md shows it: `WHAT, CASE`, so that several cases of one thing stand
    together there. `goal` is as shown (`≤5`), `held` says whether the value meets it (None: there is no goal)."""

    name: str
    value: float
    unit: str
    goal: str | None = None
    held: bool | None = None
    note: str = ""


def at_most(name: str, value: float, unit: str, most: float | None, note: str = "") -> Figure:
    """A figure with an upper bound, or with none (None)."""
    if most is None:
        return Figure(name, value, unit, note=note)
    return Figure(name, value, unit, f"≤{most:,g}", value <= most, note)


def at_least(name: str, value: float, unit: str, least: float | None, note: str = "") -> Figure:
    """A figure with a lower bound, or with none (None)."""
    if least is None:
        return Figure(name, value, unit, note=note)
    return Figure(name, value, unit, f"≥{least:,g}", value >= least, note)


def exactly(name: str, value: float, unit: str, wanted: float, note: str = "") -> Figure:
    """A figure with one value that is right, mostly 0."""
    return Figure(name, value, unit, f"{wanted:g}", value == wanted, note)


def arguments(description: str | None) -> argparse.ArgumentParser:
    """The options that all of them share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="under a minute, coarser")
    parser.add_argument("--json", action="store_true", help="one JSON object per figure and line")
    parser.add_argument("--seed", type=int, default=1)
    return parser


def show(figures: Iterable[Figure], given: argparse.Namespace) -> None:
    """Print figures as they come."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # what Windows takes for a pipe has no sign for "at most"
    for figure in figures:
        if given.json:
            line = msgspec.json.encode(figure).decode()
        else:
            held = {True: "  held", False: "  MISSED", None: ""}[figure.held]
            goal = f"  (goal: {figure.goal})" if figure.goal else ""
            line = f"{figure.name:48} {figure.value:12.4g} {figure.unit}{goal}{held}  {figure.note}".rstrip()
        print(line, flush=True)


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    began = time.process_time()
    work()
    return time.process_time() - began


def with_fixed_hashes() -> None:
    """Start this program again where its hashes are random: an examiner's may not be."""
    if sys.flags.hash_randomization:
        command = [sys.executable, *sys.orig_argv[1:]]
        raise SystemExit(subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": "0"}, check=False).returncode)


def peak_memory() -> int:
    """The most that this process had, in bytes. The system's own count begins with what the parent had."""
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(status.read_text().partition("VmHWM:")[2].split()[0])
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def tell(text: str) -> None:
    """Progress for a person, out of the way of the figures."""
    print(text, file=sys.stderr, flush=True)
