"""A newcomer's first ten rounds in the real window, on a real screen with a real tray, with a real node."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.display import a_display, can_be_had

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(not can_be_had(), reason="Xvfb is not installed"),
]


def tell(act: str, folder: Path, pictures: Path, screen: dict[str, str]) -> str:
    line = [sys.executable, "-m", "tests.whole.window_story", act, str(folder), str(pictures)]
    run = subprocess.run(line, env=screen, capture_output=True, text=True)
    assert run.returncode == 0 and run.stdout.endswith("done\n"), f"{run.stdout}\n{run.stderr}"
    assert "Traceback" not in run.stderr, run.stderr
    return run.stdout


def test_from_the_first_run_to_the_tenth_round_and_back(tmp_path: Path) -> None:
    folder, pictures = tmp_path / "node", tmp_path / "pictures"
    pictures.mkdir()
    with a_display(tray=True) as screen:
        tell("first", folder, pictures, screen)
        tell("again", folder, pictures, screen)
    log = (folder / "logs" / "window.log").read_text()
    assert "bug" not in log, log
    assert len(list(pictures.iterdir())) >= 12
