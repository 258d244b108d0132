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
            self._child.wait()
            self._child = None


def _command() -> list[str] | None:
    if sys.platform == "darwin":
        return ["caffeinate", "-i", "-w", str(os.getpid())]
    if shutil.which("systemd-inhibit") is None:
        return None
    why = ("--who=SAPO Desktop", "--why=A model learns", "--mode=block")
    return ["systemd-inhibit", "--what=idle", *why, "cat"]
