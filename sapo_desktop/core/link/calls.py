"""The client's end of a link: requests that wait for their replies, whatever carries them.

This is the one place that pairs a reply with its request and fails everything that waits when the link ends. How long
to wait, and what a cancelled caller does, is the caller's choice: the window waits as long as its worker lives, and the
worker ends a host that does nothing (worker/hosts/hosting.py).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from sapo_desktop.core.errors import SapoError, error_class
from sapo_desktop.core.files.reading import UNREADABLE
from sapo_desktop.core.link.requests import (
    Call,
    Cancel,
    Failed,
    Note,
    Reply,
    ReplyType,
    Request,
    ToClient,
    ToServer,
    packed,
)

NoteType = TypeVar("NoteType")
OnNote = Callable[[msgspec.Raw], object]
"""Called with the body of a note. Raises one of UNREADABLE if it cannot be read, which ends the link."""
OnCall = Callable[["Pending"], Awaitable[object]]


def reading(decoder: msgspec.msgpack.Decoder[NoteType], then: Callable[[NoteType], object] | None) -> OnNote | None:
    """Decode each note for `then`, if there is one."""
    return None if then is None else lambda body: then(decoder.decode(body))


class Pending:
    """A call whose answer is awaited. It stays so until the server has answered, even if its caller leaves."""

    def __init__(self, number: int, on_note: OnNote | None = None) -> None:
        self.number = number
        self.answer: asyncio.Future[msgspec.Raw] = asyncio.get_running_loop().create_future()
        self._on_note = on_note
        self._instead: SapoError | None = None

    def give_up(self, error: SapoError) -> None:
        """From now on anything that arrives raises this error, even the reply."""
        self._instead = error

    def take(self, message: ToClient) -> None:
        match message:
            case Note(body=body):
                self._tell(body)
            case Failed(error=error, text=text):
                self.fail(error_class(error)(text))
            case Reply() if self._instead is not None:
                self.fail(self._instead)
            case Reply(body=body) if not self.answer.done():
                self.answer.set_result(body)

    def fail(self, error: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(self._instead or error)

    def _tell(self, body: msgspec.Raw) -> None:
        if self._on_note is None or self._instead is not None or self.answer.done():
            return
        try:
            self._on_note(body)
        except UNREADABLE:
            raise
        except Exception as error:  # noqa: BLE001 - the caller's own mistake goes back to the caller
            self.fail(error)

    def forget(self) -> None:
        """Nobody waits for the answer any more."""
        if not self.answer.cancel() and not self.answer.cancelled():
            self.answer.exception()  # retrieved, so that asyncio does not report it


class Calls:
    """The calls over one link, from its beginning to its end.

    Args:
        send: sends a message, or waits until `end` if the link has broken.
        on_note: called with the body of each note that belongs to no call.
    """

    def __init__(self, send: Callable[[ToServer], Awaitable[None]], on_note: OnNote | None = None) -> None:
        self._send = send
        self._on_note = on_note
        self._number = 0
        self._waiting: dict[int, Pending] = {}
        self._ended: SapoError | None = None
        self.cancels: set[asyncio.Task[None]] = set()
        """Those that are being sent."""

    def open(self, on_note: OnNote | None = None, number: int | None = None) -> Pending:
        """A call that waits for its answer from now on, until `close`. `number`: 0 for the server's start."""
        if number is None:
            self._number += 1
            number = self._number
        call = self._waiting[number] = Pending(number, on_note)
        if self._ended is not None:
            call.fail(self._ended)
        return call

    def close(self, call: Pending) -> None:
        call.forget()
        del self._waiting[call.number]

    async def ask(
        self,
        request: Request[ReplyType],
        call: Pending | None = None,
        *,
        aside: bool = False,
        wait: OnCall | None = None,
        leave: OnCall | None = None,
    ) -> ReplyType:
        """Send a request and return its reply.

        Args:
            call: the open call for it; None: a new one.
            aside: as in `Call`.
            wait: returns once the call is answered, or raises if that takes too long; None: waits forever.
            leave: called if our caller is cancelled; None: the server is informed, which takes the caller no time.

        Raises:
            SapoError: what the server raised, as its own class, or why the link ended.
            UNREADABLE: the reply is of another type.
        """
        call = call or self.open()
        try:
            await self._send(Call(id=call.number, body=packed(request), aside=aside))
            await (wait(call) if wait is not None else asyncio.wait({call.answer}))
            return msgspec.msgpack.decode(call.answer.result(), type=request.reply_type())
        except asyncio.CancelledError:
            await (leave or self._leave)(call)
            raise
        finally:
            self.close(call)

    async def cancel(self, call: Pending) -> None:
        """Inform the server that this answer is not needed."""
        with contextlib.suppress(SapoError):  # a link that has ended has nothing to cancel
            await self._send(Cancel(id=call.number))

    async def _leave(self, call: Pending) -> None:
        task = asyncio.create_task(self.cancel(call))
        self.cancels.add(task)
        task.add_done_callback(self.cancels.discard)

    def take(self, message: ToClient) -> None:
        """Something arrived. Raises one of UNREADABLE if its reader cannot read it."""
        if isinstance(message, Note) and message.id is None:
            if self._on_note is not None:
                self._on_note(message.body)
        elif (call := self._waiting.get(message.id or 0)) is not None:  # else nobody waits for it any more
            call.take(message)

    def end(self, error: SapoError) -> bool:
        """The link has ended: fail everything that waits, now and later. Returns whether anything did."""
        self._ended = error
        waiting = [call for call in self._waiting.values() if not call.answer.done()]
        for call in waiting:
            call.fail(error)
        return bool(waiting)
