"""How much memory does the starter's engine take in a real session? Worker, hosts, rounds and validation as by default.

    python -m tests.bench.node.session_memory [--quick] [--json] [--seed N]

A node of its own in silo, at default settings but for the validation, which comes every third round in place of every
fortieth, and the priority, which changes no memory. The curriculum has reached harder levels with long questions after
a few rounds. Looked at from outside every few milliseconds: the engine's resident memory, and its share of it (PSS:
pages that several processes have in memory count by part).
"""

import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import psutil

from tests.bench.figure import Figure, arguments, show

MOST = 500e6
LOOK_SECONDS = 0.02
ROUNDS, ROUNDS_QUICK = 12, 2
EVERY = 3


class Peak(msgspec.Struct, kw_only=True):
    """Highest values of the engine process, in bytes; CPU seconds of all its threads."""

    resident: int = 0
    share: int = 0
    cpu: float = 0.0


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__).parse_args()
    rounds = ROUNDS_QUICK if options.quick else ROUNDS
    peak = session(rounds, options.seed)
    name = f"session_memory/starter, {rounds} rounds"
    held = peak.resident <= MOST
    goal = f"at most {MOST / 1e6:.0f}"
    figures = [
        Figure(name=f"{name}, engine, resident", value=peak.resident / 1e6, unit="MB", goal=goal, held=held),
        Figure(name=f"{name}, engine, its share", value=peak.share / 1e6, unit="MB"),
        Figure(name=f"{name}, engine, start-up included", value=peak.cpu / rounds, unit="CPU-s a round"),
    ]
    for figure in figures:
        show(figure, options.json)


def session(rounds: int, seed: int) -> Peak:
    """Play so many rounds in a new folder and look at the engine until they are done."""
    peak = Peak()
    with tempfile.TemporaryDirectory(prefix="sapo-session-") as folder:
        command = [sys.executable, "-m", "sapo_desktop", "run", "--silo", "--json", "--data", f"{folder}/node"]
        command += ["--rounds", str(rounds), "--seed", str(seed), "--set", f"validate_every={EVERY}"]
        command += ["--set", "low_priority=false"]  # on a busy machine the engine would not start in time
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            while run.poll() is None:
                for engine in engines(run.pid):
                    look(engine, peak)
                time.sleep(LOOK_SECONDS)
        if run.returncode:
            raise SystemExit(f"{command} ended with {run.returncode}.")
    return peak


def engines(pid: int) -> Iterator[psutil.Process]:
    """Engine hosts among the children of a process."""
    with contextlib.suppress(psutil.Error):
        for process in psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                words = process.cmdline()
                if "sapo_desktop.worker.hosts.host" in words and "engine" in words:
                    yield process


def look(process: psutil.Process, peak: Peak) -> None:
    """Take note of what it has now; the system keeps the highest resident memory itself."""
    with contextlib.suppress(psutil.Error, OSError):
        status = Path(f"/proc/{process.pid}/status").read_text().partition("VmHWM:")[2]
        rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text().partition("\nPss:")[2]
        if not status or not rollup:
            return  # it is ending
        peak.resident = max(peak.resident, 1024 * int(status.split()[0]))
        peak.share = max(peak.share, 1024 * int(rollup.split()[0]))
        used = process.cpu_times()
        peak.cpu = max(peak.cpu, used.user + used.system)


if __name__ == "__main__":
    main()
