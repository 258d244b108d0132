"""Facts from an X server: seconds since the last input (its screen saver extension), and whether there is a tray.

Over its socket, with two requests each, because Xlib would end our process together with the server.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

_SECONDS = 2.0
_COOKIE = b"MIT-MAGIC-COOKIE-1"
_EXTENSION = b"MIT-SCREEN-SAVER"
_TRAY = b"_NET_SYSTEM_TRAY_S0"
_QUERY_EXTENSION, _QUERY_INFO = 98, 1
_INTERN_ATOM, _GET_SELECTION_OWNER = 16, 23
_LOCAL = re.compile(r"(?:unix)?:(\d+)(?:\.\d+)?")


def idle(display: str) -> float:
    """Seconds without input on a display of this computer, such as `:0`. Raises OSError if it cannot be asked."""
    with _speaking(display) as (server, root):
        name = _padded(_EXTENSION)
        server.sendall(struct.pack("=BxHHxx", _QUERY_EXTENSION, 2 + len(name) // 4, len(_EXTENSION)) + name)
        present, opcode = struct.unpack_from("=BB", _reply(server), 8)
        if not present:
            raise OSError("the X server has no screen saver extension")
        server.sendall(struct.pack("=BBHI", opcode, _QUERY_INFO, 2, root))
        (milliseconds,) = struct.unpack_from("=I", _reply(server), 16)
        return float(milliseconds) / 1000


def has_tray(display: str) -> bool:
    """Whether something shows tray icons on a display of this computer. Raises OSError if it cannot be asked."""
    with _speaking(display) as (server, _):
        name = _padded(_TRAY)
        server.sendall(struct.pack("=BBHHxx", _INTERN_ATOM, 0, 2 + len(name) // 4, len(_TRAY)) + name)
        (atom,) = struct.unpack_from("=I", _reply(server), 8)
        server.sendall(struct.pack("=BxHI", _GET_SELECTION_OWNER, 2, atom))
        (owner,) = struct.unpack_from("=I", _reply(server), 8)
        return bool(owner)


@contextlib.contextmanager
def _speaking(display: str) -> Iterator[tuple[socket.socket, int]]:
    """An open connection, and the root window."""
    match = _LOCAL.fullmatch(display)
    if match is None:
        raise OSError(f"the display {display} is not on this computer")
    with socket.socket(socket.AF_UNIX) as server:
        server.settimeout(_SECONDS)
        server.connect(f"/tmp/.X11-unix/X{match[1]}")
        yield server, _greet(server, _cookie(match[1].encode()))


def _greet(server: socket.socket, cookie: bytes) -> int:
    """Open the connection; returns the root window."""
    name = _COOKIE if cookie else b""
    order = b"l" if struct.pack("=H", 1)[0] else b"B"
    server.sendall(struct.pack("=cxHHHHxx", order, 11, 0, len(name), len(cookie)) + _padded(name) + _padded(cookie))
    granted, length = struct.unpack("=BxxxxxH", _exactly(server, 8))
    answer = _exactly(server, 4 * length)
    if granted != 1:
        raise OSError("the X server denies access")
    vendor, formats = struct.unpack_from("=H", answer, 16)[0], answer[21]
    (root,) = struct.unpack_from("=I", answer, 32 + (vendor + 3) // 4 * 4 + 8 * formats)
    return int(root)


def _reply(server: socket.socket) -> bytes:
    """The answer to the last request; all fit into 32 bytes."""
    while True:
        answer = _exactly(server, 32)
        if answer[0] == 0:
            raise OSError(f"the X server refuses the request (error {answer[1]})")
        if answer[0] == 1:
            return answer  # otherwise it is an unrequested event


def _cookie(number: bytes) -> bytes:
    """The secret of a display, from the user's file; empty if there is none."""
    path = Path(os.environ.get("XAUTHORITY") or Path.home() / ".Xauthority")
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return b""
    at, found = 0, b""
    while at + 2 <= len(data):
        at += 2  # the address's type
        parts = []
        for _ in range(4):  # address, display, name, secret
            (length,) = struct.unpack_from(">H", data.ljust(at + 2, b"\0"), at)
            parts.append(data[at + 2 : at + 2 + length])
            at += 2 + length
        if parts[2] == _COOKIE and parts[1] in (number, b""):
            found = parts[3]
            if parts[0] == socket.gethostname().encode():
                break
    return found


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _exactly(server: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = server.recv(count - len(data))
        if not more:
            raise OSError("the X server closed the connection")
        data += more
    return data
