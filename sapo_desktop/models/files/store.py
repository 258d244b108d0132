"""The models folder: one folder per installed model with its manifest, and next to them unfinished work.

NAME/manifest.json, files          installed; appears complete, by a rename
.partial/NAME/state.json, files/   a running or interrupted download
.partial/NAME~import/              a running import
.partial/-*                        being deleted
.locks/NAME                        held by the process that works on that name
first-seen.json                    commits and SHA-256 at the first download, if nothing else records them
"""

from __future__ import annotations

import contextlib
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from filelock import lock_descriptor

from sapo_desktop.core.errors import DownloadError, ModelError
from sapo_desktop.core.files.durable import disk_errors_as, sync_folder, sync_tree, write_atomically
from sapo_desktop.core.files.reading import UNREADABLE, read_bytes
from sapo_desktop.core.models import Contents, Installed, ModelName, Sha256, Unfinished
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.models.files.names import is_plain

COMMIT = re.compile(r"[0-9a-f]{40}")
MANIFEST = "manifest.json"
_FORMAT = 1
_IMPORT = "~import"


class _Manifest(msgspec.Struct, frozen=True, kw_only=True):
    format: int
    model: Installed


class _Format(msgspec.Struct, frozen=True):
    """The part that manifests of every format have."""

    format: int


class _FirstSeen(msgspec.Struct, frozen=True, kw_only=True):
    """What was fixed here permanently."""

    commits: dict[str, str] = {}
    """Repository -> the commit of its main branch."""
    files: dict[str, KnownHash] = {}
    """`owner/name@commit/file` -> its hash."""


class KnownHash(msgspec.Struct, frozen=True, kw_only=True):
    """A file's hash at its first download."""

    sha256: Sha256
    bytes: int
    first: float
    """Unix time."""


class Store:
    """One models folder. Nothing is created before something is written."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def folder(self, name: str) -> Path:
        """The (possible) folder of the model of that name. Raises ModelError for a name that points elsewhere."""
        try:
            msgspec.convert(name, ModelName)
        except msgspec.ValidationError as error:
            raise ModelError(_no_name(name)) from error
        if not is_plain(name.replace("@", "-")):
            raise ModelError(_no_name(name))
        return self.root / name

    def staging(self, name: str) -> Path:
        """The folder of an unfinished download of that name."""
        return self.root / ".partial" / self.folder(name).name

    def discard_staging(self, name: str) -> None:
        """Delete the rest of a download whose files were moved."""
        shutil.rmtree(self.staging(name), ignore_errors=True)

    def import_staging(self, name: str) -> Path:
        """The folder in which an import is built, empty each time."""
        return self.root / ".partial" / f"{self.folder(name).name}{_IMPORT}"

    def read(self, name: str) -> Installed:
        """The installed model's manifest, checked against its files.

        Raises:
            ModelError: there is none of that name, or it is damaged.
        """
        model = self.manifest(name)
        if file := self.damaged_file(model):
            raise ModelError(
                "{file} of {name} is missing or has the wrong size. Remove the model and download it again.",
                file=file,
                name=name,
            )
        return model

    def manifest(self, name: str) -> Installed:
        """The manifest's content, without checking the files.

        Raises:
            ModelError: there is no folder of that name, or it is not known to be a model's, so it must stay as it is.
        """
        folder = self.folder(name)
        if not folder.exists():
            raise ModelError(
                "No model '{name}' is installed in {folder}.",
                in_terminal="sapo-desktop models installed",
                name=name,
                folder=str(self.root),
            )
        path = folder / MANIFEST
        try:
            raw = read_bytes(path)
            form = msgspec.json.decode(raw, type=_Format).format
            model = msgspec.json.decode(raw, type=_Manifest).model if form == _FORMAT else None
        except FileNotFoundError as error:
            raise ModelError(
                "{folder} has no {name}, so it is not one of this app's models. Move it away first.",
                folder=str(folder),
                name=MANIFEST,
            ) from error
        except (OSError, *UNREADABLE) as error:
            raise ModelError(
                "{path} cannot be read ({reason}). Remove the model and download it again.",
                path=str(path),
                reason=str(error),
            ) from error
        if model is None:
            raise ModelError(
                "A newer SAPO Desktop wrote {path}. Install that version, or remove the model first.", path=str(path)
            )
        return msgspec.structs.replace(model, name=name)

    def damaged_file(self, model: Installed) -> str:
        """The first file that differs from the manifest; empty if none does."""
        for file, kept in model.files.items():
            path = self.folder(model.name) / file
            if not is_plain(file) or path.is_symlink() or not path.is_file() or path.stat().st_size != kept.bytes:
                return file
        return ""

    def contents(self) -> Contents:
        """Everything in the folder, by name."""
        with disk_errors_as(ModelError, sentence("{folder} could not be read", folder=str(self.root))):
            return self._contents()

    def _contents(self) -> Contents:
        models: list[Installed] = []
        damaged: dict[str, Text] = {}
        for folder in sorted(self.root.iterdir()) if self.root.is_dir() else []:
            if folder.name.startswith(".") or not folder.is_dir():
                continue
            try:
                models.append(self.read(folder.name))
            except ModelError as error:
                damaged[folder.name] = error.text
        return Contents(models=models, unfinished=self._unfinished(), damaged=damaged)

    def install(self, staged: Path, model: Installed) -> Path:
        """Make the folder `staged` the installed model, durably; it replaces a damaged one of that name.

        Raises:
            ModelError: another folder has the name, or the disk refuses.
        """
        target = self.folder(model.name)
        with disk_errors_as(ModelError, sentence("{name} could not be moved to its place", name=model.name)):
            if target.exists() and not self.damaged_file(self.manifest(model.name)):
                raise ModelError("A model named {name} is installed already. Remove it first.", name=model.name)
            write_atomically(staged / MANIFEST, msgspec.json.format(msgspec.json.encode(_manifest(model))))
            sync_tree(staged)
            if target.exists():
                target.rename(self._trash())
            staged.rename(target)
            sync_folder(self.root)
        self.sweep()
        return target

    def remove(self, name: str) -> int:
        """Delete the model and the rest of an unfinished download; returns the freed bytes.

        Raises:
            ModelError: nothing has that name, or it is not a model.
        """
        with disk_errors_as(ModelError, sentence("{name} could not be removed", name=name)):
            found = self._removable(name)
            freed = sum(tree_bytes(folder) for folder in found)
            with self.lock(name):
                for folder in found:
                    # Renamed first, then deleted file by file: a half-deleted folder is never taken for a model.
                    folder.rename(self._trash())
        self.sweep()
        return freed

    def _removable(self, name: str) -> list[Path]:
        """The model's folder and those of unfinished work on it."""
        model = self.folder(name)
        found = [model] if _has_manifest(model) else []
        found += [folder for folder in (self.staging(name), self.import_staging(name)) if folder.exists()]
        if not found and model.exists():
            raise ModelError(
                "{folder} is not one of this app's models: it has no {name}. It is left unchanged.",
                folder=str(model),
                name=MANIFEST,
            )
        if not found:
            raise ModelError(
                "No model '{name}' is installed in {folder}.",
                in_terminal="sapo-desktop models installed",
                name=name,
                folder=str(self.root),
            )
        return found

    def sweep(self) -> None:
        """Delete what nothing will continue: removed models, and imports that were killed."""
        partial = self.root / ".partial"
        for folder in partial.glob("-*"):
            shutil.rmtree(folder, ignore_errors=True)  # on Windows a file may still be open; the next sweep deletes it
        for folder in partial.glob(f"*{_IMPORT}"):
            with contextlib.suppress(DownloadError), self.lock(folder.name.removesuffix(_IMPORT)):
                shutil.rmtree(folder, ignore_errors=True)

    def _trash(self) -> Path:
        """A name under which a folder waits to be deleted."""
        partial = self.root / ".partial"
        partial.mkdir(parents=True, exist_ok=True)
        return partial / f"-{secrets.token_hex(8)}"

    @contextlib.contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Hold the name's lock while inside.

        Raises:
            DownloadError: another process is working on it.
        """
        path = self.root / ".locks" / self.folder(name).name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            if not lock_descriptor(file.fileno(), blocking=False):
                raise DownloadError(
                    "Another process is using the model '{name}'. Wait for it, or cancel it.", name=name
                )
            yield

    def known_hash(self, repository: str, commit: str, name: str) -> KnownHash | None:
        """This file's hash when it was first downloaded."""
        return self._first_seen().files.get(f"{repository}@{commit}/{name}")

    def known_commit(self, repository: str) -> str | None:
        """The commit of the repository's main branch when a model without a pinned revision was first downloaded."""
        return self._first_seen().commits.get(repository)

    def fix(self, repository: str, commit: str, known: Mapping[str, KnownHash], *, branch: bool) -> None:
        """Record these files' hashes permanently; existing records do not change. `branch`: the commit is the main
        branch's."""
        fresh = {f"{repository}@{commit}/{name}": one for name, one in known.items()}
        with self._lock_first_seen():
            seen = self._first_seen()
            commits = {repository: commit} | seen.commits if branch else seen.commits
            kept = msgspec.json.encode(_FirstSeen(commits=commits, files=fresh | seen.files))
            write_atomically(self.root / "first-seen.json", msgspec.json.format(kept))

    @contextlib.contextmanager
    def _lock_first_seen(self) -> Iterator[None]:
        with (self.root / ".locks" / "-first-seen").open("ab") as file:
            lock_descriptor(file.fileno())
            yield

    def _first_seen(self) -> _FirstSeen:
        path = self.root / "first-seen.json"
        try:
            return msgspec.json.decode(read_bytes(path), type=_FirstSeen)
        except FileNotFoundError:
            return _FirstSeen()
        except (OSError, *UNREADABLE) as error:
            raise ModelError(
                "{path} cannot be read ({reason}). It records what files were when they were first "
                "downloaded. Delete it to start over.",
                path=str(path),
                reason=str(error),
            ) from error

    def _unfinished(self) -> list[Unfinished]:
        folder = self.root / ".partial"
        found: dict[str, int] = {}
        for path in sorted(folder.iterdir()) if folder.is_dir() else []:
            if path.is_dir() and not path.name.startswith("-"):
                name = path.name.removesuffix(_IMPORT)
                found[name] = found.get(name, 0) + tree_bytes(path)
        return [Unfinished(name=name, bytes=count) for name, count in sorted(found.items())]


def _has_manifest(folder: Path) -> bool:
    """Whether a model was installed there, even if it is damaged now. Other programs use the same file name, but
    their files are intact and of another format."""
    try:
        found = msgspec.json.decode(read_bytes(folder / MANIFEST))
    except (OSError, ValueError, RecursionError):
        return (folder / MANIFEST).is_file()
    return isinstance(found, dict) and not found.keys().isdisjoint(_Manifest.__struct_fields__)


def tree_bytes(folder: Path) -> int:
    """Bytes of all files below, links not followed."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_symlink() or path.is_file())


def _manifest(model: Installed) -> _Manifest:
    return _Manifest(format=_FORMAT, model=model)


def _no_name(name: str) -> Text:
    return sentence(
        "'{name}' cannot be a model's name. Use letters, digits and . _ - + @, at most 128 characters.", name=name
    )
