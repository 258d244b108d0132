"""Reports of a relay to the service manager that started it (sd_notify of systemd); elsewhere they do nothing."""

from __future__ import annotations

import os
import socket
import time

_ENOUGH_TO_START = 120
"""Seconds that each report of a slow start requests."""


class ServiceManager:
    """Writes to the socket in NOTIFY_SOCKET, which is removed from the environment: no host process may use it."""

    def __init__(self) -> None:
        self._path = os.environ.pop("NOTIFY_SOCKET", "")
        watchdog = os.environ.pop("WATCHDOG_USEC", "")
        self.watchdog_seconds = int(watchdog) / 2e6 if watchdog.isdecimal() and int(watchdog) else None
        """How often to call `alive`; None: not needed."""

    def starting(self, status: str) -> None:
        """The start takes longer, with the current step."""
        self._tell(f"STATUS={status}", f"EXTEND_TIMEOUT_USEC={_ENOUGH_TO_START * 1_000_000}")

    def ready(self, status: str) -> None:
        """Links are accepted; also after `reloading`."""
        self._tell("READY=1", f"STATUS={status}")

    def alive(self, status: str) -> None:
        """The event loop runs."""
        self._tell("WATCHDOG=1", f"STATUS={status}")

    def reloading(self) -> None:
        """Bans and certificate are being reloaded."""
        self._tell("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """The relay is saying goodbye to its links."""
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
            self._path = ""  # the manager is gone
