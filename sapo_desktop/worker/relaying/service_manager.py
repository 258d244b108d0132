"""What a relay reports to the service manager that started it (sd_notify of systemd); elsewhere nothing is said."""

from __future__ import annotations

import os
import socket
import time

_ENOUGH_TO_START = 120
"""Seconds that each report of a slow start asks for."""


class ServiceManager:
    """Speaks to the socket in NOTIFY_SOCKET, which is taken out of the environment: no host process may use it."""

    def __init__(self) -> None:
        self._path = os.environ.pop("NOTIFY_SOCKET", "")
        watchdog = os.environ.pop("WATCHDOG_USEC", "")
        self.watchdog_seconds = int(watchdog) / 2e6 if watchdog.isdecimal() and int(watchdog) else None
        """How often `alive` is to be called; None: nobody waits for it."""

    def starting(self, status: str) -> None:
        """It takes longer, and what it does."""
        self._tell(f"STATUS={status}", f"EXTEND_TIMEOUT_USEC={_ENOUGH_TO_START * 1_000_000}")

    def ready(self, status: str) -> None:
        """Links are taken; also after `reloading`."""
        self._tell("READY=1", f"STATUS={status}")

    def alive(self, status: str) -> None:
        """Its event loop still turns."""
        self._tell("WATCHDOG=1", f"STATUS={status}")

    def reloading(self) -> None:
        """Bans and certificate are read again."""
        self._tell("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """It says goodbye to its links."""
        self._tell("STOPPING=1")

    def _tell(self, *lines: str) -> None:
        if not self._path:
            return
        address = f"\0{self._path[1:]}" if self._path.startswith("@") else self._path
        text = "\n".join(line.replace("\n", " ") for line in lines)
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
                line.sendto(text.encode(), address)
        except OSError:
            self._path = ""  # a manager that is gone
