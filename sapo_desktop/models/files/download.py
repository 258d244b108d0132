"""Downloads one model: looks up its files, makes sure there is room, fetches them one by one, checks, installs.

Small files come first, so that a model of a kind that cannot be used is refused before its weights are fetched. What
was fetched stays until it is complete or removed: the same download later goes on from there. Runs in a process of its
own (models/service.py), whose end by any means is the way to cancel it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from sapo_desktop.core.errors import DownloadError, ModelError
from sapo_desktop.core.files.durable import disk_errors_as
from sapo_desktop.core.files.reading import read_json
from sapo_desktop.core.models import Access, Installed, Kept, KeptFile, ModelSpec, Stage, Transfer
from sapo_desktop.core.network.pace import Pace
from sapo_desktop.core.sentences import Text, joined, sentence
from sapo_desktop.models.files.check import FreeSpace, check_model, check_room, free_space, naming
from sapo_desktop.models.files.choice import choose, kind_of_files
from sapo_desktop.models.files.folder import check_before_weights
from sapo_desktop.models.files.hub import COMMIT, Hub, Listed, Remote, check_reference
from sapo_desktop.models.files.meter import Meter
from sapo_desktop.models.files.names import kind_of
from sapo_desktop.models.files.patience import Patience, Retries, Trouble
from sapo_desktop.models.files.store import KnownHash, Store
from sapo_desktop.models.files.transfer import FileTransfer, Identity, Surroundings, Wanted, bytes_present

Report = Callable[[Transfer], None]
Asked = TypeVar("Asked")
MAIN = "main"
_SECONDS_BETWEEN = 0.25
"""Between two reports of the same stage."""
_ADVICE = sentence("A mirror may be at fault: set another hub_endpoint, or import the model from a folder.")


@dataclass(frozen=True)
class Surface:
    """What a download touches beside hub and folder; tests put others in their place."""

    patience: Patience = field(default_factory=Patience)
    retries: Callable[[Patience], Retries] = Retries
    free: FreeSpace = free_space
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time


def download(store: Store, spec: ModelSpec, access: Access, report: Report, surface: Surface | None = None) -> Kept:
    """Bring the model into the models folder.

    Raises:
        DownloadError: it cannot be had; what has arrived is kept.
        ModelError: it is not one that can be used.
    """
    surface = surface or Surface()
    check_reference(spec.repository, spec.revision or MAIN)
    with (
        disk_errors_as(
            DownloadError,
            sentence("{name} could not be downloaded to {folder}", name=spec.name, folder=str(store.root)),
        ),
        store.lock(spec.name),
    ):
        store.sweep()
        if (installed := _installed(store, spec)) is not None:
            store.discard_staging(spec.name)
            return Kept(
                model=installed, path=str(store.folder(spec.name)), notes=[sentence("It was installed already.")]
            )
        with Hub(access, surface.patience) as hub:
            return _Download(store, spec, hub, report, surface, access.most_bytes).run()


def _installed(store: Store, spec: ModelSpec) -> Installed | None:
    """The model, where it is there already and whole; one whose files are damaged is fetched and put in its place.

    Raises:
        ModelError: what has its name is another one, or not known to be a model.
    """
    if not store.folder(spec.name).exists():
        return None
    found = store.manifest(spec.name)
    same = found.source == spec.repository and (not COMMIT.fullmatch(spec.revision) or found.revision == spec.revision)
    if not same:
        raise ModelError(
            "{name} is installed from {source}@{revision}: remove that one first.",
            in_terminal="sapo-desktop models remove {name}",
            name=spec.name,
            source=found.source,
            revision=found.revision or sentence("(import)"),
        )
    return None if store.damaged_file(found) else found


class _Download:
    """One run of it."""

    def __init__(
        self, store: Store, spec: ModelSpec, hub: Hub, report: Report, surface: Surface, most_bytes: int
    ) -> None:
        self._most_bytes = most_bytes
        self._store = store
        self._spec = spec
        self._hub = hub
        self._surface = surface
        self._meter = Meter()
        self._reporter = Reporter(report, self._meter, surface.clock)
        self._staging = store.staging(self._spec.name)
        self._files = self._staging / "files"
        self._identities: dict[str, Identity] = {}
        self._commit = ""

    def run(self) -> Kept:
        """From the first question to the installed model."""
        with self._reporter, naming(self._files, self._spec.repository):
            return self._run()

    def _run(self) -> Kept:
        listed = self._listed()
        kind = kind_of_files([file.name for file in listed])
        self._prepare(listed)
        wanted = [self._look_up(file) for file in listed]
        self._count(wanted)
        around = self._surroundings()
        kept: dict[str, KeptFile] = {}
        for file in sorted(wanted, key=_small_first):
            if kind == "transformers" and kind_of(file.name) == "weights":
                check_before_weights(self._files, [one.name for one in listed])
            kept[file.name] = FileTransfer(self._files / file.name, file, around).run()
        self._reporter("finishing", "", "")
        why = check_model(self._files, kind)
        self._fix(kept)
        model = Installed(
            name=self._spec.name,
            kind=kind,
            source=self._spec.repository,
            revision=self._commit,
            endpoint=self._hub.endpoint,
            installed=self._surface.now(),
            files=kept,
            only_answers=bool(why),
        )
        path = self._store.install(self._files, model)
        self._store.discard_staging(self._spec.name)
        return Kept(model=model, path=str(path), notes=[why] if why else [])

    # -- what to fetch ---------------------------------------------------------------------------------------------

    def _listed(self) -> list[Listed]:
        """The files, at a commit."""
        spec = self._spec
        revision = spec.revision or self._store.known_commit(spec.repository) or MAIN
        listing = self._asked(lambda: self._hub.listing(spec.repository, revision))
        if COMMIT.fullmatch(revision) and listing.commit != revision:
            raise DownloadError(
                "{hub} answers with commit {commit} for {revision}: it is no exact mirror, so set another "
                "hub_endpoint.",
                hub=self._hub.endpoint,
                commit=listing.commit,
                revision=revision,
            )
        self._commit = listing.commit
        return choose(spec.repository, listing.files, spec.only, spec.quantisation)

    def _look_up(self, file: Listed) -> Wanted:
        """What the hub says of the file, held against what it was at its first download here."""
        repository = self._spec.repository
        remote = self._asked(lambda: self._hub.look_up(repository, self._commit, file.name))
        known = self._store.known_hash(repository, self._commit, file.name)
        if known is not None:
            _check_unchanged(repository, file.name, known, remote)
        size = file.bytes if remote.bytes is None else remote.bytes
        if size is None:
            raise DownloadError(
                "{hub} does not say how long {name} of {repository} is: set another hub_endpoint.",
                hub=self._hub.endpoint,
                name=file.name,
                repository=repository,
            )
        sha256 = known.sha256 if known else remote.sha256
        return Wanted(repository, self._commit, file.name, remote, size, sha256)

    def _asked(self, ask: Callable[[], Asked]) -> Asked:
        """The hub's answer, asked for again after passing troubles."""
        retries = self._surface.retries(self._surface.patience)
        while True:
            self._reporter("asking", "", "")
            try:
                return ask()
            except Trouble as trouble:
                retries.wait(trouble, lambda text: self._reporter("waiting", "", text))

    # -- where it goes ---------------------------------------------------------------------------------------------

    def _prepare(self, files: list[Listed]) -> None:
        """The staging folder, with what an earlier run left of these files. Whether it is of the same content, of this
        commit or another, each transfer finds out."""
        self._files.mkdir(parents=True, exist_ok=True)
        left = self._left_identities()
        self._identities = {file.name: left[file.name] for file in files if file.name in left}
        for path in list(self._files.iterdir()):
            if path.name not in self._identities:
                path.unlink()
        self._keep_identities()

    def _left_identities(self) -> dict[str, Identity]:
        try:
            return read_json(self._staging / "state.json", dict[str, Identity])
        except (FileNotFoundError, msgspec.MsgspecError):
            return {}  # nothing that can be gone on with

    def _keep_identities(self) -> None:
        # Not synced: where a power cut takes it along, the download begins anew.
        fresh = self._staging / "state.new"
        fresh.write_bytes(msgspec.json.encode(self._identities))
        fresh.replace(self._staging / "state.json")

    def _count(self, wanted: list[Wanted]) -> None:
        """What is there and what is missing; raises NoRoom where that is too much."""
        self._meter.total = sum(file.bytes for file in wanted)
        for file in wanted:
            self._meter.present(bytes_present(self._files / file.name, file, self._identities.get(file.name)))
        self._check_room()

    def _check_room(self) -> None:
        check_room(self._store.root, self._meter.missing, self._spec.name, self._surface.free)

    def _surroundings(self) -> Surroundings:
        return Surroundings(
            hub=self._hub,
            meter=self._meter,
            say=self._reporter,
            identities=self._identities,
            keep_identities=self._keep_identities,
            check_room=self._check_room,
            retries=lambda: self._surface.retries(self._surface.patience),
            clock=self._surface.clock,
            pace=Pace(self._most_bytes),
        )

    def _fix(self, kept: dict[str, KeptFile]) -> None:
        """Write down what the files are, so that a later change is noticed."""
        now = self._surface.now()
        known = {name: KnownHash(sha256=file.sha256, bytes=file.bytes, first=now) for name, file in kept.items()}
        self._store.fix(self._spec.repository, self._commit, known, branch=not self._spec.revision)


class Reporter:
    """Passes progress on, a few times a second; a change of stage or file at once. `with` keeps it telling."""

    def __init__(self, report: Report, meter: Meter, clock: Callable[[], float]) -> None:
        self._report = report
        self._meter = meter
        self._clock = clock
        self._last: tuple[Stage, str, Text] | None = None
        self._told = float("-inf")
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._keep_telling, daemon=True)

    def __call__(self, stage: Stage, file: str, text: Text) -> None:
        with self._lock:
            self._tell((stage, file, text))

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *ended: object) -> None:
        self._ended.set()
        self._thread.join()

    def _keep_telling(self) -> None:
        """Say the last again while a line is silent: the speed falls, and what came last is counted."""
        while not self._ended.wait(_SECONDS_BETWEEN):
            with self._lock:
                if self._last is not None:
                    self._tell(self._last)

    def _tell(self, this: tuple[Stage, str, Text]) -> None:
        now = self._clock()
        if this != self._last or now - self._told >= _SECONDS_BETWEEN:
            self._last, self._told = this, now
            self._report(self._meter.shown(now, *this))


def _small_first(wanted: Wanted) -> tuple[bool, str]:
    return kind_of(wanted.name) in ("weights", "gguf"), wanted.name


def _check_unchanged(repository: str, name: str, known: KnownHash, remote: Remote) -> None:
    """Refuse what the hub itself says is another file than the one that is known. Raises DownloadError."""
    same = remote.sha256 in (None, known.sha256) and remote.bytes in (None, known.bytes)
    if not same:
        differs = sentence(
            "{name} of {repository} is another file on the hub than the one that was downloaded here on {date}, so it "
            "is not taken.",
            name=name,
            repository=repository,
            date=time.strftime("%Y-%m-%d", time.localtime(known.first)),
        )
        raise DownloadError(joined([differs, _ADVICE]))
