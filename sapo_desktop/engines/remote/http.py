"""One server over HTTP: bounded replies, limited patience, errors as sentences.

The server belongs to the user, but it may be broken, busy, or the wrong one. Replies are bounded, its error texts are
shortened before anybody sees them, and redirects are not followed, because they would take the key along. Busy servers
and lost connections are retried with growing pauses. Left out: the content of requests and replies.
"""

from __future__ import annotations

import asyncio
import functools
import ssl
from collections.abc import Callable
from typing import Any, TypeVar

import httpx2
import msgspec

from sapo_desktop.core.errors import Explained, RemoteError, UsageError
from sapo_desktop.core.files.reading import UNREADABLE
from sapo_desktop.core.network.proxies import proxy_for_url
from sapo_desktop.core.sentences import Text, sentence

MOST_BYTES = 64 * 1024 * 1024
"""The limit of one reply: 64 answers of 8,192 tokens with their log-probabilities take about half of it."""
TRIES = 5
FIRST_PAUSE = 0.5
"""Seconds before the second try; doubled before each further one."""
LONGEST_PAUSE = 20.0
CONNECT_SECONDS = 10.0
_AGAIN = {408, 425, 429, 500, 502, 503, 504}
_LOOPBACK = {"localhost", "127.0.0.1", "::1", "[::1]"}

Content = TypeVar("Content")


class Refused(RemoteError):
    """The server refused the request; `status` is HTTP's."""

    def __init__(self, text: Text, status: int) -> None:
        super().__init__(text)
        self.status = status


class Unusable(Explained):
    """A reply is invalid; says briefly how."""


class Server:
    """Asks one server; use within `async with`.

    Args:
        url: of the server, with or without `/v1` at its end.
        key: sent as bearer token; None: none.
        seconds: time limit of one reply.
        proxy: the proxy, in the form of the setting `proxy`.

    Raises:
        UsageError: the proxy cannot be used.
    """

    def __init__(self, url: str, key: str | None, seconds: float, proxy: str = "") -> None:
        self.url = base_url(url)
        self._seconds = seconds
        address = httpx2.URL(self.url)
        near = address.host in _LOOPBACK
        self._proxy = proxy_for_url(proxy, self.url)
        self._client = httpx2.AsyncClient(
            verify=False if near and address.scheme == "http" else _trusted(),
            headers={"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {}),
            timeout=httpx2.Timeout(seconds, connect=CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=64),
            follow_redirects=False,
            proxy=self._proxy.url if self._proxy else None,
            trust_env=False,
        )

    async def __aenter__(self) -> Server:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def ask(self, path: str, body: Any | None, read: Callable[[bytes], Content], tries: int = TRIES) -> Content:
        """Return what `read` makes of the reply to POST `body`, or to GET if there is no body.

        Raises:
            Refused: the server refuses, and would do so again.
            RemoteError: every try fails: it cannot be reached, is busy, or `read` raises Unusable.
        """
        pause = FIRST_PAUSE
        for attempt in range(1, tries + 1):
            try:
                async with asyncio.timeout(self._seconds):  # a reply may also arrive drop by drop
                    raw = await self._once(path, body)
                return read(raw)
            except _Busy as busy:
                problem, pause = busy.text, max(pause, busy.seconds)
            except Unusable as unusable:
                problem = sentence(
                    "{url} sent an answer that cannot be used ({reason})", url=self.url, reason=unusable.text
                )
            except (httpx2.TimeoutException, TimeoutError):
                problem = sentence("{url} does not answer in time", url=self.url)
            except httpx2.DecodingError as error:
                problem = sentence(
                    "{url} sent an answer that cannot be unpacked ({reason})", url=self.url, reason=_short(str(error))
                )
            except httpx2.ProxyError as error:
                said = _short(str(error))
                raise RemoteError(self._proxy.refuses(self.url, f"HTTP {said}") if self._proxy else said) from error
            except (httpx2.RequestError, httpx2.StreamError) as error:
                said = _short(str(error)) or type(error).__name__
                if self._proxy and isinstance(error, httpx2.ConnectError) and self._proxy.is_away(error):
                    raise RemoteError(self._proxy.unreachable(said)) from error
                problem = sentence("{url} cannot be reached ({reason})", url=self.url, reason=said)
            if attempt < tries:
                await wait(min(pause, LONGEST_PAUSE))
                pause *= 2
        raise RemoteError(
            "{problem}. Check whether the server runs, and whether the setting remote_url names it.", problem=problem
        )

    async def _once(self, path: str, body: Any | None) -> bytes:
        content = None if body is None else msgspec.json.encode(body)
        headers = {} if body is None else {"Content-Type": "application/json"}
        method = "GET" if body is None else "POST"
        async with self._client.stream(method, self.url + path, content=content, headers=headers) as reply:
            raw = await _bounded(reply)
            if reply.status_code in _AGAIN:
                raise _Busy(
                    sentence(
                        "{url} is busy or broken ({reason})",
                        url=self.url,
                        reason=_said(reply.status_code, raw),
                    ),
                    _retry_after(reply),
                )
            if reply.status_code == 407 and self._proxy:
                raise RemoteError(self._proxy.refuses(self.url, "HTTP 407"))
            if reply.status_code in (401, 403):
                raise Refused(
                    sentence(
                        "{url} does not accept the key ({status}). Set it in SAPO_REMOTE_KEY, or with `sapo-desktop "
                        "remote-key`.",
                        url=self.url,
                        status=reply.status_code,
                    ),
                    reply.status_code,
                )
            if reply.status_code != 200:
                raise Refused(
                    sentence(
                        "{url} refuses ({reason}).",
                        url=self.url + path,
                        reason=_said(reply.status_code, raw),
                    ),
                    reply.status_code,
                )
            return raw


@functools.cache
def _trusted() -> ssl.SSLContext:
    """The TLS context; reading the system's certificates takes a large part of a second."""
    return httpx2.create_ssl_context()


class _Busy(Exception):
    def __init__(self, text: Text, seconds: float) -> None:
        super().__init__(text)
        self.text, self.seconds = text, seconds


def base_url(url: str) -> str:
    """The address of a server without a suffix that other clients expect in it.

    Raises:
        UsageError: it is not an address.
    """
    try:
        parsed = httpx2.URL(url.strip())
    except httpx2.InvalidURL as error:
        raise UsageError(
            "'{url}' is not the address of a server: {reason}. Write it as http://HOST:PORT or https://HOST.",
            url=url,
            reason=str(error),
        ) from error
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.userinfo or parsed.query:
        raise UsageError(
            "'{url}' is not the address of a server. Write it as http://HOST:PORT or https://HOST.", url=url
        )
    return str(parsed).rstrip("/").removesuffix("/v1").rstrip("/")


def in_the_clear(url: str) -> bool:
    """Whether traffic to this address, including a key, could be read in transit."""
    parsed = httpx2.URL(base_url(url))
    return parsed.scheme == "http" and parsed.host not in _LOOPBACK


async def wait(seconds: float) -> None:
    """The pause between two tries."""
    await asyncio.sleep(seconds)


async def _bounded(reply: httpx2.Response) -> bytes:
    parts, size = [], 0
    async for part in reply.aiter_bytes():
        size += len(part)
        if size > MOST_BYTES:
            raise Unusable("more than {count} MiB", count=MOST_BYTES // 2**20)
        parts.append(part)
    return b"".join(parts)


def _retry_after(reply: httpx2.Response) -> float:
    """Seconds that the server asks to wait; dates and invalid values count as none."""
    text = reply.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0.0


class _Detail(msgspec.Struct, frozen=True):
    message: str = ""


class _Error(msgspec.Struct, frozen=True):
    """The fields in which servers put the reason: `error.message`, `message`, `error_message` or `detail`."""

    error: _Detail | str = ""
    message: str = ""
    error_message: str = ""
    detail: Any = ""


def _said(status: int, raw: bytes) -> str:
    """The status and the server's message, short and plain."""
    try:
        found = msgspec.json.decode(raw, type=_Error)
    except UNREADABLE:
        return str(status)
    inner = found.error.message if isinstance(found.error, _Detail) else found.error
    text = _short(inner or found.message or found.error_message or str(found.detail or ""))
    return f"{status}: {text}" if text else str(status)


def _short(text: str) -> str:
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return plain if len(plain) <= 200 else plain[:199] + "…"
