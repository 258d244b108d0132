"""Keeps the computer from falling asleep by itself; whoever sends it to sleep by hand still can.

Linux: systemd-inhibit, macOS: caffeinate, each as a child that ends with us; Windows: a call for as long as this thread
lives. The last two are written from their documentation.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import sys

_SECONDS = 5.0
_CONTINUOUS, _SYSTEM_REQUIRED = 0x80000000, 0x00000001


class Awake:
    """Holds it awake, or no longer. To be used from one thread that lives as long as it is to hold."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self.held = False
        self._useless = False

    def follow(self, wanted: bool) -> bool:
        """Hold it awake, or no longer; False where this system offers no way to, or whoever held it gave up."""
        if self._child is not None and self._child.poll() is not None:
            self._useless = True
        if wanted == self.held and not self._useless:
            return True
        self._let_go()
        self.held = wanted and not self._useless and self._hold()
        return self.held or not wanted

    def _hold(self) -> bool:
        if sys.platform == "win32":
            return bool(ctypes.windll.kernel32.SetThreadExecutionState(_CONTINUOUS | _SYSTEM_REQUIRED))
        line = _command()
        if line is None:
            return False
        with contextlib.suppress(OSError):
            # The end of its input ends it, however we do.
            self._child = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        return self._child is not None

    def _let_go(self) -> None:
        if sys.platform == "win32":
            ctypes.windll.kernel32.SetThreadExecutionState(_CONTINUOUS)
        elif self._child is not None:
            assert self._child.stdin is not None
            self._child.terminate()
            self._child.stdin.close()
            try:
                self._child.wait(_SECONDS)
            except subprocess.TimeoutExpired:
                self._child.kill()
            self._child = None


def can_hold() -> bool:
    """Whether this system offers a way, and takes it up where that is tried for a moment."""
    if sys.platform == "win32":
        return True
    line = _command()
    if sys.platform == "darwin" or line is None:
        return line is not None
    try:  # in the place of what waits for the end of its input, something that ends at once
        tried = subprocess.run([*line[:-1], "true"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0


def _command() -> list[str] | None:
    if sys.platform == "darwin":
        return ["caffeinate", "-i", "-w", str(os.getpid())]
    if shutil.which("systemd-inhibit") is None:
        return None
    why = ("--who=SAPO Desktop", "--why=A model learns", "--mode=block")
    return ["systemd-inhibit", "--what=idle", *why, "cat"]
