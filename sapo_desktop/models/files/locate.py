"""Finds the model that a setting or the command line names: the starter, an installed one, or any folder.

A name with a path separator is a path. Any other name is looked up among the installed models first, so that a file in
the working directory never replaces one of them.
"""

from __future__ import annotations

from pathlib import Path

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.files.gguf import is_gguf
from sapo_desktop.core.models import Installed, ModelSpec, installed_name
from sapo_desktop.core.sentences import sentence
from sapo_desktop.models.files.check import gguf_files
from sapo_desktop.models.files.store import COMMIT, Store
from sapo_desktop.models.starter import STARTER, starter_folder


def locate(name: str, models: Path) -> Path:
    """The folder of the model `name`, or its GGUF file (the first of several).

    `models`: the models folder.

    Raises:
        ModelError: there is none of that name, or it is damaged.
    """
    if name == STARTER:
        return starter_folder()
    path = Path(name).expanduser()
    if _is_model(path) and (path.is_absolute() or path.name != name):
        return path.parent.resolve() / path.name
    store = Store(models)
    installed = installed_name(name)
    if installed is not None and store.folder(installed).exists():
        folder = store.folder(installed)
        return gguf_files(folder)[0] if store.read(installed).kind == "gguf" else folder
    if _is_model(path):
        return path.parent.resolve() / path.name
    if path.is_absolute():
        raise ModelError(
            "The model {path} is missing. It may have been moved, or removed by the program that stores "
            "it. Choose another one.",
            in_terminal="sapo-desktop models find",
            path=name,
        )
    raise ModelError(
        "There is no model '{name}': it is not installed in {folder}, and is not a folder. Choose, "
        "download or import another one; 'starter' comes with the app.",
        in_terminal="sapo-desktop models download {name}",
        name=name,
        folder=str(models),
    )


def at_hand(store: Store, spec: ModelSpec) -> Installed | None:
    """The model to download, if it is already installed and complete under any name. If its files are damaged, it is
    downloaded again and replaced.

    Raises:
        ModelError: the name belongs to another model, or to an unknown folder.
    """
    if not store.folder(spec.name).exists():
        return next((model for model in store.contents().models if _is_same(model, spec)), None)
    found = store.manifest(spec.name)
    if not _is_same(found, spec) and not _came_from(found, spec):
        raise ModelError(
            "{name} is installed from {source}@{revision}. Remove that one first.",
            in_terminal="sapo-desktop models remove {name}",
            name=spec.name,
            source=found.source,
            revision=found.revision or sentence("(import)"),
        )
    return None if store.damaged_file(found) else found


def _came_from(found: Installed, spec: ModelSpec) -> bool:
    return found.source == spec.repository and (not COMMIT.fullmatch(spec.revision) or found.revision == spec.revision)


def _is_same(found: Installed, spec: ModelSpec) -> bool:
    """Whether it is the same model under any name: the whole repository, or the file of its package."""
    if spec.package is not None and any(file.sha256 == spec.package.sha256 for file in found.files.values()):
        return True
    return found.kind == "transformers" and not spec.only and not spec.quantisation and _came_from(found, spec)


def _is_model(path: Path) -> bool:
    return path.is_dir() or (path.is_file() and is_gguf(path))
