"""One connection's outgoing side, and limits on what it can cost.

Frames leave in order, as fast as the peer reads, and only a few wait: a peer that does not read is cut off.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from asyncio import constants
from asyncio.sslproto import SSLProtocol
from typing import Any, TypeAlias

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from sapo_desktop.core.network.connection import ENDING_SECONDS, BoundedConnection
from sapo_desktop.core.network.pace import Pace
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol.messages import SUBPROTOCOL
from sapo_desktop.swarm.protocol.session import Session

log = logging.getLogger(__name__)

CUT_OFF_BYTES = 4 * limits.SEND_QUEUE
_TLS_READ = 4 * limits.KIB
"""asyncio allocates 256 KiB for each TLS connection in advance: half a gigabyte for a relay with 2,000."""
_TLS_WAITING = 16 * limits.KIB
"""Data that was read and not handled yet, of a peer that sends faster than it is served; asyncio's default is
another 256 KiB."""
_OF_A_FRAME = 300
"""Python's memory per frame besides its bytes."""
PARTING_SECONDS = ENDING_SECONDS
"""Time for the last frames to be sent."""


class BoundedServer(BoundedConnection, ServerConnection):
    """A connection dialled by a peer."""

    most_unsent = CUT_OFF_BYTES


class BoundedClient(BoundedConnection, ClientConnection):
    """A connection that we dialled."""

    most_unsent = CUT_OFF_BYTES


Connection: TypeAlias = BoundedServer | BoundedClient


class Wire:
    """The outgoing side of one connection: frames in order, as fast as the peer reads, only a few at a time."""

    def __init__(self, connection: Connection, session: Session, pace: Pace) -> None:
        self._connection = connection
        self._pace = pace
        self._session = session
        # No deque and no Event, which contains one: each takes 600 bytes, and a relay has 2,000 wires.
        self._frames: list[bytes] = []
        self._asleep: asyncio.Future[None] | None = None
        """While there is nothing to send."""
        self._drained: asyncio.Event | None = None
        """Set while somebody waits until everything is sent."""
        self._is_over = False
        self._ending: asyncio.TimerHandle | None = None

    def put(self, frames: list[bytes]) -> None:
        if self._connection.transport.is_closing():
            return
        self._frames.extend(frames)
        # The session refuses new groups while this is high, so only requested answers can get here.
        self._session.backlog = sum(map(len, self._frames))
        if self._session.backlog > CUT_OFF_BYTES:
            log.info("A peer does not read what it is sent: cut off.")
            self.cut_off()
        elif self._frames and self._asleep is not None and not self._asleep.done():
            self._asleep.set_result(None)

    async def write(self) -> None:
        """Send the queued frames, until cancelled or the connection ends."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(ConnectionClosed):
            while True:
                while self._frames:
                    await self._pace.take(len(self._frames[0]))
                    if not self._frames:
                        break  # it was cut off
                    # Returns when the library's buffer is below its limit; until then the frame counts as backlog.
                    await self._connection.send(self._frames[0])
                    if self._frames:  # otherwise it was cut off
                        self._frames.pop(0)
                    self._session.backlog = sum(map(len, self._frames))
                self._tell_drained()
                self._asleep = loop.create_future()
                await self._asleep
        self._is_over = True
        self._tell_drained()

    @property
    def memory(self) -> int:
        """Bytes that wait in this process in either direction."""
        connection = self._connection
        arrived = connection.recv_messages.frames.queue
        received = connection.held + len(connection.protocol.reader.buffer)
        received += sum(len(frame.data) + _OF_A_FRAME for frame in arrived)
        return self._session.waiting + connection.transport.get_write_buffer_size() + received

    def cut_off(self) -> None:
        """End the connection at once, and drop everything that waits for it."""
        self._frames.clear()
        self._session.backlog = 0
        self._tell_drained()
        self._connection.transport.abort()

    async def drained(self) -> None:
        """Return when everything is sent, or can no longer be."""
        if self._frames and not self._is_over:
            self._drained = self._drained or asyncio.Event()
            await self._drained.wait()

    def _tell_drained(self) -> None:
        if self._drained is not None:
            self._drained.set()

    def end_soon(self) -> None:
        """Close the connection once, a second after the goodbye."""
        if self._ending is None:
            loop = asyncio.get_running_loop()
            self._ending = loop.call_later(PARTING_SECONDS, self.cut_off)


def options() -> dict[str, Any]:
    """Options of the library for both ends, so that peers cannot cause high costs. The session sends PINGs."""
    return {
        "subprotocols": [SUBPROTOCOL],
        "compression": None,
        "max_size": limits.MAX_FRAME,
        "max_queue": 2,
        "write_limit": limits.SEND_QUEUE,
        "open_timeout": limits.HANDSHAKE_SECONDS,
        "close_timeout": PARTING_SECONDS,
        "ping_interval": None,
        "logger": _quiet(),
    }


def read_tls_in_small_parts() -> None:
    """From now on asyncio's TLS connections in this process get small read buffers and small queues. asyncio has no
    public option for this."""
    SSLProtocol.max_size = _TLS_READ
    constants.FLOW_CONTROL_HIGH_WATER_SSL_READ = _TLS_WAITING // limits.KIB  # type: ignore[misc]


def tls_buffer() -> bytearray:
    """The read buffer shared by all connections of one event loop."""
    return bytearray(_TLS_READ)


def read_into(connection: Connection, shared: bytearray) -> None:
    """Make this connection read into `shared` instead of its own 4 KiB: a loop passes what it read to TLS before it
    reads anything else."""
    protocol = getattr(connection.transport, "_ssl_protocol", None)
    if isinstance(protocol, SSLProtocol):
        protocol._ssl_buffer, protocol._ssl_buffer_view = shared, memoryview(shared)  # type: ignore[attr-defined]


def tls_times(tls: ssl.SSLContext | None) -> dict[str, Any]:
    """Time limits of a half-finished TLS handshake, and of an unanswered TLS goodbye."""
    if tls is None:
        return {}
    return {"ssl_handshake_timeout": limits.HANDSHAKE_SECONDS, "ssl_shutdown_timeout": PARTING_SECONDS}


def remote_host(connection: Connection) -> str:
    """The peer's IP address according to the socket; empty if it is closed."""
    return str(connection.remote_address[0]) if connection.remote_address else ""


def _quiet() -> logging.Logger:
    """The library's own messages contain addresses; logs must not."""
    logger = logging.getLogger("websockets.swarm")
    logger.setLevel(logging.CRITICAL + 1)
    return logger
