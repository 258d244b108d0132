"""Where the model lies that a node starts from: the shipped starter, or a folder of one's own.

The starter carries a manifest of hashes. It is checked once per process, so that a damaged installation is
named as such instead of showing as a model that answers nonsense. No environment variable or setting puts
another starter in its place; another model is another folder, under its own path.
"""

from __future__ import annotations

import functools
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.files.reading import read_json
from sapo_desktop.core.resources import resource
from sapo_desktop.core.sentences import sentence
from sapo_desktop.models.files.folder import file_hash

STARTER = "starter"
MANIFEST = "manifest.json"


class StarterManifest(msgspec.Struct, frozen=True, kw_only=True):
    """The part of manifest.json that is relied on; the recipe keeps more in it."""

    files: dict[str, str]
    """SHA-256 in hex by file name, for every file of the folder but the manifest."""


def starter_folder() -> Path:
    """Where the starter lies, verified.

    Raises:
        ModelError: it is damaged.
        SapoError: it is missing from this installation.
    """
    return verified(resource(STARTER))


@functools.cache
def verified(folder: Path) -> Path:
    """Return `folder` after comparing its files with its manifest, once per process.

    Raises:
        ModelError: the manifest is missing or damaged, or a file is missing or differs from it.
    """
    try:
        manifest = read_json(folder / MANIFEST, StarterManifest)
    except (OSError, msgspec.DecodeError) as error:
        raise ModelError(
            "The starter's {name} in {folder} cannot be read; {repair}",
            name=MANIFEST,
            folder=str(folder),
            repair=_REPAIR,
        ) from error
    if not manifest.files:
        raise ModelError(
            "The starter's {name} in {folder} lists no files; {repair}",
            name=MANIFEST,
            folder=str(folder),
            repair=_REPAIR,
        )
    for name, expected in manifest.files.items():
        file = folder / name
        if Path(name).name != name or not file.is_file():
            raise ModelError(
                "The starter's {name} is missing from {folder}; {repair}",
                name=name,
                folder=str(folder),
                repair=_REPAIR,
            )
        if file_hash(file) != expected:
            raise ModelError(
                "The starter's {name} in {folder} is not the one that was shipped; {repair}",
                name=name,
                folder=str(folder),
                repair=_REPAIR,
            )
    return folder


_REPAIR = sentence("install SAPO Desktop again, or restore it with `git checkout -- resources/starter`.")
