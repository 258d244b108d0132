"""The checks of `bootstrap.py test`: lint, types, quick tests; with `--slow` the tests that take minutes."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TextIO

from installers.environment import environment_python
from installers.tool import without_foreign_paths

SLOW_BUDGET_SECONDS = 45 * 60
ON_ALL_CORES = ("--numprocesses=logical", "--maxprocesses=4", "--dist=loadfile")
"""Files side by side, a file's tests in their order."""
IN_PAIRS = ("--numprocesses=logical", "--maxprocesses=2", "--dist=loadfile")
"""The slow ones start whole nodes, which take half the cores each: no more than two at once, on any machine."""


def run_checks(root: Path, slow: bool, out: TextIO, env: dict[str, str]) -> int:
    """Runs every check even if one fails, pytest last, and returns 0 only if all went well."""
    python = str(environment_python(root))
    if slow:
        command = [python, "-m", "pytest", "-m", "slow", "--timeout=1200", "--durations=20", *IN_PAIRS]
        return _run(command, root, out, env, SLOW_BUDGET_SECONDS)
    failed = [
        name
        for name, command in (
            ("ruff", [python, "-m", "ruff", "check", "."]),
            ("mypy", [python, "-m", "mypy"]),
            ("pytest", [python, "-m", "pytest", *ON_ALL_CORES]),
        )
        if _run(command, root, out, env) != 0
    ]
    if failed:
        out.write(f"Failed: {', '.join(failed)} (see above).\n")
    return 1 if failed else 0


def _run(command: list[str], root: Path, out: TextIO, env: dict[str, str], budget: float | None = None) -> int:
    out.write(f"== {' '.join(command[2:])}\n")
    out.flush()
    try:
        return subprocess.run(command, cwd=root, env=without_foreign_paths(env), timeout=budget).returncode
    except subprocess.TimeoutExpired:
        out.write(f"The slow tests were stopped after their budget of {SLOW_BUDGET_SECONDS // 60} minutes.\n")
        return 1
