"""Prevents automatic sleep; a person can still send the computer to sleep.

Linux: systemd-inhibit; macOS: caffeinate, each as a child that ends with us; Windows: a call that lasts as long as this
thread. The last two are written from documentation.
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
    """Keeps the computer awake or not. Use it from one thread that lives as long as it should last."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self.held = False
        self._useless = False

    def follow(self, wanted: bool) -> bool:
        """Keep it awake, or stop doing so; False if this system has no way, or the helper process ended."""
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
            # Its input ends when we do, which ends it.
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
    """Whether this system has a way that works in a short test."""
    if sys.platform == "win32":
        return True
    line = _command()
    if sys.platform == "darwin" or line is None:
        return line is not None
    try:  # instead of a program that waits for the end of its input, one that ends at once
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
