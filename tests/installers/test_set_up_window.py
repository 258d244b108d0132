"""The small window of a first set-up: what it shows, when there is one, and that Stop stops the tool at work."""

import io
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from installers.set_up_window import END_OF_PART, FAILED, Followed, is_done, is_wanted, part_done, set_up_window
from installers.trouble import SetupError
from tests.display import a_display, can_be_had

from .conftest import ROOT, Terminal

BEGIN = f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
PRESSED = """
from tkinter import ttk
class Pressed(ttk.Button):
    def __init__(self, *words, **options):
        super().__init__(*words, **options)
        self.after(1, self.invoke)
ttk.Button = Pressed
"""
STOPPED = """
from pathlib import Path
from installers.progress import Progress
from installers.set_up_window import set_up_window
try:
    with set_up_window(sys.stderr, True, sys.argv[1]) as out:
        progress = Progress(out, 1, Path(sys.argv[2]) / "log")
        with progress.step("Sleeping"):
            progress.run([sys.executable, "-c", "import time; time.sleep(3600)"])
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("[1/4] Environment (uv, Python 3.11.7) ...", 0.0),
        ("[2/4] Packages: 45 of 90 downloading numpy-2.4.6 (16.9 MB) (0:12)", 0.375),
        ("[2/4] torch: 50 of 200 MB (0:10)", 0.3125),
        ("[4/4] Packages: done in 0:31", 1.0),
        ("Set up in 1:31.", None),
    ],
)
def test_the_bar_follows_steps_and_what_they_count(line: str, part: float | None) -> None:
    assert part_done(line) == part


def test_it_is_over_only_when_the_last_step_says_so() -> None:
    assert is_done("[4/4] Packages: done in 0:31") and not is_done("[3/4] PyTorch: done in 0:31")
    assert not is_done("[4/4] Packages: 90 of 90 installing (0:30)")


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there always is a display")
@pytest.mark.parametrize(
    ("started", "env", "wanted"),
    [
        ([], {"DISPLAY": ":0"}, True),
        (["--data", "x"], {"WAYLAND_DISPLAY": "wayland-0"}, True),
        ([], {}, False),
        (["--terminal"], {"DISPLAY": ":0"}, False),
        (["--tray"], {"DISPLAY": ":0"}, False),
        (["run", "--silo"], {"DISPLAY": ":0"}, False),
    ],
)
def test_only_a_window_that_is_to_come_has_one_before(started: list[str], env: dict[str, str], wanted: bool) -> None:
    assert is_wanted(started, env) is wanted


@pytest.mark.parametrize(("out", "left"), [(io.StringIO(), "done\n"), (Terminal(), "\r\x1b[Kat work\r\x1b[Kdone\n")])
def test_the_terminal_shows_what_it_showed_without_a_window(out: io.StringIO, left: str) -> None:
    window = io.StringIO()
    stream = Followed(out, window)
    for text in ("\r\x1b[Kat work", "\r\x1b[Kdone\n"):
        stream.write(text)
    assert out.getvalue() == left and window.getvalue() == "at work\ndone\n"
    window.close()


def test_without_tkinter_the_terminal_goes_on_alone(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'No module named tkinter' >&2\nexit 1\n")
    broken.chmod(0o755)
    out = io.StringIO()
    with set_up_window(out, True, str(broken)) as given:
        assert given is out


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for the window")
def test_stop_ends_the_tool_at_work(tmp_path: Path) -> None:
    window = tmp_path / "window"
    window.write_text("#!/bin/sh\necho ready\nread line\necho stop\n")
    window.chmod(0o755)
    line = [sys.executable, "-c", BEGIN + STOPPED, str(window), str(tmp_path)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60)
    assert done.stdout == "stopped\n", done.stderr


@pytest.mark.skipif(not can_be_had() or not find_spec("_tkinter"), reason="apt-get install xvfb python3-tk")
@pytest.mark.parametrize(("more", "line", "said"), [("", "[1/2] Packages: 1 of 2\n", ""), (PRESSED, None, "stop\n")])
def test_the_window_ends_with_its_input_and_says_that_stop_was_pressed(more: str, line: str | None, said: str) -> None:
    code = f"{BEGIN}from installers.set_up_window import show\n{more}\nshow()"
    with a_display() as env, subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
    ) as window:  # fmt: skip
        assert window.stdin and window.stdout
        assert window.stdout.readline() == "ready\n"
        if line is not None:
            window.stdin.write(line)
            window.stdin.close()
        assert window.stdout.read() == said and window.wait(60) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for the window")
def test_a_failure_is_said_in_the_window_too(tmp_path: Path) -> None:
    window = tmp_path / "window"
    window.write_text(f"#!/bin/sh\necho ready\ncat > '{tmp_path}/part'\nmv '{tmp_path}/part' '{tmp_path}/heard'\n")
    window.chmod(0o755)
    with pytest.raises(SetupError), set_up_window(io.StringIO(), True, str(window)):
        raise SetupError("The disk is full.\nFree some.")
    until = time.monotonic() + 60
    while not (tmp_path / "heard").exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert (tmp_path / "heard").read_text() == f"{FAILED}The disk is full.{END_OF_PART}Free some.\n"
