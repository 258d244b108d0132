"""The limits of the examiner's process, each tried in its own process."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sapo_desktop.tasks.limits import TimeLimitReached, time_limit

ROOT = Path(__file__).resolve().parents[3]
POSIX = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no CPU timer")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="these limits are Linux's")
START = """
import sys
from sapo_desktop.tasks.limits import apply_limits
said = apply_limits()
"""


def limited(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a limited process whose output goes to pipes."""
    return subprocess.run(
        [sys.executable, "-c", START + code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.system('touch touched')",
        "import subprocess; subprocess.run(['touch', 'touched'])",
        "open('touched', 'w')",
        "open('touched', 'xb')",
        "import os; os.open('touched', os.O_CREAT | os.O_WRONLY)",
        "import os; os.mkdir('touched')",
        "import os; os.remove(__import__('sys').executable)",
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "import socket; socket.socket().bind(('127.0.0.1', 0))",
        "import os; os.execv('/bin/true', ['true'])",
        "import os; os.fork()",
    ],
)
def test_the_hook_refuses(code: str, tmp_path: Path) -> None:
    finished = limited(code, tmp_path)
    assert "PermissionError: The examiner may not" in finished.stderr
    assert list(tmp_path.iterdir()) == []


def test_reading_and_printing_still_work(tmp_path: Path) -> None:
    (tmp_path / "read").write_text("words")
    finished = limited("print(open('read').read(), said.hook)", tmp_path)
    assert finished.stdout == "words held\n"


@LINUX
def test_memory_is_limited(tmp_path: Path) -> None:
    finished = limited("assert said.memory == 'held', said\nbytearray(600 * 1024 * 1024)", tmp_path)
    assert "MemoryError" in finished.stderr


@LINUX
def test_no_file_can_grow_even_without_the_hook(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("")
    code = (
        "assert said.writing == 'held', said\n"
        "import ctypes\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "file = libc.open(b'there', 1)\n"
        "print(libc.write(file, b'x', 1), ctypes.get_errno())\n"
    )
    finished = limited("import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n" + code, tmp_path)
    assert finished.stdout.startswith("-1 "), finished
    assert (tmp_path / "there").read_text() == ""


@POSIX
def test_time_is_cut_off_and_the_rest_goes_on() -> None:
    started = time.process_time()
    with pytest.raises(TimeLimitReached), time_limit(0.05):
        while True:
            pass
    assert time.process_time() - started < 1.0
    with time_limit(0.05):
        pass
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0


@POSIX
def test_a_library_that_swallows_everything_is_cut_off_too() -> None:
    def stubborn() -> None:
        try:
            while True:
                pass
        except:  # noqa: E722 - what libraries do
            return

    with pytest.raises(TimeLimitReached), time_limit(0.05):
        stubborn()


@POSIX
def test_waiting_is_not_work() -> None:
    waited = False
    with time_limit(0.02):
        time.sleep(0.1)
        waited = True
    assert waited
