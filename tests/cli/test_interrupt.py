"""Ctrl-C at every prompt, typed at a real terminal: the command ends at once, in one word and without a traceback."""

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

COMMAND = """
import fcntl, sys, termios
from sapo_desktop.cli import main
from sapo_desktop.worker.control.messages.replies import IdentityIs
from tests.cli.fake_node import FakeDoor, FakeNode
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
node = FakeNode(without_keyring=True)
if "unlock" in sys.argv:
    node.identity = IdentityIs(key="", kept="file")
code = main(sys.argv[1:], FakeDoor(node=node, there="there" in sys.argv[-1]))
sys.exit(code)
"""
ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60
PRESSES = 12
CTRL_C = b"\x03"


class Terminal:
    """A command at a terminal of its own, and what was read from there."""

    def __init__(self, *words: str) -> None:
        import pty

        self.screen = ""
        self._end, other = pty.openpty()
        environment = {name: text for name, text in os.environ.items() if name != "SAPO_PASSPHRASE"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, *words],
            stdin=other,
            stdout=other,
            stderr=other,
            cwd=ROOT,
            env=environment | {"PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )
        os.close(other)

    def until(self, text: str) -> None:
        """Read until the text stands there."""
        while text not in self.screen:
            read = self._read()
            assert read, f"ended at {self.screen!r}"
            self.screen += read

    def type(self, keys: bytes) -> None:
        os.write(self._end, keys)

    def interrupted(self) -> int:
        """Press Ctrl-C and read to the end; returns the exit code.

        Pressed again where nothing happens: a signal that comes in the microseconds before a read begins does not end
        the read, Python has no way to begin one that it would, and this test is as quick as that.
        """
        for _ in range(PRESSES):
            self.type(CTRL_C)
            while self._is_ready(PATIENCE / PRESSES):
                if not (read := self._read()):
                    return self.process.wait(PATIENCE)
                self.screen += read
        raise AssertionError(f"hangs at {self.screen!r}")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._end)

    def _is_ready(self, seconds: float) -> bool:
        return bool(select.select([self._end], [], [], seconds)[0])

    def _read(self) -> str:
        assert self._is_ready(PATIENCE), f"hangs at {self.screen!r}"
        try:
            return os.read(self._end, 4096).decode()
        except OSError:
            return ""  # Linux says so where nobody has the other end open any more


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for one in opened:
        one.close()


@pytest.mark.allowed_skip("Windows has no pseudo-terminals")
@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
@pytest.mark.parametrize(
    ("words", "typed", "prompt"),
    [
        (("peers", "found"), b"", "Passphrase: "),
        (("identity", "protect"), b"", "Passphrase: "),
        (("identity", "protect"), b"correct horse\n", "Once more: "),
        (("identity", "export", "me"), b"", "Passphrase: "),
        (("identity", "unlock"), b"", "Passphrase: "),
        (("run", "--share", "--rounds", "1"), b"", "[y/N] "),
        (("answer",), b"", "> "),
        (("remote-key", "http://127.0.0.1:9"), b"", "delete it): "),
        (("models", "token", "set"), b"", "Token for "),
    ],
    ids=["found", "protect", "twice", "export", "unlock", "consent", "answer", "key", "token"],
)
def test_ctrl_c_at_a_prompt_ends_the_command(
    tmp_path: Path, terminals: list[Terminal], words: tuple[str, ...], typed: bytes, prompt: str
) -> None:
    folder = tmp_path / ("there" if words[0] == "answer" else "node")
    folder.mkdir()
    words = tuple(str(tmp_path / word) if word == "me" else word for word in words)
    terminal = Terminal(*words, "--data", str(folder))
    terminals.append(terminal)
    if typed:
        terminal.until("Passphrase: ")
        terminal.type(typed)
    terminal.until(prompt)
    assert terminal.interrupted() == 1, terminal.screen
    *_, last = terminal.screen.strip().splitlines()
    assert last == "Interrupted."
    assert "Traceback" not in terminal.screen and "correct horse" not in terminal.screen
