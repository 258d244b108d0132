"""What is asked of a hub: which files a revision has, what is known of one, and its bytes from a given place.

huggingface_hub gives addresses and the client; docs/decisions/007 says why not the download. Here every answer has a
size, its head and each silence in it an end (patience.py). Redirects are followed by hand, so that the token stays with
the endpoint that it is for.
"""

from __future__ import annotations

import contextlib
import functools
import re
import ssl
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import NoReturn, Self
from urllib.parse import quote, urljoin, urlsplit

import httpx2
import msgspec
from huggingface_hub import hf_hub_url

from sapo_desktop import __version__
from sapo_desktop.core.errors import AccessRefused, DownloadError, UsageError
from sapo_desktop.core.files.reading import UNREADABLE
from sapo_desktop.core.models import Access
from sapo_desktop.core.network.proxies import Proxy, proxy_for_url
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.models.files.patience import Patience, Trouble

_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,127}")
COMMIT = re.compile(r"[0-9a-f]{40}")
_USED_UP = re.compile(r";\s*r=0\s*;\s*t=([0-9]{1,9})\b")
"""The hub's header RateLimit, where nothing remains: seconds until it begins anew."""
_LONGEST_LISTING = 20_000_000
_MOST_FILES = 1000
"""In the first folder of a repository, from which alone anything is taken."""
_MOST_REDIRECTS = 5
_TOLD = ("X-Repo-Commit", "X-Linked-Etag", "X-Linked-Size")
"""What a hub says of a file, in its answer or in a redirect."""
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
PASSING = {408, 425, 429, 500, 502, 503, 504}
"""Statuses that may be others at the next try."""


class _Large(msgspec.Struct, frozen=True):
    size: int | None = None


class _Sibling(msgspec.Struct, frozen=True):
    rfilename: str
    size: int | None = None
    lfs: _Large | None = None


class _Revision(msgspec.Struct, frozen=True):
    """The part of the hub's answer that is relied on."""

    sha: str
    siblings: list[_Sibling] = []


@dataclass(frozen=True)
class Listed:
    """A file of a listing."""

    name: str
    bytes: int | None


@dataclass(frozen=True)
class Listing:
    """A revision's commit, and its files."""

    commit: str
    files: list[Listed]


@dataclass(frozen=True)
class Remote:
    """What a hub says of a file before it sends it."""

    url: str
    """Where the bytes are; often elsewhere, and for a short while only."""
    etag: str | None
    bytes: int | None

    @property
    def sha256(self) -> str | None:
        """The hub's ETag of a large file is its SHA-256."""
        return self.etag if self.etag and re.fullmatch(r"[0-9a-f]{64}", self.etag) else None

    @property
    def blob(self) -> str | None:
        """The hub's ETag of a small file is git's hash of it."""
        return self.etag if self.etag and COMMIT.fullmatch(self.etag) else None


@dataclass(frozen=True)
class Body:
    """The bytes of a file from `start` on, up to `end`."""

    start: int
    end: int
    sized: bool
    """Whether the host says how many bytes come; else an end of the line looks like the end of the file."""
    chunks: Iterator[bytes]


def check_reference(repository: str, revision: str) -> None:
    """Refuse what cannot name a repository and a revision, before it becomes part of an address."""
    if not _REPOSITORY.fullmatch(repository):
        raise DownloadError(
            "'{reference}' names no repository: write OWNER/NAME, or OWNER/NAME@REVISION.", reference=repository
        )
    if not _REVISION.fullmatch(revision) or ".." in revision:
        raise DownloadError("'{revision}' names no revision: write a commit, a branch or a tag.", revision=revision)


class Hub:
    """One endpoint. `with` opens and closes its client."""

    def __init__(self, access: Access, patience: Patience) -> None:
        self.endpoint = checked_endpoint(access)
        self._token = access.token
        self._patience = patience
        self._proxy = access.proxy
        self._clients: dict[str, httpx2.Client] = {}
        """By the proxy that they ask through; empty: none."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        for client in self._clients.values():
            client.close()

    def listing(self, repository: str, revision: str) -> Listing:
        """The files of a revision.

        Raises:
            Trouble: worth another try.
            DownloadError: there is no such revision, or we may not see it.
        """
        url = f"{self.endpoint}/api/models/{repository}/revision/{quote(revision, safe='')}?blobs=true"
        with self._answer("GET", url) as response:
            self._check_status(response, repository, sentence("revision {revision}", revision=revision))
            raw = bytearray()
            for chunk in self._chunks(response):
                raw += chunk
                if len(raw) > _LONGEST_LISTING:
                    raise DownloadError(
                        "The list of files of {repository} is too long to be one: choose another model, or set another "
                        "hub_endpoint.",
                        repository=repository,
                    )
        try:
            found = msgspec.json.decode(raw, type=_Revision)
        except UNREADABLE as error:
            raise DownloadError(
                "{hub} does not answer as a hub does ({reason}): set another hub_endpoint.",
                hub=self.endpoint,
                reason=str(error),
            ) from error
        if not COMMIT.fullmatch(found.sha):
            raise DownloadError(
                "{hub} names no commit for {repository}@{revision}: set another hub_endpoint.",
                hub=self.endpoint,
                repository=repository,
                revision=revision,
            )
        files = [_listed(sibling) for sibling in found.siblings if "/" not in sibling.rfilename]
        if len(files) > _MOST_FILES:
            raise DownloadError(
                "{repository} lists {count} files in its first folder; a model has at most {most}. Choose another one.",
                repository=repository,
                count=len(files),
                most=_MOST_FILES,
            )
        return Listing(found.sha, files)

    def look_up(self, repository: str, commit: str, name: str) -> Remote:
        """What the hub says of a file. Raises as `listing`."""
        url = hf_hub_url(repository, name, revision=commit, endpoint=self.endpoint)
        told: dict[str, str] = {}
        with self._answer("HEAD", url, told=told) as response:
            self._check_status(response, repository, name)
            heads = response.headers
            said = told.get("X-Repo-Commit")
            if said != commit:
                raise DownloadError(
                    "{hub} answers for commit {other} of {repository} where {commit} was asked for: it is no hub, or "
                    "no exact mirror of one. Set another hub_endpoint.",
                    hub=self.endpoint,
                    other=said or sentence("(none)"),
                    repository=repository,
                    commit=commit,
                )
            size = told.get("X-Linked-Size") or (None if response.is_redirect else heads.get("Content-Length"))
            return Remote(
                url=_redirected(str(response.url), heads["Location"]) if response.is_redirect else str(response.url),
                etag=_plain_etag(told.get("X-Linked-Etag") or heads.get("ETag")),
                bytes=_number(size),
            )

    @contextlib.contextmanager
    def body(self, remote: Remote, repository: str, name: str, start: int, size: int) -> Iterator[Body]:
        """The file's bytes from `start` on, or from the beginning where the host gives no part of a file.

        Raises:
            Trouble: worth another try.
            DownloadError: it is refused.
        """
        headers = {"Range": f"bytes={start}-"} if start else {}
        with self._answer("GET", remote.url, headers) as response:
            if response.status_code == 403 and not self._is_ours(str(response.url)):
                # Signed ones end after a while.
                raise Trouble("The address of {name} was no longer good.", name=name)
            if response.status_code == 416:
                raise Trouble("The host of {name} has nothing from byte {start} on.", name=name, start=start)
            self._check_status(response, repository, name)
            if response.headers.get("Content-Encoding", "identity").lower() != "identity":
                raise Trouble("The host of {name} sends it compressed, though it was asked not to.", name=name)
            begins, end = _extent(response, start, size, name)
            length = response.headers.get("Content-Length")
            if length is not None and (found := _number(length)) != end - begins:
                raise Trouble(
                    "{host} has {found} bytes for {name} where {expected} were expected.",
                    host=response.url.host,
                    found=found or 0,
                    name=name,
                    expected=end - begins,
                )
            if begins < start and length is None:
                raise Trouble("The host of {name} has nothing from byte {start} on.", name=name, start=start)
            yield Body(begins, end, length is not None, self._chunks(response))

    # -- requests ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _answer(
        self, method: str, url: str, headers: dict[str, str] | None = None, *, told: dict[str, str] | None = None
    ) -> Iterator[httpx2.Response]:
        """The answer after redirects. `told` takes what the hub says of a file on the way; then a redirect to another
        host ends it, for that one has only the bytes."""
        try:
            response = self._follow(method, url, headers or {}, told)
        except httpx2.TimeoutException as error:
            raise Trouble("{host} does not answer.", host=_host(url)) from error
        except httpx2.HTTPError as error:
            self._explain(error, url)
        try:
            if response.status_code == 407 and (through := self._through(str(response.url))):
                raise DownloadError(through.refuses(_host(url), "HTTP 407"))
            yield response
        finally:
            response.close()

    def _follow(self, method: str, url: str, headers: dict[str, str], told: dict[str, str] | None) -> httpx2.Response:
        for _ in range(_MOST_REDIRECTS):
            response = self._send(method, url, headers)
            if told is not None:
                told |= {name: response.headers[name] for name in _TOLD if name in response.headers}
            if not response.is_redirect:
                return response
            try:
                target = _redirected(url, response.headers.get("Location", ""))
            except (DownloadError, Trouble):
                response.close()
                raise
            if told and not self._is_ours(target):
                return response
            response.close()
            url = target
        raise DownloadError(
            "{hub} redirects without end (more than {most} times): set another hub_endpoint, or try again later.",
            hub=self.endpoint,
            most=_MOST_REDIRECTS,
        )

    def _send(self, method: str, url: str, headers: dict[str, str]) -> httpx2.Response:
        client = self._client(url)
        whole = {"User-Agent": f"sapo-desktop/{__version__}", "Accept-Encoding": "identity", **headers}
        if self._token and self._is_ours(url):
            whole["Authorization"] = f"Bearer {self._token}"
        request = client.build_request(method, url, headers=whole, timeout=httpx2.Timeout(self._patience.silence))
        return _head(client, request, self._patience.head)

    def _client(self, url: str) -> httpx2.Client:
        """One for each proxy. Raises DownloadError: a proxy cannot be used."""
        through = self._through(url)
        name = through.url if through else ""
        if name not in self._clients:
            self._clients[name] = httpx2.Client(verify=_trusted(), proxy=name or None, trust_env=False)
        return self._clients[name]

    def _through(self, url: str) -> Proxy | None:
        try:
            return proxy_for_url(self._proxy, url)
        except UsageError as error:
            raise DownloadError(error.text) from error

    def _chunks(self, response: httpx2.Response) -> Iterator[bytes]:
        """The body piece by piece; too long a silence, or too slow a trickle, is Trouble."""
        patience, pieces = self._patience, response.iter_raw()
        window, counted = time.monotonic(), 0
        while True:
            try:
                piece = next(pieces, None)
            except httpx2.TimeoutException as error:
                raise Trouble("{host} stopped sending.", host=response.url.host) from error
            except httpx2.HTTPError as error:
                self._explain(error, str(response.url))
            if piece is None:
                return
            yield piece
            counted += len(piece)
            passed = time.monotonic() - window
            if passed > patience.window:
                if counted < patience.slowest * passed:
                    raise Trouble(
                        "{host} sends hardly anything ({speed} bytes a second).",
                        host=response.url.host,
                        speed=round(counted / passed),
                    )
                window, counted = time.monotonic(), 0

    def _explain(self, error: httpx2.HTTPError, url: str) -> NoReturn:
        """Passing troubles of the line as Trouble, the rest as what it is."""
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, ssl.SSLCertVerificationError):
                raise DownloadError(
                    "{host} does not prove who it is ({reason}). Check this computer's clock, and whether a "
                    "proxy stands in between.",
                    host=_host(url),
                    reason=cause.verify_message,
                ) from error
            cause = cause.__cause__ or cause.__context__
        through = self._through(url)
        if through and isinstance(error, httpx2.ProxyError):
            raise DownloadError(through.refuses(_host(url), f"HTTP {error}")) from error
        if through and isinstance(error, httpx2.ConnectError) and through.is_away(error):
            raise Trouble(through.unreachable(str(error))) from error
        if isinstance(error, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError):
            raise DownloadError(
                "{url} cannot be asked ({reason}). Look whether the address is right.", url=url, reason=str(error)
            ) from error
        raise Trouble(
            "The connection to {host} broke ({reason}).", host=_host(url), reason=str(error) or type(error).__name__
        ) from error

    def _is_ours(self, url: str) -> bool:
        """Whether the address is one of the endpoint itself, which may see the token."""
        return _origin(url) == _origin(self.endpoint)

    def _check_status(self, response: httpx2.Response, repository: str, what: Text) -> None:
        status, code = response.status_code, response.headers.get("X-Error-Code", "")
        if status < 400:
            return
        page = f"{self.endpoint}/{repository}"
        if status in PASSING:
            raise Trouble(
                "{host} answers {status} ({reason}).",
                _asked_wait(response.headers),
                host=response.url.host,
                status=status,
                reason=_meaning(status),
            )
        if code == "GatedRepo":
            raise AccessRefused("{repository} is gated. {advice}", repository=repository, advice=self._way_in(page))
        if status in (401, 403):
            raise AccessRefused(
                "The hub does not let us have {repository} ({status}): it is private or gated, or there is none "
                "of that name. {advice}",
                repository=repository,
                status=status,
                advice=self._way_in(page),
            )
        if code == "RepoNotFound" or (status == 404 and not code):
            raise DownloadError(
                "{hub} has no {repository}, or no {what} of it; look at {page}",
                hub=self.endpoint,
                repository=repository,
                what=what,
                page=page,
            )
        if status == 404:
            raise DownloadError(
                "{repository} has no {what}; look at {page}", repository=repository, what=what, page=page
            )
        raise DownloadError(
            "{host} answers {status} to the request for {what} of {repository}. Try again later, or set "
            "another hub_endpoint.",
            host=response.url.host,
            status=status,
            what=what,
            repository=repository,
        )

    def _way_in(self, page: str) -> Text:
        if self._token is None:
            return sentence(
                "Sign in at {page} and accept its licence there, make a token that may read it, and keep that here.",
                in_terminal="sapo-desktop models token set",
                page=page,
            )
        return sentence(
            "Accept its licence at {page} with the account of your token, or set another token.",
            in_terminal="sapo-desktop models token set",
            page=page,
        )


def _head(client: httpx2.Client, request: httpx2.Request, seconds: float) -> httpx2.Response:
    """The answer, of which the body is still to come. The library bounds each silence, and a head that comes byte by
    byte has none: so a thread waits for it, which ends with the head or the client where nobody waits any longer.

    Raises:
        Trouble: it did not come in time.
    """
    threads = ThreadPoolExecutor(1)
    sending = threads.submit(client.send, request, stream=True, follow_redirects=False)
    threads.shutdown(wait=False)
    try:
        return sending.result(seconds)
    except TimeoutError as error:
        sending.add_done_callback(_close)
        raise Trouble("{host} does not answer.", host=request.url.host) from error


def _close(late: Future[httpx2.Response]) -> None:
    if late.exception() is None:
        late.result().close()


def checked_endpoint(access: Access) -> str:
    """The endpoint as it stands before a path.

    Raises:
        DownloadError: it is no http(s) address, or the token would travel in the open.
    """
    endpoint = access.endpoint.rstrip("/")
    parts = urlsplit(endpoint) if _is_address(endpoint) else None
    if parts is None or parts.query or parts.fragment or parts.username:
        raise DownloadError(
            "'{endpoint}' is no address of a hub: write https://HOST, or https://HOST/PATH.", endpoint=access.endpoint
        )
    if access.token and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise DownloadError(
            "{endpoint} is not encrypted, so the token is not sent there: use https://, or forget the token.",
            in_terminal="sapo-desktop models token forget",
            endpoint=endpoint,
        )
    return endpoint


def _listed(sibling: _Sibling) -> Listed:
    size = sibling.size if sibling.size is not None else sibling.lfs.size if sibling.lfs else None
    return Listed(sibling.rfilename, size if size is not None and size >= 0 else None)


def _is_address(url: str) -> bool:
    """Whether somebody can be asked at it."""
    try:
        parts, _ = urlsplit(url), httpx2.URL(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except (ValueError, httpx2.InvalidURL):
        return False


def _redirected(url: str, location: str) -> str:
    """Where a redirect from `url` leads.

    Raises:
        Trouble: it does not say.
        DownloadError: nowhere, or where we do not go.
    """
    if not location:
        raise Trouble("{host} sends us on without saying where.", host=_host(url))
    try:
        target = urljoin(url, location)
        before, after = urlsplit(url).scheme, urlsplit(target).scheme
    except ValueError:
        target = ""
    if target and (after not in ("http", "https") or (before == "https" and after == "http")):
        raise DownloadError(
            "{host} sends us to '{target}', which is not followed. Try again later, or on another network.",
            host=_host(url),
            target=target[:80],
        )
    if not _is_address(target):
        raise DownloadError(
            "{host} sends us to '{location}', which is no address. Try again later, or on another network.",
            host=_host(url),
            location=location[:80],
        )
    return target


def _extent(response: httpx2.Response, start: int, size: int, name: str) -> tuple[int, int]:
    """From where to where the answer has the file: the part that was asked for, or all of it.

    Raises:
        Trouble: it is another part, or none.
    """
    if response.status_code == 200:
        return 0, size
    if response.status_code != 206:
        raise Trouble(
            "{host} answers {status} where {name} was asked for.",
            host=response.url.host,
            status=response.status_code,
            name=name,
        )
    return start, _end_of_range(response.headers.get("Content-Range", ""), start, size, name)


def _end_of_range(given: str, start: int, size: int, name: str) -> int:
    """The place after the last byte of the part."""
    match = re.fullmatch(rf"bytes {start}-([0-9]{{1,18}})/({size}|\*)", given)
    if match is None or not start <= int(match[1]) < size:
        raise Trouble(
            "The host of {name} sends another part than the one asked for ({given}).",
            name=name,
            given=given or sentence("unnamed"),
        )
    return int(match[1]) + 1


def _asked_wait(headers: httpx2.Headers) -> float | None:
    """Seconds that the server asks us to wait."""
    if used_up := _USED_UP.search(headers.get("RateLimit", "")):
        return float(used_up[1])
    text = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


@functools.cache
def _trusted() -> ssl.SSLContext:
    """What certificates are checked with; reading those of the system takes a large part of a second."""
    return httpx2.create_ssl_context()


def _number(text: str | None) -> int | None:
    """A count of bytes in a header."""
    return int(text) if text and re.fullmatch(r"[0-9]{1,18}", text) else None


def _plain_etag(text: str | None) -> str | None:
    return text.removeprefix("W/").strip('"') or None if text else None


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or (443 if parts.scheme == "https" else 80)


def _host(url: str) -> str:
    return urlsplit(url).hostname or url


def _meaning(status: int) -> Text:
    return sentence("too many requests") if status == 429 else sentence("it is busy or out of order")
