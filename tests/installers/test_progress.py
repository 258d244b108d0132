import _thread
import errno
import io
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from installers.progress import Progress
from installers.trouble import CommandFailed

from .conftest import Terminal

PRINT = "print('Collecting numpy'); print('  Downloading numpy-2.4.6-cp311-x.whl (16.9 MB)'); print('Collecting rich')"
ASLEEP = [sys.executable, "-c", "import time; time.sleep(3600)"]


def test_a_step_says_which_of_how_many_and_how_long(tmp_path: Path) -> None:
    times = iter([0.0, 10.0, 75.0, 80.0])
    out = io.StringIO()
    progress = Progress(out, 2, tmp_path / "log", clock=lambda: next(times))
    with progress.step("Packages"):
        pass
    progress.finished()
    assert out.getvalue() == "[1/2] Packages ...\n[1/2] Packages: done in 1:05\nSet up in 1:20.\n"


def test_a_terminal_sees_what_is_fetched(tmp_path: Path) -> None:
    out = Terminal()
    progress = Progress(out, 1, tmp_path / "log", clock=lambda: 0.0)
    with progress.step("Packages", of=2):
        progress.run([sys.executable, "-c", PRINT])
    assert "Packages: 2 of 2 downloading numpy-2.4.6 (16.9 MB) (0:00)" in out.getvalue()
    assert "Collecting rich" in (tmp_path / "log").read_text()


def test_a_tool_that_fails_is_an_error_with_its_words(tmp_path: Path) -> None:
    progress = Progress(io.StringIO(), 1, tmp_path / "log")
    with pytest.raises(CommandFailed, match="It said:") as caught, progress.step("Packages"):
        progress.run([sys.executable, "-c", "import sys; print('oh'); sys.exit(3)"])
    assert caught.value.output == "oh\n"


def test_stop_while_a_tool_starts_does_not_leave_it_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    class Started(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, *words: Any, **options: Any) -> None:
            super().__init__(*words, **options)
            started.append(self)
            _thread.interrupt_main()
            for _ in range(1000):
                pass  # whatever Popen still does once the tool runs

    monkeypatch.setattr(subprocess, "Popen", Started)
    progress = Progress(io.StringIO(), steps=1, log=tmp_path / "log")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            progress.run(ASLEEP)
        assert started[0].wait(60) == -signal.SIGTERM
    finally:
        signal.signal(signal.SIGINT, before)
        started[0].kill()


def test_a_log_that_cannot_be_written_ends_the_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    progress = Progress(io.StringIO(), steps=1, log=tmp_path / "log")

    def full() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(progress, "_tick", full)
    with pytest.raises(OSError, match="No space"):
        progress.run(ASLEEP)  # which is over at once
