"""Seconds since the last input, from a Wayland compositor with ext-idle-notify.

A compositor does not report durations, only when a second without input has passed and when input returns. So one
connection stays open and is read at each call.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path

_SECONDS = 2.0
_FIRST = 1.0
"""Seconds without input after which the compositor sends an event."""
_DISPLAY, _REGISTRY, _SYNC, _SEAT, _NOTIFIER, _NOTIFICATION = range(1, 7)
"""Our numbers of the objects."""
_SYNC_AND_REGISTRY = ((_DISPLAY, 1, _REGISTRY), (_DISPLAY, 0, _SYNC))


class IdleNotify:
    """One connection. `clock`: monotonic seconds.

    Raises OSError, here and at each call: there is no such compositor, or it ended.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: float | None = None
        self._data = b""
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.settimeout(_SECONDS)
            self._socket.connect(str(path))
            self._bind()
            self._socket.setblocking(False)
        except OSError:
            self.close()
            raise

    def idle(self) -> float:
        """Current seconds without input."""
        while True:
            try:
                self._receive()
            except BlockingIOError:
                break
        for number, opcode, _ in self._events():
            if number == _NOTIFICATION:
                self._since = self._clock() - _FIRST if opcode == 0 else None
        return 0.0 if self._since is None else self._clock() - self._since

    def close(self) -> None:
        self._socket.close()

    def _bind(self) -> None:
        for number, opcode, made in _SYNC_AND_REGISTRY:
            self._send(number, opcode, struct.pack("=I", made))
        found: dict[str, int] = {}
        while True:
            self._receive()
            for number, opcode, body in self._events():
                if number == _REGISTRY and opcode == 0:
                    name, length = struct.unpack_from("=II", body)
                    found.setdefault(body[8 : 8 + length - 1].decode(), name)
                if number == _SYNC:
                    return self._ask(found)

    def _ask(self, found: dict[str, int]) -> None:
        for interface, made in (("wl_seat", _SEAT), ("ext_idle_notifier_v1", _NOTIFIER)):
            if interface not in found:
                raise OSError(f"the Wayland compositor has no {interface}")
            text = interface.encode() + b"\0"
            text += bytes(-len(text) % 4)
            body = struct.pack("=II", found[interface], len(interface) + 1) + text + struct.pack("=II", 1, made)
            self._send(_REGISTRY, 0, body)
        self._send(_NOTIFIER, 1, struct.pack("=III", _NOTIFICATION, int(1000 * _FIRST), _SEAT))

    def _send(self, number: int, opcode: int, body: bytes) -> None:
        self._socket.sendall(struct.pack("=II", number, (8 + len(body)) << 16 | opcode) + body)

    def _receive(self) -> None:
        more = self._socket.recv(65_536)
        if not more:
            raise OSError("the Wayland compositor closed the connection")
        self._data += more

    def _events(self) -> list[tuple[int, int, bytes]]:
        """Complete events that arrived: object, opcode, body."""
        events = []
        while len(self._data) >= 8:
            number, head = struct.unpack_from("=II", self._data)
            length = max(8, head >> 16)
            if len(self._data) < length:
                break
            if number == _DISPLAY and head & 0xFFFF == 0:
                raise OSError("the Wayland compositor refuses the request")
            events.append((number, head & 0xFFFF, self._data[8:length]))
            self._data = self._data[length:]
        return events


def socket_path() -> Path | None:
    """The socket of the session's compositor; None: this is not a Wayland session."""
    name = os.environ.get("WAYLAND_DISPLAY")
    return Path(os.environ.get("XDG_RUNTIME_DIR", "/")) / name if name else None
