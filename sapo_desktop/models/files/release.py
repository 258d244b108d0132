"""What is asked of a release's address: the manifest with its signature.

Nothing that comes is believed here: the manifest is judged by who asked (core/updates/).
"""

from __future__ import annotations

import httpx2

from sapo_desktop.core.errors import DownloadError
from sapo_desktop.core.models import AskRelease, ReleaseSays
from sapo_desktop.core.updates.manifest import LONGEST, LONGEST_SIGNATURE, NAME, SIGNATURE_NAME
from sapo_desktop.models.files.client import Trouble, client, in_words

_SILENCE = 30.0
"""Seconds between two pieces of an answer."""


def ask_release(request: AskRelease) -> ReleaseSays:
    """The manifest and its signature, asked for once each. Raises DownloadError."""
    with client(request.proxy, timeout=_SILENCE) as line:
        address = request.address.rstrip("/")
        return ReleaseSays(
            document=_document(line, f"{address}/{NAME}", LONGEST, request.proxy),
            signature=_document(line, f"{address}/{SIGNATURE_NAME}", LONGEST_SIGNATURE, request.proxy),
        )


def _document(line: httpx2.Client, url: str, most: int, proxy: str) -> bytes:
    """A small file, whole. Raises DownloadError."""
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
