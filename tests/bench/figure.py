"""What every script with a goal prints: a line per figure, for people or (`--json`) for packaging/figures.py.

A script exits 0 whether or not its goals are held: a machine that is busy is no reason
for a red build, and the docs show what was measured either way.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec


class Figure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One measured value. `goal` is in words, `held` says whether the value meets it (None: there is no
    goal)."""

    name: str
    value: float
    unit: str
    goal: str | None = None
    held: bool | None = None
    note: str = ""


def arguments(description: str | None) -> argparse.ArgumentParser:
    """The options that all of them share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="under a minute, coarser")
    parser.add_argument("--json", action="store_true", help="one JSON object per figure and line")
    parser.add_argument("--seed", type=int, default=1)
    return parser


def show(figure: Figure, as_json: bool) -> None:
    """Print one figure."""
    if as_json:
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
