"""The checks of `bootstrap.py test`: format, lint, types, quick tests; with `--slow` the tests that take minutes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TextIO

from installers.environment import environment_python
from installers.tool import clean_environment

QUICK_BUDGET_SECONDS = 20 * 60
SLOW_BUDGET_SECONDS = 50 * 60
BY_FILE = ("--numprocesses=logical", "--dist=loadfile", "--max-worker-restart=0")
"""Files run in parallel, a file's tests in order. A crashed worker is not replaced: the run has failed, and
pytest-xdist 3.8 waits forever for files that the crashed one had finished."""
ON_ALL_CORES = (*BY_FILE, "--maxprocesses=4")
IN_PAIRS = (*BY_FILE, "--maxprocesses=2")
"""The slow ones start whole nodes, which use half of the cores each: at most two at once, on any computer."""


def run_checks(root: Path, slow: bool, out: TextIO, env: dict[str, str]) -> int:
    """Runs every check even if one fails, pytest last, and returns 0 only if all went well."""
    python = str(environment_python(root))
    if slow:
        command = [python, "-m", "pytest", "-m", "slow", "--timeout=1200", "--durations=20", *IN_PAIRS]
        return run_within(SLOW_BUDGET_SECONDS, command, root, out, env)
    failed = [
        name
        for name, command in (
            ("ruff format", [python, "-m", "ruff", "format", "--check", "."]),
            ("ruff", [python, "-m", "ruff", "check", "."]),
            ("mypy", [python, "-m", "mypy"]),
            ("pytest", [python, "-m", "pytest", *ON_ALL_CORES]),
        )
        if run_within(QUICK_BUDGET_SECONDS, command, root, out, env) != 0
    ]
    if failed:
        out.write(f"Failed: {', '.join(failed)} (see above).\n")
    return 1 if failed else 0


def run_within(budget: float, command: list[str], root: Path, out: TextIO, env: dict[str, str]) -> int:
    """Run a check for at most `budget` seconds; returns its exit code, or 1 if it was stopped. Nothing that it
    started outlives it: a hanging test would keep the output open, and its reader would wait forever."""
    out.write(f"== {' '.join(command[2:])}\n")
    out.flush()
    with subprocess.Popen(command, cwd=root, env=clean_environment(env), start_new_session=True) as process:
        try:
            return process.wait(budget)
        except subprocess.TimeoutExpired:
            out.write(f"Stopped after its budget of {budget / 60:.0f} minutes.\n")
            return 1
        finally:
            _kill_with_children(process)


def _kill_with_children(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        if process.poll() is None:
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], check=False, capture_output=True)
        return
    with contextlib.suppress(ProcessLookupError):  # nothing is left
        os.killpg(process.pid, signal.SIGKILL)
