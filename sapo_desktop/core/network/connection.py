"""Limits on what the peer of a websocket can cost; mixed into the library's connection classes.

The library parses everything that one read brought, up to 256 KiB, before any other task runs: 43,000 empty PINGs, each
answered. So it gets the bytes in slices, and no more of them while messages wait to be read. Frames that carry no whole
message (PING, PONG, CLOSE, fragments) have a rate limit, above which the connection is cut off. Once a connection is to
end, nothing more is read from it or written to it. The library itself is imported by the classes that mix this in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from sapo_desktop.core.network.bucket import Bucket

SMALL_AT_ONCE, SMALL_PER_SECOND = 32.0, 4.0
"""Limits for frames that carry no whole message. We send no such PINGs ourselves, and no fragments."""
ENDING_SECONDS = 1.0
"""How long a peer may take to close the connection after we announced its end."""
_SLICE = 1024
_MOST_DROPPED = 256 * 1024
"""What an honest peer may have had on its way at that moment."""
_CONTROL, _CONTINUED = 8, 0


class BoundedConnection:
    """Must precede the library's class among the bases."""

    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    protocol: Any
    recv_messages: Any
    drain_waiters: Any
    most_unsent: int | None = None
    """Bytes that may wait for a peer that does not read; with more, it is cut off."""
    flooded = False
    """Whether it was cut off for its frames."""
    when_flooded: Callable[[], None] | None = None
    """Called before it is cut off for that."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._small = Bucket(SMALL_AT_ONCE, SMALL_PER_SECOND, self.loop.time())
        self._held = bytearray()
        self._dropped = 0
        self._ending: asyncio.TimerHandle | None = None
        super().connection_made(transport)  # type: ignore[misc]
        self.recv_messages.resume = self._resumed
        self.drain_waiters = []  # one at most; the library's deque takes 700 bytes per idle link

    def connection_lost(self, exc: Exception | None) -> None:
        self._held.clear()
        if self._ending is not None:
            self._ending.cancel()
        super().connection_lost(exc)  # type: ignore[misc]

    @property
    def held(self) -> int:
        """Bytes that arrived and were not parsed yet."""
        return len(self._held)

    def data_received(self, data: bytes) -> None:
        self._held += data
        self._take_apart()

    def process_event(self, event: Any) -> None:
        super().process_event(event)  # type: ignore[misc]
        opcode = getattr(event, "opcode", None)  # request and response have none
        if opcode is None or (_CONTINUED < opcode < _CONTROL and event.fin):
            return
        if not self._small.take(1, self.loop.time()) and not self.flooded:
            self.flooded = True
            if self.when_flooded is not None:
                self.when_flooded()

    def send_data(self) -> None:
        # Replaces the library's, which keeps writing to a transport that was lost meanwhile and logs each attempt.
        for data in self.protocol.data_to_send():
            if self.transport.is_closing():
                return
            if data:
                self.transport.write(data)
            elif self.transport.can_write_eof():
                self.transport.write_eof()
            else:
                self.transport.close()

    def _take_apart(self) -> None:
        while self._held and not self.recv_messages.paused:
            if self._is_over:
                self._drop()
                return
            piece = bytes(self._held[:_SLICE])
            del self._held[:_SLICE]
            super().data_received(piece)  # type: ignore[misc]
            unsent = self.transport.get_write_buffer_size()
            if self.flooded or (self.most_unsent is not None and unsent > self.most_unsent):
                self.transport.abort()
        if not self._held:
            self._held = bytearray()  # otherwise each idle link keeps the memory of what is gone
        if self.protocol.parser_exc is not None:
            self._end()

    @property
    def _is_over(self) -> bool:
        """Whether the peer can say nothing more: it closed, broke the rules, or was cut off."""
        protocol = self.protocol
        return self.transport.is_closing() or protocol.parser_exc is not None or protocol.close_rcvd is not None

    def _end(self) -> None:
        """Make sure that the connection ends, whether or not the peer closes it."""
        if self._ending is None:
            self._ending = self.loop.call_later(ENDING_SECONDS, self.transport.abort)

    def _drop(self) -> None:
        """Ignore everything that arrived. A peer that keeps sending is not even read from any more."""
        self._dropped += len(self._held)
        self._held.clear()
        self._end()
        if self._dropped > _MOST_DROPPED and not self.transport.is_closing():
            self.transport.pause_reading()

    def _resumed(self) -> None:
        """The arrived messages were read."""
        # Deferred, since this is called while a message is being read.
        self.loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        if self.transport.is_closing():
            return
        self._take_apart()
        # Also after the end: then it learns that the peer closed, too.
        if not self.recv_messages.paused and self._dropped <= _MOST_DROPPED:
            self.transport.resume_reading()
