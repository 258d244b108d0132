"""Downloads one model: lists its files, checks the disk space, downloads them one by one, checks, installs.

huggingface_hub downloads into its own cache in the models folder, from which complete files move to the model's place.
Small files come first, so that an unusable model is refused before its weights are downloaded. This runs in its own
process (models/service.py), and a cancel ends that process.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from sapo_desktop.core.errors import DownloadError
from sapo_desktop.core.files.durable import disk_errors_as
from sapo_desktop.core.models import Access, Installed, Kept, KeptFile, ModelSpec, kept_already
from sapo_desktop.core.network.pace import Pace
from sapo_desktop.core.sentences import Text, joined, sentence
from sapo_desktop.models.files.check import (
    FreeSpace,
    check_model,
    check_room,
    check_small_files,
    free_space,
    naming,
)
from sapo_desktop.models.files.choice import choose, kind_of_files
from sapo_desktop.models.files.folder import file_hash
from sapo_desktop.models.files.hub import Bar, Hub, Listed
from sapo_desktop.models.files.locate import at_hand
from sapo_desktop.models.files.names import kind_of
from sapo_desktop.models.files.progress import Progress, Report
from sapo_desktop.models.files.store import COMMIT, KnownHash, Store

MAIN = "main"
_ADVICE = sentence("A mirror may be at fault. Set HF_ENDPOINT to another, or import the model from a folder.")
_STEP = 0.25
"""The longest single wait in seconds, so that a new rate applies soon."""


def download(
    store: Store,
    spec: ModelSpec,
    access: Access,
    report: Report,
    *,
    pace: Pace | None = None,
    between: Callable[[], None] = lambda: None,
    free: FreeSpace = free_space,
    sleep: Callable[[float], None] = time.sleep,
) -> Kept:
    """Download the model into the models folder.

    Args:
        pace: limits the rate.
        between: called at every step; it may change the pace.

    Raises:
        DownloadError: it is not available; complete files are kept.
        ModelError: it is not usable.
    """
    with (
        disk_errors_as(
            DownloadError,
            sentence("{name} could not be downloaded to {folder}", name=spec.name, folder=str(store.root)),
        ),
        store.lock(spec.name),
    ):
        store.sweep()
        if (installed := at_hand(store, spec)) is not None:
            store.discard_staging(spec.name)
            return kept_already(installed, str(store.root))
        hub = Hub(access, sleep, patient=spec.package is None)
        with Progress(report) as progress:
            return _Download(store, spec, hub, progress, pace or Pace(access.most_bytes), between, free).run()


class _Download:
    """One run of a download."""

    def __init__(
        self,
        store: Store,
        spec: ModelSpec,
        hub: Hub,
        progress: Progress,
        pace: Pace,
        between: Callable[[], None],
        free: FreeSpace,
    ) -> None:
        self._store, self._spec, self._hub = store, spec, hub
        self._progress, self._pace, self._between, self._free = progress, pace, between, free
        self._cache = store.staging(spec.name) / "hub"
        self._staged = store.staging(spec.name) / "files"

    def run(self) -> Kept:
        """From the first request to the installed model."""
        spec, store = self._spec, self._store
        self._progress.say("asking")
        revision = spec.revision or store.known_commit(spec.repository) or MAIN
        listing = self._hub.listing(spec.repository, revision, self._waiting)
        chosen = choose(spec.repository, [file.name for file in listing.files], spec.only, spec.quantisation)
        kind = kind_of_files(chosen)
        wanted = sorted((file for file in listing.files if file.name in set(chosen)), key=_small_first)
        known = {file.name: store.known_hash(spec.repository, listing.commit, file.name) for file in wanted}
        for file in wanted:
            _check_unchanged(spec.repository, file, known[file.name])
        self._progress.total = sum(file.bytes for file in wanted)
        self._tidy()
        check_room(store.root, self._progress.total - _whole_bytes(self._cache), spec.name, self._free)
        here: dict[str, Path] = {}
        kept: dict[str, KeptFile] = {}
        for file in wanted:
            if kind == "transformers" and kind_of(file.name) == "weights" and here:
                folder = next(iter(here.values())).parent
                with naming(folder, spec.repository):
                    check_small_files(folder, [one.name for one in wanted])
            here[file.name] = self._fetched(file, listing.commit)
            kept[file.name] = self._verified(file, here[file.name], known[file.name])
            self._progress.finished(kept[file.name].bytes)
        self._progress.say("finishing")
        self._move(here)
        with naming(self._staged, spec.repository):
            why = check_model(self._staged, kind)
        now = time.time()
        seen = {name: KnownHash(sha256=one.sha256, bytes=one.bytes, first=now) for name, one in kept.items()}
        store.fix(spec.repository, listing.commit, seen, branch=not spec.revision)
        model = Installed(
            name=spec.name,
            kind=kind,
            source=spec.repository,
            revision=listing.commit,
            endpoint=self._hub.endpoint,
            installed=now,
            files=kept,
            only_answers=bool(why),
        )
        path = store.install(self._staged, model)
        store.discard_staging(spec.name)
        return Kept(model=model, path=str(path), notes=[why] if why else [])

    def _fetched(self, file: Listed, commit: str) -> Path:
        def bar() -> type[Bar]:
            self._progress.begin(file.name)
            return type("OneBar", (Bar,), {"arrived": self._arrived})

        return self._hub.file(self._spec.repository, commit, file.name, self._cache, bar, self._waiting)

    def _arrived(self, count: int) -> None:
        """Called by the library for each piece; the library waits for it, which enforces the rate."""
        self._progress.arrived(count)
        self._between()
        self._pace.note(max(0, count))
        while (wait := self._pace.wait()) > 0:
            time.sleep(min(_STEP, wait))
            self._between()

    def _verified(self, file: Listed, path: Path, known: KnownHash | None) -> KeptFile:
        """Compare the file with the hub's hash, and with its hash at an earlier download. Raises DownloadError."""
        self._progress.say("checking", file.name)
        sha256, size = file_hash(path.resolve()), path.stat().st_size
        expected = known.sha256 if known else file.sha256
        small = file.sha256 is None and file.blob is not None and COMMIT.fullmatch(file.blob)
        if (expected in (None, sha256)) and (not small or _git_hash(path, size) == file.blob):
            return KeptFile(bytes=size, sha256=sha256)
        path.resolve().unlink()
        raise DownloadError(
            "{name} has an unexpected SHA-256 ({found}...) and was deleted. A proxy or mirror may be at "
            "fault. Try again, set HF_ENDPOINT to another, or import the model from a folder.",
            name=file.name,
            found=sha256[:16],
        )

    def _move(self, here: dict[str, Path]) -> None:
        """Move the files out of the library's cache into a clean folder."""
        shutil.rmtree(self._staged, ignore_errors=True)
        self._staged.mkdir(parents=True)
        for name, path in here.items():
            path.resolve().replace(self._staged / name)

    def _tidy(self) -> None:
        """Delete partial files of an earlier run, because the library starts each file again."""
        for path in self._cache.glob("models--*/blobs/*.incomplete"):
            path.unlink()

    def _waiting(self, text: Text) -> None:
        self._progress.say("waiting", text=text)


def _small_first(file: Listed) -> tuple[bool, str]:
    return kind_of(file.name) in ("weights", "gguf"), file.name


def _whole_bytes(cache: Path) -> int:
    """Bytes of files that an earlier run completed."""
    return sum(path.stat().st_size for path in cache.glob("models--*/blobs/*"))


def _check_unchanged(repository: str, file: Listed, known: KnownHash | None) -> None:
    """Refuse a file that differs from the known one according to the hub itself. Raises DownloadError."""
    if known is not None and (file.sha256 not in (None, known.sha256) or file.bytes != known.bytes):
        differs = sentence(
            "{name} of {repository} differs on the hub from the file downloaded here on {date}, so it is refused.",
            name=file.name,
            repository=repository,
            date=time.strftime("%Y-%m-%d", time.localtime(known.first)),
        )
        raise DownloadError(joined([differs, _ADVICE]))


def _git_hash(path: Path, size: int) -> str:
    """git's hash, which the hub uses for small files; an identifier here, not a protection."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)).hexdigest()
