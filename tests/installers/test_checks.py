"""A check ends within its budget, with everything that it started."""

import io
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from installers.checks import BY_FILE, run_within

PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("child", "w").write(str(child.pid))
time.sleep({seconds})
"""


def ends(pid: int) -> bool:
    """Within ten seconds; it may wait for somebody to ask for its exit code."""
    for _ in range(100):
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.skipif(os.name == "nt", reason="process groups")
@pytest.mark.parametrize(("seconds", "budget", "code"), [(600, 2.0, 1), (0, 60.0, 0)])
def test_what_a_check_started_ends_with_it(tmp_path: Path, seconds: int, budget: float, code: int) -> None:
    out = io.StringIO()

    command = [sys.executable, "-c", PARENT.format(seconds=seconds)]
    assert run_within(budget, command, tmp_path, out, dict(os.environ)) == code

    child = int((tmp_path / "child").read_text())
    assert ends(child)
    assert ("Stopped after its budget" in out.getvalue()) == (code == 1)


@pytest.mark.slow
def test_a_crashed_worker_ends_the_run(tmp_path: Path) -> None:
    """With a replacement, pytest-xdist would wait for ever."""
    for number in range(6):
        crash = "os.kill(os.getpid(), 9) if i == 12 else None" if number == 5 else "None"
        (tmp_path / f"test_{number}.py").write_text(
            f"import os, pytest\n\n@pytest.mark.parametrize('i', range(30))\ndef test_one(i):\n    {crash}\n"
        )
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *BY_FILE, "--maxprocesses=2", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 1
    assert "crashed while running" in run.stdout
