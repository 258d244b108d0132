"""The folder of the shipped starter model, or of a replacement in its layout.

The starter has a manifest of hashes, checked once per process, so that a damaged installation is reported as such and
does not look like a bad model. No environment variable or setting replaces the starter; another model is another
folder, under its own path.
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
    """The part of manifest.json that is used here; the recipe stores more in it."""

    files: dict[str, str]
    """SHA-256 in hex by file name, for every file of the folder except the manifest."""


def starter_folder() -> Path:
    """The verified folder of the starter.

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
