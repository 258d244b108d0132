"""What is asked of a release's address: the manifest with its signature.

All is as with a hub (hub.py: sizes, redirects, proxies), but there are no tokens, repositories or revisions. Nothing
that comes is believed here: the manifest is judged by who asked (core/updates/).
"""

from __future__ import annotations

import httpx2

from sapo_desktop.core.errors import DownloadError
from sapo_desktop.core.models import Access, AskRelease, ReleaseSays
from sapo_desktop.core.sentences import Text
from sapo_desktop.core.updates.manifest import LONGEST, LONGEST_SIGNATURE, NAME, SIGNATURE_NAME
from sapo_desktop.models.files.hub import PASSING, Hub
from sapo_desktop.models.files.patience import Patience, Trouble


class ReleaseHost(Hub):
    """The host of a release, asked in a hub's manner."""

    def document(self, name: str, most: int) -> bytes:
        """A small file, whole. Raises Trouble or DownloadError."""
        content = bytearray()
        with self._answer("GET", f"{self.endpoint}/{name}") as response:
            self._check_status(response, "", name)
            for piece in self._chunks(response):
                content += piece
                if len(content) > most:
                    raise DownloadError(
                        "{name} of {host} has more than {most} bytes, so it is not read. Try again later, or look at "
                        "the program's page.",
                        name=name,
                        host=self.endpoint,
                        most=most,
                    )
        return bytes(content)

    def _check_status(self, response: httpx2.Response, repository: str, what: Text) -> None:
        if response.status_code >= 400 and response.status_code not in PASSING:
            raise DownloadError(
                "{host} answers {status} to the request for {what}. Try again later, or look at the program's page.",
                host=response.url.host,
                status=response.status_code,
                what=what,
            )
        super()._check_status(response, repository, what)


def ask_release(request: AskRelease, patience: Patience | None = None) -> ReleaseSays:
    """The manifest and its signature, asked for once each. Raises DownloadError."""
    try:
        with ReleaseHost(Access(endpoint=request.address, proxy=request.proxy), patience or Patience()) as host:
            return ReleaseSays(
                document=host.document(NAME, LONGEST), signature=host.document(SIGNATURE_NAME, LONGEST_SIGNATURE)
            )
    except Trouble as trouble:
        raise DownloadError("{trouble} Try again later.", trouble=trouble.text) from trouble
