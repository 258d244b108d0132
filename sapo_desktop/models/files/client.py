"""The HTTP client of downloads and update checks: its proxy, and its errors as sentences."""

from __future__ import annotations

import ssl
from typing import Any
from urllib.parse import urlsplit

import httpx2

from sapo_desktop.core.errors import DownloadError, Explained, UsageError
from sapo_desktop.core.models import AskRelease, ReleaseSays
from sapo_desktop.core.network.proxies import NO_PROXY, check_environment, check_proxy, proxy_for_url
from sapo_desktop.core.sentences import Text, Value, sentence
from sapo_desktop.core.updates.manifest import LONGEST, LONGEST_SIGNATURE, NAME, SIGNATURE_NAME

PASSING = {407, 408, 425, 429, 500, 502, 503, 504}
"""Statuses that may differ at the next try; 407 only if it is not from our own proxy."""
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class Trouble(Explained):
    """A problem that may be temporary."""

    def __init__(self, text: Text, **values: Value) -> None:
        super().__init__(text, in_terminal="", **values)


def client(proxy: str, **options: Any) -> httpx2.Client:
    """A client that uses the proxy of the setting, otherwise the environment's. Connections to this computer use no
    proxy.

    Raises:
        DownloadError: the proxy cannot be used.
    """
    try:
        named = check_proxy(proxy)
        if not named:
            check_environment()
    except UsageError as error:
        raise DownloadError(error.text) from error
    return httpx2.Client(
        proxy=named if named not in ("", NO_PROXY) else None,
        trust_env=not named,
        mounts={f"all://{host}": None for host in _LOOPBACK},
        follow_redirects=True,
        **options,
    )


def in_words(error: httpx2.HTTPError | httpx2.InvalidURL, url: str, proxy: str) -> DownloadError | Trouble:
    """The error of a request to `url`: a Trouble if a retry may help, otherwise a DownloadError."""
    host, reason = urlsplit(url).hostname or url, str(error) or type(error).__name__
    if isinstance(refused := _certificate(error), ssl.SSLCertVerificationError):
        return DownloadError(
            "{host} cannot prove its identity ({reason}). Check this computer's clock, and whether a "
            "proxy stands in between.",
            host=host,
            reason=refused.verify_message,
        )
    through = proxy_for_url(proxy, url)
    if through and isinstance(error, httpx2.ProxyError):
        return DownloadError(through.refuses(host, f"HTTP {error}"))
    if through and isinstance(error, httpx2.ConnectError) and through.is_away(error):
        return Trouble(through.unreachable(str(error)))
    if isinstance(error, httpx2.TimeoutException):
        return Trouble("{host} does not answer.", host=host)
    if isinstance(error, httpx2.TransportError) and not isinstance(
        error, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError
    ):
        return Trouble("The connection to {host} broke ({reason}).", host=host, reason=reason)
    return DownloadError(
        "{url} cannot be reached ({reason}). Check whether the address is right.", url=url, reason=reason
    )


def status_in_words(status: int, url: str, proxy: str) -> DownloadError | Trouble:
    """The meaning of a status if nothing better is known."""
    host = urlsplit(url).hostname or url
    if status == 407 and (through := proxy_for_url(proxy, url)):
        return DownloadError(through.refuses(host, "HTTP 407"))
    if status in PASSING:
        busy = sentence("too many requests") if status == 429 else sentence("it is busy or out of order")
        return Trouble("{host} answers {status} ({reason}).", host=host, status=status, reason=busy)
    return DownloadError("{host} answers {status}. Try again later.", host=host, status=status)


def _certificate(error: BaseException) -> BaseException | None:
    """The rejected certificate among the causes of an error."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLCertVerificationError):
        cause = cause.__cause__ or cause.__context__
    return cause


# What is asked of a release's address: the manifest with its signature. Nothing that comes is believed here: the
# manifest is judged by who asked (core/updates/).


_SILENCE = 30.0
"""Seconds between two pieces of an answer."""


def ask_release(request: AskRelease) -> ReleaseSays:
    """The manifest and its signature, one request each, for the caller to judge. Raises DownloadError."""
    with client(request.proxy, timeout=_SILENCE) as line:
        address = request.address.rstrip("/")
        return ReleaseSays(
            document=_document(line, f"{address}/{NAME}", LONGEST, request.proxy),
            signature=_document(line, f"{address}/{SIGNATURE_NAME}", LONGEST_SIGNATURE, request.proxy),
        )


def _document(line: httpx2.Client, url: str, most: int, proxy: str) -> bytes:
    """The content of a small file. Raises DownloadError."""
    content = bytearray()
    try:
        with line.stream("GET", url) as response:
            if response.status_code != 200:
                raise DownloadError(
                    "{url} answers {status}. Try again later, or check the app's page.",
                    url=url,
                    status=response.status_code,
                )
            for piece in response.iter_bytes():
                content += piece
                if len(content) > most:
                    raise DownloadError(
                        "{url} has more than {most} bytes, so it is not read. Try again later, or check "
                        "the app's page.",
                        url=url,
                        most=most,
                    )
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        said = in_words(error, url, proxy)
        if isinstance(said, Trouble):
            raise DownloadError("{trouble} Try again later.", trouble=said.text) from error
        raise said from error
    return bytes(content)
