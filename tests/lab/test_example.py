"""docs/examples/sapo.py: SAPO in one file learns, and others' answers reach the step."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "examples" / "sapo.py"


@pytest.mark.slow
@pytest.mark.parametrize("external", ["0", "4"])
def test_two_models_learn(external: str) -> None:
    played = subprocess.run(
        [sys.executable, str(SCRIPT), "--rounds", "10", "--external", external],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SCRIPT.parents[2])},
        check=False,
    )
    found = re.search(r"solved: (\d+)% before, (\d+)% after 10 rounds", played.stdout)
    assert found is not None, played.stderr
    before, after = int(found[1]), int(found[2])
    assert after > before + 15, played.stdout
