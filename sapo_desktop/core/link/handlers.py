"""The server's end of a link: which handler answers which request, and what becomes of an error.

    handlers = Handlers()
    handlers.on(GetUsage).by(self.usage)

A handler takes the request and returns its reply, which mypy checks.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar, cast

from sapo_desktop.core.errors import OutOfMemory, SapoError, bug
from sapo_desktop.core.link.requests import Failed, ReplyType, Request
from sapo_desktop.core.sentences import sentence

log = logging.getLogger(__name__)

Asked = TypeVar("Asked", bound=Request[object], covariant=True)
Handler = Callable[[Request[object]], Awaitable[object]]


class Handlers:
    """A table by request. `others`: tables whose requests it answers, too."""

    def __init__(self, *others: Handlers) -> None:
        self._handlers: dict[type[Request[object]], Handler] = {}
        for other in others:
            self._handlers |= other._handlers

    def on(self, kind: type[Asked]) -> Handled[Asked]:
        return Handled(kind, self._handlers)

    @property
    def kinds(self) -> frozenset[type[Request[object]]]:
        """The requests that are answered here."""
        return frozenset(self._handlers)

    async def answer(self, request: Request[ReplyType]) -> ReplyType:
        """Raises what the handler raises."""
        # `Handled.by` lets no handler in that returns something else.
        return cast(ReplyType, await self._handlers[type(request)](request))


class Handled(Generic[Asked]):
    """A kind of request that still needs its handler."""

    def __init__(self, kind: type[Asked], handlers: dict[type[Request[object]], Handler]) -> None:
        self._kind = kind
        self._handlers = handlers

    def by(self: Handled[Request[ReplyType]], handle: Callable[[Asked], Awaitable[ReplyType]]) -> None:
        self._handlers[self._kind] = cast(Handler, handle)


def failure(number: int, error: Exception, unexpected: type[SapoError]) -> Failed:
    """The answer to a call that failed. A bug is logged with its traceback, and becomes an `unexpected`."""
    if isinstance(error, SapoError):
        return Failed(id=number, error=type(error).__name__, text=error.text)
    log.error("A request failed because of a bug.", exc_info=error)
    if isinstance(error, MemoryError):
        said = sentence("Out of memory. {error}", error=str(error)) if str(error) else sentence("Out of memory.")
        return Failed(id=number, error=OutOfMemory.__name__, text=said)
    return Failed(id=number, error=unexpected.__name__, text=bug(f"{type(error).__name__}: {error}"))
