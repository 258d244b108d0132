"""What does the starter's engine take in a real session, and what does it bring? Worker, hosts, rounds and validation.

    python -m tests.bench.node.session [--quick] [--json] [--seed N]

A node of its own in silo, at default settings but for the validation, which comes every third round in place of every
fortieth, and the priority, which changes no memory. The curriculum has reached harder levels with long questions after
a few rounds. Looked at from outside every few milliseconds: the engine's resident memory, and its share of it (PSS:
pages that several processes have in memory count by part); what it has as soon as it has loaded stands beside the most.
What it brings are groups that teach, of those whose answers are not all alike, by the wall time of the rounds after the
first, validation left out: true where nothing else runs.
"""

import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import psutil

from sapo_desktop.core.records import RoundReport
from sapo_desktop.worker.store.history import History
from tests.bench.figure import Figure, arguments, at_least, at_most, show
from tests.bench.processes import by_role

MOST = 500e6
GOAL, GROUPS_GOAL = 300e6, 10.0
"""Wished for: memory, and groups that teach a second on two cores."""
LOOK_SECONDS = 0.02
ROUNDS, ROUNDS_QUICK = 12, 2
EVERY = 3


class Session(msgspec.Struct, kw_only=True):
    """Highest values of the engine process, in bytes; CPU seconds of all its threads; what its rounds brought."""

    resident: int = 0
    share: int = 0
    cpu: float = 0.0
    loaded: int = 0
    """Resident before the first round."""
    teaching: int = 0
    """Groups of the rounds after the first that taught something."""
    groups: int = 0
    """All of them."""
    seconds: float = 0.0
    """What those rounds took."""


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__).parse_args()
    rounds = ROUNDS_QUICK if options.quick else ROUNDS
    found = session(rounds, options.seed)
    figures = [
        at_most("memory of the engine, starter", found.resident / 1e6, "MB", GOAL / 1e6),
        Figure("memory of the engine, its share, starter", found.share / 1e6, "MB"),
        Figure("memory of the engine, as it was loaded, starter", found.loaded / 1e6, "MB"),
        Figure("CPU of the engine, start-up included, starter", found.cpu / rounds, "CPU-s a round"),
        Figure("groups that teach, starter", found.teaching / found.groups, "of all"),
        at_least(
            "groups that teach, wall, starter",
            found.teaching / found.seconds,
            "a second",
            GROUPS_GOAL,
            f"{found.seconds / (rounds - 1):.1f} s a round; {busy()}",
        ),
    ]
    show(figures, options)


def busy() -> str:
    """What else ran, in words."""
    return f"load of {psutil.getloadavg()[1]:.1f} on {psutil.cpu_count()} cores over five minutes"


def session(rounds: int, seed: int) -> Session:
    """Play so many rounds in a new folder and look at the engine until they are done."""
    found = Session()
    with tempfile.TemporaryDirectory(prefix="sapo-session-") as folder:
        node = Path(folder) / "node"
        command = [sys.executable, "-m", "sapo_desktop", "run", "--silo", "--json", "--data", str(node)]
        command += ["--rounds", str(rounds), "--seed", str(seed), "--set", f"validate_every={EVERY}"]
        command += ["--set", "low_priority=false"]  # on a busy machine the engine would not start in time
        with (
            (Path(folder) / "events").open("w+", encoding="utf-8") as events,
            subprocess.Popen(command, stdout=events, stderr=subprocess.DEVNULL) as run,
        ):
            while run.poll() is None:
                if engine := by_role(run.pid).get("engine"):
                    look(engine, found)
                if not found.loaded and '"working"' in (Path(folder) / "events").read_text(encoding="utf-8"):
                    found.loaded = found.resident
                time.sleep(LOOK_SECONDS)
        if run.returncode:
            raise SystemExit(f"{command} ended with {run.returncode}.")
        with contextlib.closing(History(node / "history.sqlite")) as history:
            count(history.last_rounds(rounds), found)
    return found


def count(reports: Sequence[RoundReport], found: Session) -> None:
    """What the rounds after the first, which warms up, brought."""
    for report in sorted(reports, key=lambda report: report.round)[1:]:
        groups = report.local_groups + report.external_groups
        found.groups += groups
        found.teaching += groups - report.zero_advantage_groups
        found.seconds += report.seconds - report.evaluate_seconds


def look(process: psutil.Process, found: Session) -> None:
    """Take note of what it has now; the system keeps the highest resident memory itself."""
    with contextlib.suppress(psutil.Error, OSError):
        status = Path(f"/proc/{process.pid}/status").read_text().partition("VmHWM:")[2]
        rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text().partition("\nPss:")[2]
        if not status or not rollup:
            return  # it is ending
        found.resident = max(found.resident, 1024 * int(status.split()[0]))
        found.share = max(found.share, 1024 * int(rollup.split()[0]))
        used = process.cpu_times()
        found.cpu = max(found.cpu, used.user + used.system)


if __name__ == "__main__":
    main()
