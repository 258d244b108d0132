"""Answers are hostile from the first day: nothing happens, nothing raises, nothing is slow, and the mark is
0.

Two walls are tested apart: the grammars alone, with no limit on the process (`examine.py hostile`), and the
examiner as the product runs it, behind its limits.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("examine.py")


def test_hostile_answers_do_nothing_in_every_family_and_level(tmp_path: Path) -> None:
    marker = tmp_path / "touched"
    finished = subprocess.run(
        [sys.executable, str(SCRIPT), "hostile", str(marker)],
        env={**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    found = json.loads(finished.stdout.splitlines()[-1])
    assert list(tmp_path.iterdir()) == []
    assert found["solved"] == []
    assert not {"solved", "scorer_failed", "timeout"} & set(found["verdicts"])
    assert sum(found["verdicts"].values()) > 10_000
    assert found["slowest"] < 0.25
