"""How this program is installed: in a clone, in a wheel, or in an installer's folder.

An installed application's folder (made by `packaging/payload/`) has its own interpreter and, in `app/`, what a clone
has; a marker next to the package names both. There the engine pack comes later, into a folder of the user
(`installers/engine_pack.py`), which processes get on their path.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from importlib import metadata
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.files.reading import UNREADABLE, read_bytes
from sapo_desktop.system.folders import DataFolder

ROOT = Path(__file__).resolve().parents[2]
"""The folder of the package."""
MARKER = "payload.json"
STAMP = "engine.json"
_LONGEST = 65_536
_LONGEST_LICENCE = 120
"""A longer text is not the name of a licence."""


class Payload(msgspec.Struct, frozen=True):
    """The marker of an installed application; paths are relative to the marker's folder."""

    python: str
    launcher: str
    """The program that starts the window or a command."""
    engines: dict[str, str]
    """Kind of engine pack -> fingerprint of its requirements (installers/engine_pack.py)."""
    least_driver: int
    """Version of NVIDIA's driver that the pack for its cards needs (installers/flavour.py)."""
    least_capability: float
    """CUDA compute capability, likewise."""


class EnginePack(msgspec.Struct, frozen=True):
    """The stamp of a complete engine pack."""

    kind: str
    """A name of installers/flavour.py: linux-cpu, linux-cuda, ..."""
    fingerprint: str


@functools.cache
def payload(root: Path = ROOT) -> Payload | None:
    """The marker, or None in a clone or a wheel. Raises SapoError if it is damaged."""
    path = root / MARKER
    if not path.exists():
        return None
    try:
        return msgspec.json.decode(read_bytes(path, _LONGEST), type=Payload)
    except (OSError, *UNREADABLE) as error:
        raise SapoError(
            "{path} is damaged ({reason}). Install SAPO Desktop again.", path=str(path), reason=str(error)
        ) from error


def interpreter(root: Path = ROOT) -> str:
    """The Python that runs our modules."""
    installed = payload(root)
    return sys.executable if installed is None else str(root / installed.python)


def launch(root: Path = ROOT) -> list[str]:
    """The command that starts this program from anywhere in any environment; its arguments follow."""
    if (installed := payload(root)) is not None:
        # An AppImage's folder exists only while it runs; that variable names the file.
        return [os.environ.get("APPIMAGE") or str((root / installed.launcher).resolve())]
    code = f"import sys; sys.path.insert(0, {str(root)!r}); from sapo_desktop.cli import main; sys.exit(main())"
    python = Path(interpreter(root))
    windowed = python.with_name("pythonw.exe")
    return [str(windowed if windowed.exists() else python), "-P", "-c", code]


def engine_folder() -> Path:
    """The (future) folder of this user's engine pack."""
    return DataFolder.default() / "engine"


def engine_pack(root: Path = ROOT, folder: Path | None = None) -> Path | None:
    """The packages of the engine pack, if it is complete and made for this version; otherwise None."""
    found = (folder or engine_folder()) / "packages"
    return found if engine_kind(root, folder) is not None else None


def engine_kind(root: Path = ROOT, folder: Path | None = None) -> str | None:
    """The kind of computer for which that pack was made."""
    installed = payload(root)
    if installed is None:
        return None
    try:
        content = read_bytes((folder or engine_folder()) / "packages" / STAMP, _LONGEST)
        stamp = msgspec.json.decode(content, type=EnginePack)
    except (OSError, *UNREADABLE):
        return None  # missing or incomplete: it is offered again
    return stamp.kind if installed.engines.get(stamp.kind) == stamp.fingerprint else None


def fitting_kind(installed: Payload, usable_card: bool) -> str | None:
    """The kind of engine pack for this computer. `usable_card`: it has an NVIDIA card that such a pack supports."""
    for_cards = [kind for kind in installed.engines if kind.endswith("-cuda")]
    others = [kind for kind in installed.engines if kind not in for_cards]
    return next(iter(for_cards if usable_card and for_cards else others), None)


def only_relays() -> bool:
    """Whether this was set up for a relay: no engine and no window are installed, and none will be."""
    return payload() is None and not any(map(importlib.util.find_spec, ("torch", "transformers", "PySide6")))


def can_learn() -> bool:
    """Whether torch is installed, without importing it."""
    return importlib.util.find_spec("torch") is not None or engine_pack() is not None


def libraries() -> list[str]:
    """The name, version and licence of each installed library, according to its own package."""
    found = {}
    for one in metadata.distributions():
        said = one.metadata
        name = said["Name"] or ""
        if name and name.lower() != "sapo-desktop":
            found[name.lower()] = f"{name} {one.version}: {_licence(said)}"
    return [found[name] for name in sorted(found)]


def _licence(said: metadata.PackageMetadata) -> str:
    """The licence expression if there is one. Some packages put the whole text into the old field; its name is then
    elsewhere."""
    kept = {name: (said.get_all(name, []) or [""])[0].strip() for name in ("License-Expression", "License")}
    short = kept["License"] if len(kept["License"]) <= _LONGEST_LICENCE and "\n" not in kept["License"] else ""
    classified = [one.rpartition(" :: ")[2] for one in said.get_all("Classifier", []) if one.startswith("License ::")]
    return kept["License-Expression"] or short or ", ".join(classified) or "?"
