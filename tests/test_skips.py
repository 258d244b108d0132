"""In CI a skipped test is a failure unless it says why: conftest.py, tried on a test run of its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest
def test_good(): assert True
def test_silent(): pytest.skip("no display")
@pytest.mark.allowed_skip("nothing to test on this system")
def test_said(): pytest.skip("not here")
@pytest.mark.xfail(reason="known")
def test_known(): assert False
"""


@pytest.mark.parametrize(
    ("ci", "ending"), [("true", "1 failed, 1 passed, 1 skipped, 1 xfailed"), ("", "1 passed, 2 skipped, 1 xfailed")]
)
def test_only_a_skip_with_a_reason_given_beforehand_passes_in_ci(tmp_path: Path, ci: str, ending: str) -> None:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_them.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:pytest-qt\nmarkers = allowed_skip(why): as above\n")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "CI": ci},
        capture_output=True,
        text=True,
    )
    assert re.search(ending, run.stdout), run.stdout
    assert run.returncode == (1 if ci else 0)
    assert ("test_silent was skipped in CI: Skipped: no display" in run.stdout) == bool(ci)
