"""What keeps the peer of a websocket from costing more than it may; mixed into the library's connection classes.

The library takes apart all that one read brought, up to 256 KiB, before anybody else has a turn: 43,000 empty PINGs,
each answered. So bytes are handed to it in slices, no more of them while messages wait to be read; frames that carry
no message of their own (PING, PONG, CLOSE, parts of one) have a rate, above which the connection is cut off; and once
it is to end, nothing more is read from it or written to it. The library itself is imported by whoever mixes this in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from sapo_desktop.core.network.bucket import Bucket

SMALL_AT_ONCE, SMALL_PER_SECOND = 32.0, 4.0
"""Frames that carry no whole message. We send no such PING ourselves, and no message in parts."""
ENDING_SECONDS = 1.0
"""For whoever was told that the connection ends to close it."""
_SLICE = 1024
_MOST_DROPPED = 256 * 1024
"""What an honest peer may have had on its way when it was told."""
_CONTROL, _CONTINUED = 8, 0


class BoundedConnection:
    """Comes before the library's class among the bases."""

    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    protocol: Any
    recv_messages: Any
    drain_waiters: Any
    most_unsent: int | None = None
    """Bytes that may wait for a peer that does not read; more cut it off."""
    flooded = False
    """Whether it was cut off for its frames."""
    when_flooded: Callable[[], None] | None = None
    """Called before that."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._small = Bucket(SMALL_AT_ONCE, SMALL_PER_SECOND, self.loop.time())
        self._held = bytearray()
        self._dropped = 0
        self._ending: asyncio.TimerHandle | None = None
        super().connection_made(transport)  # type: ignore[misc]
        self.recv_messages.resume = self._resumed
        self.drain_waiters = []  # one at most; the library's deque takes 700 bytes of each idle link

    def connection_lost(self, exc: Exception | None) -> None:
        self._held.clear()
        if self._ending is not None:
            self._ending.cancel()
        super().connection_lost(exc)  # type: ignore[misc]

    @property
    def held(self) -> int:
        """Bytes that arrived and were not looked at yet."""
        return len(self._held)

    def data_received(self, data: bytes) -> None:
        self._held += data
        self._take_apart()

    def process_event(self, event: Any) -> None:
        super().process_event(event)  # type: ignore[misc]
        opcode = getattr(event, "opcode", None)  # the request and the response have none
        if opcode is None or (_CONTINUED < opcode < _CONTROL and event.fin):
            return
        if not self._small.take(1, self.loop.time()) and not self.flooded:
            self.flooded = True
            if self.when_flooded is not None:
                self.when_flooded()

    def send_data(self) -> None:
        # In place of the library's, which goes on writing to a transport that was lost on the way: a log line each.
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
            self._held = bytearray()  # else it keeps the room for what is gone: of each idle link
        if self.protocol.parser_exc is not None:
            self._end()

    @property
    def _is_over(self) -> bool:
        """Whether the peer has said its last: it closed, broke the rules, or was cut off."""
        protocol = self.protocol
        return self.transport.is_closing() or protocol.parser_exc is not None or protocol.close_rcvd is not None

    def _end(self) -> None:
        """See to it that the connection ends, whether or not the peer closes it."""
        if self._ending is None:
            self._ending = self.loop.call_later(ENDING_SECONDS, self.transport.abort)

    def _drop(self) -> None:
        """Look at nothing of what arrived; whoever sends on and on is not even read from any more."""
        self._dropped += len(self._held)
        self._held.clear()
        self._end()
        if self._dropped > _MOST_DROPPED and not self.transport.is_closing():
            self.transport.pause_reading()

    def _resumed(self) -> None:
        """The messages that arrived were read."""
        # Later, for this is called amidst the reading of one.
        self.loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        if self.transport.is_closing():
            return
        self._take_apart()
        # Also once it is over: what is read then is that the peer closed, too.
        if not self.recv_messages.paused and self._dropped <= _MOST_DROPPED:
            self.transport.resume_reading()
