"""Who may connect: the number of connections, and how many of them before they have proven a key.

A connection costs a descriptor once it is accepted, long before its peer says anything. So room is checked at that
moment, and a connection without room is closed at once. Among connections without a proven key, each network has a
limited number of places, and all together have a limit. If these are full, a newcomer from another network gets a place
of the largest network or, if none has more than one, of the slowest connection. A connection that leaves without a
proven key, or is cut off, keeps its place for a while; otherwise one network could open connections without limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, NamedTuple

from sapo_desktop.swarm.addresses.address import is_private, part_of_internet

MOST_UNPROVEN = 64
"""Connections without a proven key; further ones are refused."""
MOST_UNPROVEN_OF_ONE = 16
"""Maximum of these from one network."""
PLACE_SECONDS = 10.0
"""How long a place stays taken after a connection left without a proven key."""
SLOW_SECONDS = 3.0
"""Minimum time before a place can go to a newcomer from a network that has none: longer than an honest handshake."""
_AT_ONCE = 100
"""Connections refused in a row before other tasks run."""


class _Unproven(NamedTuple):
    """A connection before the proof: its network, what ends it, and when it began."""

    part: bytes
    end: Callable[[], None]
    since: float


class Door:
    """The places of one node, by the peer's address and port as `socket.accept` returns them.

    Args:
        most: concurrent connections.
        at_home: private addresses do not count as one network with a limited share.
    """

    def __init__(self, most: int, *, at_home: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._at_home = at_home
        self._unproven: dict[Any, _Unproven] = {}
        """Oldest first."""
        self._others: set[Any] = set()
        """Connections with a proven key, or that are ending and not closed yet."""
        self._clock = clock
        self._left: deque[tuple[float, bytes]] = deque()
        """Until when a place stays taken, and by which network; oldest first."""
        self._left_of: Counter[bytes] = Counter()

    def __len__(self) -> int:
        return len(self._unproven) + len(self._others)

    def has(self, peer: Any) -> bool:
        return peer in self._unproven or peer in self._others

    def enter(self, peer: Any, end: Callable[[], None]) -> bool:
        """Whether there is a place for this connection. `end` closes it, if another gets its place before it has
        proven a key."""
        host = str(peer[0]) if peer else ""
        part = part_of_internet(host)
        counts = Counter(one.part for one in self._unproven.values())
        self._free_places()
        taken = counts[part] + self._left_of[part]
        if taken >= MOST_UNPROVEN_OF_ONE and not (self._at_home and is_private(host)):
            return False
        if len(self) >= self._most + MOST_UNPROVEN:
            return False  # until the ended ones are closed
        if len(self) >= self._most or len(self._unproven) >= MOST_UNPROVEN:
            largest, count = max(counts.items(), key=lambda item: item[1], default=(part, 0))
            if count > counts[part] + 1:
                self._end(next(peer for peer, one in self._unproven.items() if one.part == largest))
            elif taken or not self._end_slowest():
                return False
        self._unproven[peer] = _Unproven(part, end, self._clock())
        return True

    def prove(self, peer: Any) -> None:
        """The peer has proven a key."""
        if self._unproven.pop(peer, None) is not None:
            self._others.add(peer)

    def distrust(self, peer: Any) -> None:
        """The connection was cut off for its content: its proven key no longer counts."""
        if peer in self._others:
            self._others.discard(peer)
            self._unproven[peer] = _Unproven(part_of_internet(str(peer[0])), lambda: None, self._clock())

    def leave(self, peer: Any) -> None:
        """The connection is closed."""
        unproven = self._unproven.pop(peer, None)
        if unproven is not None:
            self._left.append((self._clock() + PLACE_SECONDS, unproven.part))
            self._left_of[unproven.part] += 1
        self._others.discard(peer)

    def _free_places(self) -> None:
        while self._left and self._left[0][0] <= self._clock():
            _, part = self._left.popleft()
            self._left_of[part] -= 1
            if not self._left_of[part]:
                del self._left_of[part]

    def _end_slowest(self) -> bool:
        peer = next((peer for peer, one in self._unproven.items() if self._clock() - one.since >= SLOW_SECONDS), None)
        if peer is not None:
            self._end(peer)
        return peer is not None

    def _end(self, peer: Any) -> None:
        one = self._unproven.pop(peer)
        self._others.add(peer)
        one.end()


class _Accepted(socket.socket):
    """A connection that frees its place when it is closed, for any reason."""

    closed: Callable[[], None] | None = None

    def close(self) -> None:
        super().close()
        closed, self.closed = self.closed, None
        if closed is not None:
            closed()

    def cut(self) -> None:
        """End it for its reader, and close it."""
        with contextlib.suppress(OSError):  # the peer was faster
            self.shutdown(socket.SHUT_RDWR)


class _Listening(socket.socket):
    """A socket that accepts no connection without a free place.

    On Windows the event loop accepts by itself; there the place is checked afterwards.
    """

    door: Door

    def accept(self) -> tuple[socket.socket, Any]:
        for _ in range(_AT_ONCE):
            plain, peer = super().accept()
            accepted = _Accepted(plain.family, plain.type, plain.proto, fileno=plain.detach())
            if self.door.enter(peer, accepted.cut):
                accepted.closed = lambda peer=peer: self.door.leave(peer)
                return accepted, peer
            accepted.close()
        raise BlockingIOError


async def open_door(host: str, port: int, door: Door) -> list[socket.socket]:
    """Listening sockets at every address of the host. Raises OSError if one is not available."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    opened: list[socket.socket] = []
    try:
        for family, kind, protocol, _, where in dict.fromkeys(found):
            listening = _Listening(family, kind, protocol)
            opened.append(listening)
            listening.door = door
            if hasattr(socket, "SO_REUSEPORT"):  # elsewhere, the next option has another meaning
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listening.bind(where)
            listening.setblocking(False)
    except OSError:
        for one in opened:
            one.close()
        raise
    return opened
