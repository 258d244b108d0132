"""The location of files that ship with the program: the task catalogue, the starter model.

In a checkout they are in `resources/` next to the package, in a wheel in `sapo_desktop/resources/`. Nothing is ever
written there, because a program folder may be read-only.
"""

from __future__ import annotations

from pathlib import Path

from sapo_desktop.core.errors import SapoError

_PACKAGE = Path(__file__).resolve().parent.parent
_LAYOUTS = (_PACKAGE / "resources", _PACKAGE.parent / "resources")


def resource(name: str) -> Path:
    """The path of the shipped file or folder `name` (with `/` between parts).

    Raises:
        SapoError: it exists in neither layout.
    """
    for root in _LAYOUTS:
        path = root / name
        if path.exists():
            return path
    raise SapoError(
        "{name} is missing from this installation (looked in {first} and {second}). Install SAPO "
        "Desktop again, or check the clone with `git status`.",
        name=name,
        first=str(_LAYOUTS[0]),
        second=str(_LAYOUTS[1]),
    )
