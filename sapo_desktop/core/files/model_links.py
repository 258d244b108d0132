"""Which links among the files of a model are followed.

A downloaded folder may hold `LICENSE -> ~/.ssh/id_ed25519`; copying the target would give the key away with the model.
Weights are often links for a good reason (they are large and shared), and their format is checked before they are kept.
All other files must be where their name says. The one exception is the layout of a hub's cache, in which every file of
`snapshots/COMMIT/` is a link into `blobs/` of the same repository.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.files.reading import copy_regular


def real_file(path: Path, *, weights: bool, caches: Sequence[Path] | None = None) -> Path:
    """The path of the model's file `path` without links.

    Args:
        weights: whether it is a file of weights, which may be elsewhere in its folder, or in a cache.
        caches: folders in which programs share weights; None: those of this computer's user.

    Raises:
        ModelError: it is not a regular file, or a link that is not followed.
    """
    try:
        folder, real = path.parent.resolve(), path.resolve()
        is_file = stat.S_ISREG(real.lstat().st_mode)
    except (OSError, RuntimeError):  # nothing is there; or, before Python 3.13, a loop of links
        is_file = False
    if not is_file:
        raise ModelError("{path} is not a file, or a broken link. Put the file itself there.", path=str(path))
    if real == folder / path.name or _is_blob(folder, real):
        return real
    within = [folder, *(hub_caches() if caches is None else caches)]
    if not weights or not any(real.is_relative_to(one) for one in within):
        raise ModelError(
            "{path} is a link to {target}, which is not part of the model, so it is not followed. Put "
            "the file itself there, or remove the link.",
            path=str(path),
            target=str(real),
        )
    return real


def copy_file(path: Path, target: Path) -> None:
    """Copy a file that accompanies a model's weights, with the same restrictions on who may read it.

    Raises:
        ModelError: it is not a regular file, or a link that is not followed.
    """
    copy_regular(real_file(path, weights=False), target, links=False)


def hub_caches(environment: Mapping[str, str] = os.environ, home: Path | None = None) -> list[Path]:
    """The folders in which hub clients keep models, links resolved. `home`: the user's."""
    home = Path(environment.get("XDG_CACHE_HOME") or (home or Path.home()) / ".cache") / "huggingface"
    named = [environment.get(name) for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")]
    named.append(str(Path(environment.get("HF_HOME") or home) / "hub"))
    return [Path(name).expanduser().resolve() for name in named if name]


def _is_blob(folder: Path, real: Path) -> bool:
    """Whether a file of a hub's cache is a blob of the same repository."""
    return folder.parent.name == "snapshots" and real.parent == folder.parent.parent / "blobs"
