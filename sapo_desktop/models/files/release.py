"""What is asked of a release's address: the manifest with its signature, and a file that a manifest names.

All is as with a hub (hub.py: deadlines, sizes, redirects, proxies), but there are no tokens, repositories or revisions.
Nothing that comes is believed here: the manifest is judged by who asked (core/updates/), a file by its hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import httpx2

from sapo_desktop.core.errors import DownloadError, NoRoom
from sapo_desktop.core.files.durable import disk_errors_as, sync_file, sync_folder
from sapo_desktop.core.models import Access, AskRelease, FetchRelease, ReleaseKept, ReleaseSays, Transfer
from sapo_desktop.core.network.pace import Pace
from sapo_desktop.core.sentences import Size, Text, sentence
from sapo_desktop.core.updates.manifest import LONGEST, LONGEST_SIGNATURE, NAME, SIGNATURE_NAME
from sapo_desktop.models.files.check import RESERVE
from sapo_desktop.models.files.download import Reporter, Surface
from sapo_desktop.models.files.hub import PASSING, Hub, Remote
from sapo_desktop.models.files.meter import Meter
from sapo_desktop.models.files.patience import Trouble
from sapo_desktop.models.files.transfer import FileTransfer, Surroundings, Wanted

_ADVICE = sentence("It was thrown away: try again later, or get it from the program's page.")


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
                        sentence(
                            "{name} of {host} has more than {most} bytes.", name=name, host=self.endpoint, most=most
                        )
                    )
        return bytes(content)

    def look_up(self, repository: str, commit: str, name: str) -> Remote:
        """Its address; what the file has to be, the manifest has said."""
        return Remote(url=f"{self.endpoint}/{name}", etag=None, bytes=None)

    def _check_status(self, response: httpx2.Response, repository: str, what: Text) -> None:
        if response.status_code >= 400 and response.status_code not in PASSING:
            raise DownloadError(
                sentence(
                    "{host} answers {status} to the request for {what}.",
                    host=response.url.host,
                    status=response.status_code,
                    what=what,
                )
            )
        super()._check_status(response, repository, what)


def ask_release(request: AskRelease, surface: Surface | None = None) -> ReleaseSays:
    """The manifest and its signature, asked for once each. Raises DownloadError."""
    patience = (surface or Surface()).patience
    try:
        with ReleaseHost(Access(endpoint=request.address), patience) as host:
            return ReleaseSays(
                document=host.document(NAME, LONGEST), signature=host.document(SIGNATURE_NAME, LONGEST_SIGNATURE)
            )
    except Trouble as trouble:
        raise DownloadError(trouble.text) from trouble


def fetch_release(
    request: FetchRelease, report: Callable[[Transfer], None], surface: Surface | None = None
) -> ReleaseKept:
    """Bring the file into the folder. It has its name only once its hash holds; what has another content stays.

    Raises:
        DownloadError: it cannot be had, or something else of that name is there; nothing is left of it.
    """
    surface = surface or Surface()
    folder = Path(request.folder)
    target, part = folder / request.name, folder / f".{request.name}.part"
    failed = sentence("{name} could not be downloaded to {folder}", name=request.name, folder=str(folder))
    with disk_errors_as(DownloadError, failed):
        folder.mkdir(parents=True, exist_ok=True)
        if target.exists():
            return _there_already(target, request)
        _check_room(folder, request.name, request.bytes, surface)
        try:
            _fetch(part, request, report, surface)
            sync_file(part)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
        sync_folder(folder)
    return ReleaseKept(path=str(target))


def _fetch(part: Path, request: FetchRelease, report: Callable[[Transfer], None], surface: Surface) -> None:
    meter = Meter(request.bytes)
    say = Reporter(report, meter, surface.clock)
    with say, ReleaseHost(Access(endpoint=request.address), surface.patience) as host:
        wanted = Wanted(
            repository=host.endpoint,
            commit="",
            name=request.name,
            remote=host.look_up("", "", request.name),
            bytes=request.bytes,
            sha256=request.sha256,
        )
        around = Surroundings(
            hub=host,
            meter=meter,
            say=say,
            identities={},
            keep_identities=lambda: None,
            check_room=lambda: _check_room(part.parent, request.name, meter.missing, surface),
            retries=lambda: surface.retries(surface.patience),
            clock=surface.clock,
            pace=Pace(request.most_bytes),
            advice=_ADVICE,
        )
        FileTransfer(part, wanted, around).run()


def _there_already(target: Path, request: FetchRelease) -> ReleaseKept:
    with target.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() == request.sha256:
            return ReleaseKept(path=str(target))
    raise DownloadError(
        sentence(
            "{path} is there already and is another file: move it away, or choose another folder.", path=str(target)
        )
    )


def _check_room(folder: Path, name: str, needed: int, surface: Surface) -> None:
    free = surface.free(folder)
    if free < needed + RESERVE:
        raise NoRoom(
            sentence(
                "{name} needs {size} more, and the disk of {folder} has {free} free, of which {reserve} are kept free: "
                "choose another folder.",
                name=name,
                size=Size(bytes=needed),
                folder=str(folder),
                free=Size(bytes=free),
                reserve=Size(bytes=RESERVE),
            )
        )
