"""A newcomer's first ten rounds in the real window, on a real screen with a real tray, with a real node."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.display import a_display, a_wayland, can_be_had, wayland_can_be_had
from tests.whole.programs import Program, address

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(not can_be_had(), reason="Xvfb is not installed"),
]


def tell(act: str, folder: Path, pictures: Path, screen: dict[str, str], *more: str) -> str:
    bus = ["dbus-run-session", "--"] if act == "away" else []
    line = [*bus, sys.executable, "-m", "tests.whole.window.window_story", act, str(folder), str(pictures), *more]
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


def test_joining_is_one_dialog_from_silo_to_a_link(tmp_path: Path, start: Callable[..., Program]) -> None:
    relay = start("relay", "relay", "--listen", "127.0.0.1:0")
    with a_display("1600x1200", tray=True) as screen:
        answer = tell("join", tmp_path / "node", tmp_path, screen, address(relay))
    assert "wss://127.0.0.1:9 does not answer" in answer


@pytest.mark.skipif(
    not (wayland_can_be_had() and shutil.which("dbus-run-session")), reason="weston or dbus-run-session is missing"
)
def test_without_a_tray_on_wayland_closing_says_where_it_goes_and_notifications_bring_it_back(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as sockets, a_wayland(Path(sockets)) as screen:
        tell("away", tmp_path / "node", tmp_path, screen)
