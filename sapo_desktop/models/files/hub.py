"""Access to a hub through huggingface_hub: a revision's files, and downloads into the library's cache.

The library handles resumption between files, redirects, mirrors, Xet and tokens. Here its errors become sentences, and
temporary ones are retried (docs/decisions/007-downloads-by-the-hubs-library.md).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar
from urllib.parse import urlsplit

import httpx2
from huggingface_hub import HfApi, constants, hf_hub_download, set_client_factory
from huggingface_hub.errors import (
    FileMetadataError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from sapo_desktop import __version__
from sapo_desktop.core.errors import AccessRefused, DownloadError
from sapo_desktop.core.models import Access
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.models.files.client import Trouble, client, in_words, status_in_words
from sapo_desktop.models.files.store import COMMIT

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_WAITS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)
"""Seconds between tries, in addition to the library's."""
_MOST_FILES = 1000
"""In a repository's top folder; only its files are used."""
_LONGEST_PAGE = 20_000_000
"""Bytes of search results: fifty take about half a million."""
_PIECE = 1 << 16
"""Bytes between two reports. The library's own are 10 MB, a minute on a slow connection."""
Asked = TypeVar("Asked")
Say = Callable[[Text], None]


@dataclass(frozen=True)
class Listed:
    """A file of a revision, as the hub lists it."""

    name: str
    bytes: int
    sha256: str | None = None
    """For a large file."""
    blob: str | None = None
    """For a small file: git's hash of its content."""


@dataclass(frozen=True)
class Listing:
    """A revision's commit, and its files."""

    commit: str
    files: list[Listed]


class Bar:
    """Replaces a tqdm bar in the library and passes the bytes on. Subclassed for each file."""

    arrived: ClassVar[Callable[[int], None]]

    def __init__(self, *, total: int | None = None, initial: int = 0, **look: object) -> None:
        self.total, self.n = total, initial
        self.format_dict: dict[str, float | None] = {"rate": None}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        pass

    def update(self, n: int = 1) -> None:
        self.n += n
        type(self).arrived(n)

    def update_transfer(self, n: int) -> None:
        """Transferred bytes, which Xet counts separately from those of the file."""

    def refresh(self) -> None:
        pass

    def set_postfix_str(self, *text: object, **look: object) -> None:
        pass

    set_transfer_postfix_str = set_postfix_str

    def close(self) -> None:
        pass


NewBar = Callable[[], type[Bar]]


class Hub:
    """One endpoint, for one process: the library has one client.

    Args:
        sleep: waits between tries.
        patient: False if there is another source.
    """

    def __init__(self, access: Access, sleep: Callable[[float], None] = time.sleep, *, patient: bool = True) -> None:
        self.endpoint = checked_endpoint(access)
        self._access, self._sleep = access, sleep
        self._waits = _WAITS if patient else _WAITS[:2]
        client(access.proxy).close()  # report an unusable proxy before any request
        set_client_factory(lambda: client(access.proxy, timeout=30.0))
        constants.DOWNLOAD_CHUNK_SIZE = _PIECE
        # Xet ignores the rate and the setting's proxy.
        constants.HF_HUB_DISABLE_XET = constants.HF_HUB_DISABLE_XET or bool(access.most_bytes or access.proxy)
        self._token: str | bool = access.token or False
        self._api = HfApi(self.endpoint, self._token, "sapo-desktop", __version__)

    def listing(self, repository: str, revision: str, say: Say) -> Listing:
        """The files of a revision.

        Raises:
            DownloadError: there is no such revision, access is denied, or the hub cannot be reached.
        """

        def ask() -> Listing:
            with self._in_words(repository, sentence("revision {revision}", revision=revision)):
                found = self._api.model_info(repository, revision=revision, files_metadata=True)
                siblings = [one for one in found.siblings or () if "/" not in one.rfilename]
                files = [
                    Listed(one.rfilename, one.size or 0, one.lfs.sha256 if one.lfs else None, one.blob_id)
                    for one in siblings
                ]
                if not COMMIT.fullmatch(found.sha or ""):
                    raise ValueError("no commit")
            return Listing(found.sha or "", files)

        listing = self._persistently(ask, say)
        if COMMIT.fullmatch(revision) and listing.commit != revision:
            raise DownloadError(
                "{hub} answers with commit {commit} for {revision}, so it is not an exact mirror. Set "
                "HF_ENDPOINT to another.",
                hub=self.endpoint,
                commit=listing.commit,
                revision=revision,
            )
        if len(listing.files) > _MOST_FILES:
            raise DownloadError(
                "{repository} lists {count} files in its top folder, but a model has at most {most}. Choose "
                "another one.",
                repository=repository,
                count=len(listing.files),
                most=_MOST_FILES,
            )
        return listing

    def search(self, words: str, most: int) -> list[object]:
        """Models that generate text and whose names contain these words, the most downloaded first. A single request
        without a token.

        Raises:
            DownloadError: the hub cannot be reached or answers wrongly.
        """
        set_client_factory(lambda: client(self._access.proxy, timeout=30.0, event_hooks={"response": [_one_page]}))
        try:
            with self._in_words(words, sentence("models")):
                return list(
                    self._api.list_models(
                        search=words,
                        pipeline_tag="text-generation",
                        sort="downloads",
                        limit=most,
                        expand=["config", "downloads", "gated", "gguf", "safetensors", "siblings", "tags"],
                        token=False,
                    )
                )
        except AccessRefused as refused:
            raise DownloadError(
                "{hub} searches nothing without an account. Set HF_ENDPOINT to another hub, or download a model by its "
                "name.",
                hub=self.endpoint,
            ) from refused
        except Trouble as trouble:
            raise DownloadError("{trouble} Try again later.", trouble=trouble.text) from trouble

    def file(self, repository: str, commit: str, name: str, cache: Path, bar: NewBar, say: Say) -> Path:
        """The file's place in the cache, once it is complete. `bar`: called before each try. Raises as `listing`."""

        def ask() -> Path:
            with self._in_words(repository, name):
                seen: Any = bar()
                path = hf_hub_download(
                    repository,
                    name,
                    revision=commit,
                    cache_dir=cache,
                    endpoint=self.endpoint,
                    token=self._token,
                    library_name="sapo-desktop",
                    library_version=__version__,
                    tqdm_class=seen,
                )
            return Path(path)

        path = self._persistently(ask, say)
        if path.parent.name != commit:
            raise DownloadError(
                "{hub} answers for commit {other} of {repository} instead of {commit}, so it is not a hub, "
                "or not an exact mirror. Set HF_ENDPOINT to another.",
                hub=self.endpoint,
                other=path.parent.name,
                repository=repository,
                commit=commit,
            )
        return path

    def _persistently(self, ask: Callable[[], Asked], say: Say) -> Asked:
        """The result, with retries after temporary problems."""
        tries = len(self._waits) + 1
        for count, seconds in enumerate(self._waits, start=2):
            try:
                return ask()
            except Trouble as trouble:
                again = sentence(
                    "{trouble} Trying again in {seconds} s ({count} of {tries}).",
                    trouble=trouble.text,
                    seconds=round(seconds),
                    count=count,
                    tries=tries,
                )
                say(again)
                self._sleep(seconds)
        try:
            return ask()
        except Trouble as trouble:
            raise DownloadError(
                "{trouble} Stopped after {count} tries. Complete files are kept, so try again later.",
                trouble=trouble.text,
                count=tries,
            ) from trouble

    @contextlib.contextmanager
    def _in_words(self, repository: str, what: Text) -> Iterator[None]:
        """Turn the library's errors inside into Trouble, DownloadError or AccessRefused. Disk errors pass."""
        try:
            yield
        except LocalEntryNotFoundError as error:  # raised if the hub did not answer
            raise self._said(error.__cause__ or error, repository, what) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, HFValidationError) as error:
            raise self._said(error, repository, what) from error
        except OSError as error:
            if error.errno is not None:
                raise
            raise self._said(error, repository, what) from error  # fewer or more bytes than announced
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise self._said(error, repository, what) from error

    def _said(self, error: BaseException, repository: str, what: Text) -> Exception:
        page = f"{self.endpoint}/{repository}"
        match error:
            case GatedRepoError():
                return AccessRefused(
                    "{repository} is gated. {advice}", repository=repository, advice=self._way_in(page)
                )
            case RevisionNotFoundError() | RemoteEntryNotFoundError():
                return DownloadError(
                    "{repository} has no {what}. See {page}", repository=repository, what=what, page=page
                )
            case HfHubHTTPError(response=response) if response.status_code in (401, 403):
                return AccessRefused(
                    "The hub refuses access to {repository} ({status}). It is private or gated, or does not "
                    "exist. {advice}",
                    repository=repository,
                    status=response.status_code,
                    advice=self._way_in(page),
                )
            case RepositoryNotFoundError():
                return DownloadError(
                    "{hub} has no {repository}. See {page}", hub=self.endpoint, repository=repository, page=page
                )
            case HfHubHTTPError(response=response):
                return status_in_words(response.status_code, str(response.url), self._access.proxy)
            case httpx2.HTTPError() | httpx2.InvalidURL():
                return in_words(error, self.endpoint, self._access.proxy)
            case HFValidationError():
                return DownloadError(
                    "'{reference}' is not a repository. Write OWNER/NAME, or OWNER/NAME@REVISION.", reference=repository
                )
            case FileMetadataError() | ValueError() | TypeError() | KeyError() | AttributeError() | RecursionError():
                return DownloadError(
                    "{hub} does not answer like a hub ({reason}). Set HF_ENDPOINT to another.",
                    hub=self.endpoint,
                    reason=str(error).partition("\n")[0].partition(", so it")[0],
                )
        return Trouble("{what} arrived incomplete.", what=what)

    def _way_in(self, page: str) -> Text:
        if self._access.token is None:
            return sentence(
                "Sign in at {page}, accept the licence there, create a token that may read it, and save the "
                "token here.",
                in_terminal="sapo-desktop models token set",
                page=page,
            )
        return sentence(
            "Accept its licence at {page} with your token's account, or set another token.",
            in_terminal="sapo-desktop models token set",
            page=page,
        )


class _Limited(httpx2.SyncByteStream):
    """A body that raises an error if it is longer than a page of search results can be."""

    def __init__(self, stream: httpx2.SyncByteStream) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        came = 0
        for piece in self._stream:
            came += len(piece)
            if came > _LONGEST_PAGE:
                raise ValueError(f"more than {_LONGEST_PAGE // 1_000_000} MB")
            yield piece

    def close(self) -> None:
        self._stream.close()


def _one_page(response: httpx2.Response) -> None:
    """No compression, whose content could be endless, and no further pages."""
    assert isinstance(response.stream, httpx2.SyncByteStream)
    response.stream = _Limited(response.stream)
    for name in ("content-encoding", "link"):
        response.headers.pop(name, None)


def checked_endpoint(access: Access) -> str:
    """The endpoint in a form to which paths can be added.

    Raises:
        DownloadError: it is not an http(s) address, or the token would be sent unencrypted.
    """
    endpoint = access.endpoint.rstrip("/")
    try:
        parts, _ = urlsplit(endpoint), httpx2.URL(endpoint)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except (ValueError, httpx2.InvalidURL):
        usable = False
    if not usable or parts.query or parts.fragment or parts.username:
        raise DownloadError(
            "'{endpoint}' is not the address of a hub. Write https://HOST, or https://HOST/PATH.",
            endpoint=access.endpoint,
        )
    if access.token and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise DownloadError(
            "{endpoint} is not encrypted, so the token is not sent there. Use https://, or delete the token.",
            in_terminal="sapo-desktop models token forget",
            endpoint=endpoint,
        )
    return endpoint
