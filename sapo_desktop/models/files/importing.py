"""Imports a model from this computer into the models folder: a folder in transformers' layout, or a GGUF file.

The checks are those of downloads, and only the files that a model needs are copied. If the file system supports it,
files share their blocks (a reflink). Links are followed by the rules of core/files/model_links.py, and a copy is never
readable by more users than the original. Small files come first, so that an unusable model is refused before its
weights are copied. The folder appears complete, by a rename.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.files.durable import disk_errors_as
from sapo_desktop.core.files.gguf import parts_of
from sapo_desktop.core.files.model_links import real_file
from sapo_desktop.core.files.reading import create_like, open_regular
from sapo_desktop.core.models import Installed, Kept, KeptFile, ModelKind, TakeIn
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.models.files.check import (
    FreeSpace,
    check_file,
    check_model,
    check_room,
    check_small_files,
    free_space,
    naming,
)
from sapo_desktop.models.files.names import PROGRAMS, is_plain, kind_of
from sapo_desktop.models.files.progress import Progress, Report
from sapo_desktop.models.files.safetensors_file import count_numbers
from sapo_desktop.models.files.store import MANIFEST, Store

_PIECE = 1 << 20
_WEIGHTS = ("weights", "gguf")
_OF_A_HUB, _SNAPSHOTS = "models--", "snapshots"
"""Names of folders in the cache of the hub's own library."""
_FOR_PICTURES = "mmproj"
"""An image encoder's file, which other programs store next to the model."""
_FICLONE = 0x40049409
"""Linux: make this file share the blocks of another."""


@dataclass(frozen=True)
class _Source:
    """What is imported."""

    kind: ModelKind
    files: dict[str, Path]
    """Name in the models folder -> place of the bytes; links are resolved."""
    left_out: list[str] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        return sum(path.stat().st_size for path in self.files.values())


def take_in(
    request: TakeIn, report: Report, free: FreeSpace = free_space, clock: Callable[[], float] = time.monotonic
) -> Kept:
    """Import a model.

    Raises:
        ModelError: there is none at that path, it is damaged, unsafe, of an unknown kind, or its name is taken.
        NoRoom: the disk has too little space.
    """
    path = _snapshot(Path(request.path).expanduser().absolute())
    store = Store(Path(request.folder))
    name = request.name or _name_of(path)
    staged = store.import_staging(name)
    with disk_errors_as(ModelError, sentence("{path} could not be imported", path=str(path))), store.lock(name):
        if store.folder(name).exists():
            raise ModelError(
                "A model named {name} is installed already. Remove it first, or give this one another name.",
                in_terminal="sapo-desktop models import PATH --name NAME",
                name=name,
            )
        source = _source(path)
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir(parents=True)
        try:
            progress = Progress(report, source.bytes, clock)
            with naming(staged, path if path.is_dir() else path.parent):
                kept = _bring(source, staged, progress, lambda size: check_room(store.root, size, name, free))
                why = check_model(staged, source.kind)
            model = Installed(
                name=name,
                kind=source.kind,
                source=str(path),
                installed=time.time(),
                files=kept,
                only_answers=bool(why),
            )
            target = store.install(staged, model)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
    notes = [why] if why else []
    if source.left_out:
        left_out = ", ".join(source.left_out)
        said = sentence(
            "Left out because they are not part of a model or can contain programs: {names}.", names=left_out
        )
        notes = [*notes, said]
    return Kept(model=model, path=str(target), notes=notes)


def _snapshot(path: Path) -> Path:
    """The model in a folder of a hub's cache, which stores it some levels down; other paths are returned unchanged."""
    if not path.name.startswith(_OF_A_HUB) or not (path / _SNAPSHOTS).is_dir():
        return path
    found = sorted((path / _SNAPSHOTS).iterdir(), key=lambda folder: folder.stat().st_mtime)
    if not found:
        raise ModelError("{path} holds no finished download. Choose another folder.", path=str(path))
    return found[-1]


def _name_of(path: Path) -> str:
    """A name for the model, from the folder or file."""
    stem = path.name[: -len(".gguf")] if path.suffix.lower() == ".gguf" else path.name
    if path.parent.name == _SNAPSHOTS and path.parent.parent.name.startswith(_OF_A_HUB):
        stem = path.parent.parent.name.removeprefix(_OF_A_HUB)  # its own name is a hash
    name = re.sub(r"[^A-Za-z0-9._@+-]+", "-", stem).strip("-.@+_")[:128]
    if not name:
        raise ModelError(
            "{path} gives no name for the model. Enter one of letters and digits.",
            in_terminal="sapo-desktop models import PATH --name NAME",
            path=str(path),
        )
    return name


def _source(path: Path) -> _Source:
    if path.is_dir():
        return _folder(path)
    if not path.exists():
        raise ModelError("There is nothing at {path}. Check whether the path is right.", path=str(path))
    if path.suffix.lower() != ".gguf":
        raise ModelError(_not_taken(path))
    parts = parts_of(path)
    if missing := [part.name for part in parts if not part.exists()]:
        raise ModelError(
            "{path} is one of several parts; missing next to it: {names}. Put them there.",
            path=str(path),
            names=", ".join(missing[:3]),
        )
    # The file that a person named may be a link to anywhere; further parts may not.
    files = {part.name: real_file(path.resolve() if part == path else part, weights=True) for part in parts}
    return _Source(kind="gguf", files=files)


def _not_taken(path: Path) -> Text:
    if path.suffix.lower() in PROGRAMS:
        return sentence(
            "{path} is not imported: files of that kind can contain programs and are never opened. "
            "Choose a folder with safetensors, or a GGUF file.",
            path=str(path),
        )
    return sentence(
        "{path} is not imported: files of that kind are not models. Choose a folder with safetensors, or a GGUF file.",
        path=str(path),
    )


def _folder(path: Path) -> _Source:
    """The files of a folder that form a model; subfolders are ignored."""
    names = sorted(entry.name for entry in path.iterdir() if not entry.is_dir() and not entry.name.startswith("."))
    taken = [name for name in names if is_plain(name) and kind_of(name) is not None and name != MANIFEST]
    kinds = {kind_of(name) for name in taken}
    if "weights" in kinds:
        taken = [name for name in taken if kind_of(name) != "gguf"]
    elif "gguf" in kinds:
        taken = [name for name in taken if kind_of(name) in ("gguf", "text") and not name.startswith(_FOR_PICTURES)]
        _refuse_several(path, [name for name in taken if kind_of(name) == "gguf"])
    else:
        raise ModelError(_no_weights(path, names))
    return _Source(
        kind="transformers" if "weights" in kinds else "gguf",
        files={name: real_file(path / name, weights=kind_of(name) in _WEIGHTS) for name in taken},
        left_out=[name for name in names if name not in taken and name != MANIFEST],
    )


def _refuse_several(path: Path, names: Sequence[str]) -> None:
    """Only one model, in any number of parts, is imported."""
    models = {tuple(parts_of(path / name)) for name in names}
    if len(models) > 1:
        raise ModelError(
            "{path} contains several models. Choose one file: {names}.",
            in_terminal="sapo-desktop models import FILE",
            path=str(path),
            names=", ".join(sorted(parts[0].name for parts in models)),
        )


def _no_weights(path: Path, names: Sequence[str]) -> Text:
    programs = [name for name in names if Path(name).suffix.lower() in PROGRAMS - {".py"}]
    if programs:
        return sentence(
            "{path} has its weights only as {name}. Files of that kind can contain programs and are "
            "never opened. Look for the model's safetensors or GGUF version.",
            path=str(path),
            name=programs[0],
        )
    return sentence(
        "{path} holds no weights in safetensors or GGUF. Choose a folder or file that does.", path=str(path)
    )


def _bring(source: _Source, staged: Path, progress: Progress, need: Callable[[int], None]) -> dict[str, KeptFile]:
    """Copy every file into the staging folder and hash it. `need` is called with the bytes to copy, before the first
    is."""
    shared = {name for name, path in source.files.items() if _reflinked(path, staged / name)}
    if missing := sum(path.stat().st_size for name, path in source.files.items() if name not in shared):
        need(missing)

    def kept(name: str) -> KeptFile:
        path, target = source.files[name], staged / name
        progress.begin(name, "copying")
        found = _kept(_pieces(target) if name in shared else _copied(path, target), progress.arrived)
        progress.finished(found.bytes)
        return found

    weights = [name for name in source.files if kind_of(name) in _WEIGHTS]
    small = {name: kept(name) for name in source.files if name not in weights}
    _check_before_weights(source, staged, weights)
    return small | {name: kept(name) for name in weights}


def _check_before_weights(source: _Source, staged: Path, weights: Sequence[str]) -> None:
    """Check the model while only its small files are there. Raises ModelError."""
    if source.kind == "transformers":
        check_small_files(staged, weights)
        for name in weights:
            count_numbers(source.files[name])
    else:
        check_file([source.files[name] for name in weights])


def _kept(pieces: Iterator[bytes], count: Callable[[int], None]) -> KeptFile:
    digest, size = hashlib.sha256(), 0
    for piece in pieces:
        digest.update(piece)
        size += len(piece)
        count(len(piece))
    return KeptFile(bytes=size, sha256=digest.hexdigest())


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece


def _copied(path: Path, target: Path) -> Iterator[bytes]:
    """The pieces of the file, each after it was written."""
    with open_regular(path, links=False) as file, create_like(file, target) as copy:
        while piece := file.read(_PIECE):
            copy.write(piece)
            yield piece


def _reflinked(path: Path, target: Path) -> bool:
    """Whether the target now shares the file's blocks; later changes to one do not affect the other."""
    if sys.platform != "linux":
        return False
    import fcntl

    with open_regular(path, links=False) as source, create_like(source, target) as clone:
        try:
            fcntl.ioctl(clone.fileno(), _FICLONE, source.fileno())
        except OSError:  # another disk, or a file system without reflinks
            target.unlink()
            return False
    return True
