"""One connection of the local server: one request and its reply, each part bounded in bytes and time.

h11 parses and writes HTTP/1.1. Each connection carries one request and is then closed, so parts of one request can
never be taken for the next. Left out: TLS (nothing leaves this computer), compression, upgrades.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from http import HTTPStatus

import h11
import msgspec

from sapo_desktop import __version__

HEAD_BYTES = 16 * 1024
"""Bytes of request line and headers together."""
BODY_BYTES = 1024 * 1024
ARRIVAL_SECONDS = 15.0
"""For a whole request, however slowly it is sent."""
WRITE_SECONDS = 30.0
"""How long a client may take to read what is written."""
PARTING_SECONDS = 1.0
PARTING_BYTES = 256 * 1024
"""Still read and dropped after an early reply; otherwise a client that is still sending would not see it."""
_CHUNK = 64 * 1024
_JSON = "application/json"


class ErrorInfo(msgspec.Struct, frozen=True, kw_only=True):
    """An error in the form of OpenAI's servers."""

    message: str
    type: str
    param: str | None = None
    code: str | None = None


class Rejected(Exception):
    """A request that gets an error as its reply."""

    def __init__(
        self, status: int, message: str, *, code: str, param: str | None = None, headers: Sequence[tuple[str, str]] = ()
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = tuple(headers)
        kind = "server_error" if status >= 500 else "rate_limit_error" if status == 429 else "invalid_request_error"
        self.info = ErrorInfo(message=message, type=kind, param=param, code=code)


class Gone(Exception):
    """The client has left, or sent something that is not HTTP."""


class Head(msgspec.Struct, frozen=True):
    """Request line and headers."""

    method: str
    path: str
    """Without the query."""
    headers: list[tuple[str, str]]

    def all(self, name: str) -> list[str]:
        """Every value of that header."""
        return [value for key, value in self.headers if key == name]


class Connection:
    """A client's connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES)
        self._without_body = False

    async def head(self) -> Head:
        """Read the request's head. Raises Rejected, Gone."""
        event = await self._next()
        if not isinstance(event, h11.Request):
            raise Gone
        self._without_body = event.method == b"HEAD"
        headers = [(key.decode("ascii"), value.decode("latin-1")) for key, value in event.headers]
        return Head(event.method.decode("ascii"), event.target.partition(b"?")[0].decode("latin-1"), headers)

    async def body(self) -> bytes:
        """Read the rest of the request. Raises Rejected, Gone."""
        parts: list[bytes] = []
        length = 0
        if self._http.they_are_waiting_for_100_continue:
            await self._write(self._http.send(h11.InformationalResponse(status_code=100, headers=[])))
        while isinstance(event := await self._next(), h11.Data):
            length += len(event.data)
            if length > BODY_BYTES:
                raise Rejected(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                    f"The request has more than {BODY_BYTES:,} bytes: send less text.",
                    code="request_too_large",
                )
            parts.append(bytes(event.data))
        return b"".join(parts)

    async def _next(self) -> h11.Request | h11.Data | h11.EndOfMessage:
        while True:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                status = error.error_status_hint
                raise Rejected(status, f"The request is not valid HTTP: {error}.", code="bad_request") from error
            if event is h11.NEED_DATA:
                try:
                    self._http.receive_data(await self._reader.read(_CHUNK))
                except OSError as error:
                    raise Gone from error
            elif isinstance(event, h11.Request | h11.Data | h11.EndOfMessage):
                return event
            else:  # the client has closed its side
                raise Gone

    async def until_gone(self) -> None:
        """Return once the client has closed its side; further data is dropped."""
        with contextlib.suppress(OSError):
            while await self._reader.read(_CHUNK):
                pass

    # -- the reply -------------------------------------------------------------------------------------------------

    @property
    def is_answered(self) -> bool:
        """Whether a reply was started."""
        return self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE)

    async def reply(self, body: msgspec.Struct, status: int = 200, headers: Sequence[tuple[str, str]] = ()) -> None:
        """A whole reply in JSON. Raises Gone."""
        content = msgspec.json.encode(body)
        sent = self._begin(status, _JSON, [("Content-Length", str(len(content))), *headers])
        await self._write(sent + (b"" if self._without_body else self._data(content)) + self._end())

    async def begin_stream(self) -> None:
        """Start a reply of server-sent events. Raises Gone."""
        await self._write(self._begin(200, "text/event-stream", []))

    async def send_event(self, body: msgspec.Struct) -> None:
        """Send an event. Raises Gone."""
        await self._write(self._data(b"data: " + msgspec.json.encode(body) + b"\n\n"))

    async def send_line(self, line: str) -> None:
        """Send a line that is not a JSON event. Raises Gone."""
        await self._write(self._data(f"{line}\n\n".encode()))

    async def end_stream(self) -> None:
        """End the stream. Raises Gone."""
        await self._write(self._end())

    def _begin(self, status: int, kind: str, headers: Sequence[tuple[str, str]]) -> bytes:
        always = [
            ("Content-Type", kind),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("Server", f"sapo-desktop/{__version__}"),
            ("Connection", "close"),
        ]
        return self._sent(
            h11.Response(status_code=status, reason=HTTPStatus(status).phrase, headers=[*always, *headers])
        )

    def _data(self, content: bytes) -> bytes:
        return self._sent(h11.Data(data=content))

    def _end(self) -> bytes:
        return self._sent(h11.EndOfMessage())

    def _sent(self, event: h11.Response | h11.Data | h11.EndOfMessage) -> bytes:
        return self._http.send(event) or b""

    async def _write(self, content: bytes | None) -> None:
        try:
            self._writer.write(content or b"")
            async with asyncio.timeout(WRITE_SECONDS):
                await self._writer.drain()
        except (OSError, TimeoutError) as error:
            raise Gone from error

    async def close(self) -> None:
        """Let the client read everything, then close."""
        left = PARTING_BYTES
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(PARTING_SECONDS):
                if self._writer.can_write_eof():
                    self._writer.write_eof()
                while left > 0 and (dropped := await self._reader.read(min(left, _CHUNK))):
                    left -= len(dropped)
        self.abort()

    def abort(self) -> None:
        """Close at once."""
        self._writer.transport.abort()
