"""The manifest of a release (`updates.json`), the build's release address, and the resulting standing.

A manifest is parsed only after its signature was verified (decision.py). Its format is fixed, because builds that are
years old must read it; an unknown field is refused.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from pathlib import Path
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.files.reading import read_text
from sapo_desktop.core.models import Sha256
from sapo_desktop.core.records import Record
from sapo_desktop.core.sentences import Text

NAME, SIGNATURE_NAME = "updates.json", "updates.json.sig"
LONGEST, LONGEST_SIGNATURE = 262_144, 1024
"""Bytes."""
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
Version: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9]{1,6}(\.[0-9]{1,6}){1,3}$")]
SystemName = Literal["linux", "windows", "macos", "any"]
StandingState = Literal["off", "unknown", "current", "newer", "urgent", "refused"]


class ReleaseFile(Record, frozen=True, forbid_unknown_fields=True):
    """One file of a release, stored next to the manifest."""

    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$")]
    bytes: Annotated[int, Meta(ge=1, le=10**11)]
    sha256: Sha256
    system: SystemName


class Manifest(Record, frozen=True, forbid_unknown_fields=True):
    """What a release says about itself."""

    product: Literal["sapo-desktop"]
    format: Literal[1]
    number: Annotated[int, Meta(ge=1, le=2**53)]
    """Grows with every manifest, also for the same version."""
    version: Version
    least_version: Version
    """The oldest safe version; older ones should no longer run."""
    date: datetime.date
    expires: datetime.date
    """The last day on which it is valid."""
    changelog: Annotated[str, Meta(max_length=100_000)]
    files: Annotated[list[ReleaseFile], Meta(max_length=100)]


class Release(Record, frozen=True, forbid_unknown_fields=True):
    """Where this build looks for updates and which keys it trusts: resources/updates.toml."""

    address: Annotated[str, Meta(max_length=500)] = ""
    """The folder of the manifest and the files; empty: never look for updates."""
    page: Annotated[str, Meta(max_length=500, pattern=r"^(https://[^\s]+)?$")] = ""
    """The page for people."""
    keys: Annotated[list[Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]], Meta(max_length=2)] = msgspec.field(
        default_factory=list
    )
    """Ed25519 keys in hex: the current one, and the one that replaces it with its first signature."""


class Standing(Record, frozen=True):
    """The standing of this version, for people and programs."""

    state: StandingState
    text: Text
    version: str = ""
    """The newest version; this and the fields below are set if it is newer than this one."""
    date: str = ""
    changelog: str = ""
    page: str = ""
    files: list[ReleaseFile] = msgspec.field(default_factory=list)
    looked: float | None = None
    """Unix time of the last check."""


def decode(document: bytes) -> Manifest:
    """Decode the manifest. Raises msgspec.DecodeError."""
    try:
        found = msgspec.json.decode(document, type=Manifest)
    except (RecursionError, UnicodeDecodeError) as error:
        raise msgspec.DecodeError(str(error)) from error
    if order(found.least_version) > order(found.version):
        raise msgspec.DecodeError(f"no version is safe: {found.version} is below {found.least_version}")
    if found.expires < found.date:
        raise msgspec.DecodeError("it ends before it begins")
    return found


def order(version: str) -> tuple[tuple[int, ...], bool]:
    """The sort key of versions: 1.2 equals 1.2.0, and suffixes (1.2.0rc1) come before it."""
    numbers = re.match(r"[0-9]{1,6}(\.[0-9]{1,6})*", version)
    parts = [int(part) for part in numbers[0].split(".")] if numbers else []
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts), numbers is not None and numbers[0] == version


def read_release(path: Path) -> Release:
    """Read this build's release address and keys. Raises SapoError if the file is damaged."""
    try:
        found = msgspec.convert(tomllib.loads(read_text(path)), Release)
        if found.address and not (_is_safe(found.address) and found.keys):
            raise ValueError("an address has to be https:// and to have a key")
    except (OSError, ValueError) as error:  # includes msgspec's and tomllib's errors
        raise SapoError(
            "{path} is damaged ({reason}). Install SAPO Desktop again.", path=str(path), reason=str(error)
        ) from error
    return found


def _is_safe(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
