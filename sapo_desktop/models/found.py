"""Models that this user's other programs keep on this computer. They are used in place, never copied or changed.

Each program has its own layout: Hugging Face's cache (`models--OWNER--NAME/snapshots/COMMIT`), Ollama's manifests and
blobs, and folders of GGUF files (LM Studio, Jan, GPT4All, llama.cpp). Only headers and small files are read. Incomplete
or unsupported models become one sentence.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.files.gguf import parts_of
from sapo_desktop.core.files.model_links import hub_caches
from sapo_desktop.core.files.reading import UNREADABLE, read_bytes
from sapo_desktop.core.models import Found, FoundModels, ModelKind
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.models.files.folder import check_folder
from sapo_desktop.models.files.gguf_file import check_gguf

_DEEPEST = 5
"""Levels of folders below a program's own that are searched."""
_FOR_PICTURES = "mmproj"
_UNFINISHED = (".part", ".incomplete", ".downloadInProgress", "-partial")
"""How programs name unfinished files; GPT4All prefixes the name with `incomplete-`."""
_MODEL_LAYER = "application/vnd.ollama.image.model"
_MOST = 500
"""Maximum models listed per program."""


class _Layer(msgspec.Struct, frozen=True):
    mediaType: str = ""  # noqa: N815  Ollama's name
    digest: str = ""


class _OllamaManifest(msgspec.Struct, frozen=True):
    layers: list[_Layer] = []


@dataclass(frozen=True)
class Place:
    """Where and in which layout a program keeps models."""

    program: str
    folder: Path
    look: Callable[[_Finds, Path], None] = field(repr=False)


class _Finds:
    """The models of one program."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.models: list[Found] = []
        self.notes: list[Text] = []

    def gguf(self, name: str, path: Path) -> None:
        """A GGUF file, or the first of several."""
        try:
            file = check_gguf(parts_of(path))
        except (ModelError, OSError) as error:
            self._no_use(name, path, error)
            return
        self._add(name, path, "gguf", file.bytes, file.only_answers)

    def folder(self, name: str, path: Path) -> None:
        """A folder in transformers' layout."""
        try:
            size = sum(file.stat().st_size for file in check_folder(path).weights)
        except (ModelError, OSError) as error:
            self._no_use(name, path, error)
            return
        self._add(name, path, "transformers", size, "")

    def unfinished(self, path: Path) -> None:
        """Something that the program has not finished writing."""
        self.notes.append(
            sentence("{program} has not finished {path}. Let it finish there.", program=self.program, path=str(path))
        )

    def _add(self, name: str, path: Path, kind: ModelKind, size: int, why: Text) -> None:
        if len(self.models) < _MOST and all(str(path) != one.path for one in self.models):
            self.models.append(
                Found(program=self.program, name=name, path=str(path), kind=kind, bytes=size, only_answers=why)
            )

    def _no_use(self, name: str, path: Path, error: ModelError | OSError) -> None:
        reason: Text = error.text if isinstance(error, ModelError) else (error.strerror or str(error))
        self.notes.append(
            sentence("{name} of {program} cannot be used: {reason}", name=name, program=self.program, reason=reason)
        )


def find(places: list[Place] | None = None) -> FoundModels:
    """All models of other programs. Unreadable ones become notes; nothing is raised."""
    models: list[Found] = []
    notes: list[Text] = []
    for place in places_here() if places is None else places:
        finds = _Finds(place.program)
        try:
            if place.folder.is_dir():
                place.look(finds, place.folder)
        except OSError as error:
            notes.append(
                sentence(
                    "{folder} of {program} cannot be read: {reason}.",
                    folder=str(place.folder),
                    program=place.program,
                    reason=error.strerror or str(error),
                )
            )
        models += [one for one in finds.models if all(one.path != other.path for other in models)]
        notes += finds.notes
    return FoundModels(models=models, notes=notes)


def places_here(
    environment: Mapping[str, str] = os.environ, home: Path | None = None, platform: str = sys.platform
) -> list[Place]:
    """Where each program keeps its models on this system, by its own variables and defaults."""
    home = Path.home() if home is None else home
    named = {name: Path(value).expanduser() for name, value in environment.items() if value}
    roaming = named.get("APPDATA", home / "AppData" / "Roaming")
    local = named.get("LOCALAPPDATA", home / "AppData" / "Local")
    support, share = home / "Library" / "Application Support", named.get("XDG_DATA_HOME", home / ".local" / "share")
    cache = named.get("XDG_CACHE_HOME", home / ".cache")
    if platform == "win32":
        jan, gpt4all, llama = roaming / "Jan" / "data", local / "nomic.ai" / "GPT4All", local / "llama.cpp"
    elif platform == "darwin":
        jan, gpt4all = support / "Jan" / "data", support / "nomic.ai" / "GPT4All"
        llama = home / "Library" / "Caches" / "llama.cpp"
    else:
        config = named.get("XDG_CONFIG_HOME", home / ".config")
        jan, gpt4all, llama = config / "Jan" / "data", share / "nomic.ai" / "GPT4All", cache / "llama.cpp"
    ollama = [named["OLLAMA_MODELS"]] if "OLLAMA_MODELS" in named else [home / ".ollama" / "models"]
    if platform == "linux":  # where its service runs as a separate user
        ollama += [Path("/usr/share/ollama/.ollama/models"), Path("/var/lib/ollama/models")]
    studio = _lm_studio(home)
    return [
        *(Place("Hugging Face", folder, _hub_cache) for folder in dict.fromkeys(hub_caches(environment, home))),
        *(Place("LM Studio", folder, _files) for folder in (studio / "models", cache / "lm-studio" / "models")),
        *(Place("Ollama", folder, _ollama) for folder in dict.fromkeys(ollama)),
        *(Place("Jan", folder, _files) for folder in (jan / "llamacpp" / "models", jan / "models", home / "jan")),
        Place("GPT4All", gpt4all, _files),
        Place("llama.cpp", named.get("LLAMA_CACHE", llama), _files),
    ]


def _lm_studio(home: Path) -> Path:
    """LM Studio's folder; a file in the home names its new place if it was moved."""
    try:
        moved = read_bytes(home / ".lmstudio-home-pointer", 4096).decode().strip()
    except (OSError, ValueError):
        moved = ""
    return Path(moved) if moved else home / ".lmstudio"


def _hub_cache(finds: _Finds, folder: Path) -> None:
    """For each repository, the snapshot that its main branch names, otherwise the newest."""
    for repository in sorted(folder.glob("models--*")):
        name = repository.name.removeprefix("models--").replace("--", "/")
        for part in sorted((repository / "blobs").glob("*.incomplete")):
            finds.unfinished(part)
        snapshot = _snapshot(repository)
        if snapshot is None:
            continue
        files = sorted(path.name for path in snapshot.iterdir())
        if any(file.endswith(".safetensors") for file in files):
            finds.folder(name, snapshot)
        for file in files:
            if _begins_a_model(file):
                finds.gguf(f"{name}/{file}", snapshot / file)


def _snapshot(repository: Path) -> Path | None:
    try:
        commit = read_bytes(repository / "refs" / "main", 4096).decode().strip()
    except (OSError, ValueError):
        commit = ""
    snapshots = repository / "snapshots"
    if commit and Path(commit).name == commit and (snapshots / commit).is_dir():
        return snapshots / commit
    found = [path for path in snapshots.glob("*") if path.is_dir()]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def _ollama(finds: _Finds, folder: Path) -> None:
    """`manifests/HOST/OWNER/NAME/TAG` names the blob with the model's GGUF file."""
    for path in sorted((folder / "manifests").glob("*/*/*/*")):
        host, owner, model, tag = path.parts[-4:]
        whose = "" if owner == "library" else f"{owner}/" if host.endswith("ollama.ai") else f"{host}/{owner}/"
        name = f"{whose}{model}:{tag}"
        try:
            layers = msgspec.json.decode(read_bytes(path, 1_000_000), type=_OllamaManifest).layers
        except (OSError, *UNREADABLE):
            finds.unfinished(path)
            continue
        for digest in [layer.digest for layer in layers if layer.mediaType == _MODEL_LAYER]:
            blob = folder / "blobs" / digest.replace(":", "-")
            if Path(digest).name != digest or not blob.is_file():
                finds.unfinished(path)
            else:
                finds.gguf(name, blob)


def _files(finds: _Finds, folder: Path) -> None:
    """Every GGUF file, named after its folder, and every folder with safetensors."""
    for path in _walk(folder, _DEEPEST):
        if path.name.endswith(_UNFINISHED) or path.name.startswith("incomplete-"):
            finds.unfinished(path)
        elif _begins_a_model(path.name):
            inner = path.parent.relative_to(folder).as_posix()
            finds.gguf(path.name if inner == "." else f"{inner}/{path.name}", path)
        elif path.name == "config.json" and any(path.parent.glob("*.safetensors")):
            finds.folder(path.parent.relative_to(folder).as_posix(), path.parent)


def _begins_a_model(name: str) -> bool:
    """Whether it is a GGUF file that can answer and, if there are several parts, the first."""
    is_part = len(parts := parts_of(Path(name))) > 1 and parts[0].name != name
    return name.lower().endswith(".gguf") and _FOR_PICTURES not in name.lower() and not is_part


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    """All files below; links to folders are not followed."""
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if depth > 0 and not path.is_symlink():
                yield from _walk(path, depth - 1)
        else:
            yield path
