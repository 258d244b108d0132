"""The updater's signed manifest, and its keys, which never lie in the repository (docs/installing.md, "Updates").

    python packaging/updates.py key FILE             makes a key, protected by a passphrase; prints its public half
    python packaging/updates.py pin KEY KEY          makes the next build trust these two, in this order
    python packaging/updates.py sign OUT --key FILE --number N --least VERSION
                                                     writes updates.json and its signature for the files in OUT

The passphrase is typed, or SAPO_RELEASE_PASSPHRASE. The same files, numbers and key make the same bytes.
"""

from __future__ import annotations

import argparse
import datetime
import getpass
import hashlib
import os
import re
import sys
from pathlib import Path
from typing import NoReturn

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "packaging")]

import times  # noqa: E402

import sapo_desktop  # noqa: E402
from sapo_desktop.core.errors import SapoError  # noqa: E402
from sapo_desktop.core.updates.decision import (  # noqa: E402
    Seen,
    judge,
    signed_bytes,
)
from sapo_desktop.core.updates.manifest import (  # noqa: E402
    LONGEST,
    NAME,
    SIGNATURE_NAME,
    Manifest,
    Release,
    ReleaseFile,
    SystemName,
    read_release,
)

BUILD = ROOT / "resources" / "updates.toml"
DAYS = 120
SHORTEST_PASSPHRASE = 12
_SYSTEMS: dict[str, SystemName] = {
    **dict.fromkeys((".deb", ".rpm", ".run", ".AppImage", ".flatpak"), "linux"),
    ".exe": "windows",
    ".dmg": "macos",
}


def make_key(path: Path, passphrase: bytes) -> str:
    """Create a key in a new file protected by the passphrase; returns the public half in hex."""
    if path.resolve().is_relative_to(ROOT):
        _stop(f"{path} is in the repository: keep the key elsewhere, on a medium that you lock away.")
    if len(passphrase) < SHORTEST_PASSPHRASE:
        _stop(f"The passphrase needs {SHORTEST_PASSPHRASE} characters or more.")
    key = Ed25519PrivateKey.generate()
    closed = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(passphrase))
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        _stop(f"{path} could not be made ({error.strerror}): name a file that does not exist yet.")
    with os.fdopen(descriptor, "wb") as file:
        file.write(closed)
    return public(key)


def open_key(path: Path, passphrase: bytes) -> Ed25519PrivateKey:
    """The key in a file. Ends the process if it is not a key, or not protected by this passphrase."""
    try:
        key = load_pem_private_key(path.read_bytes(), passphrase)
    except (OSError, ValueError, TypeError) as error:  # TypeError: it is not protected at all
        _stop(f"{path} could not be opened with this passphrase: {error}")
    if not isinstance(key, Ed25519PrivateKey):
        _stop(f"{path} holds a key of another kind: make one with `key`.")
    known = read_release(BUILD).keys
    if known and public(key) not in known:
        _stop(f"No build of this commit trusts the key {public(key)}: pin it (packaging/updates.py pin).")
    return key


def public(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes_raw().hex()


def pin(keys: list[str]) -> None:
    """Write the keys into the build's file, and keep its other contents."""
    before = BUILD.read_text()
    fresh, found = re.subn(r"(?m)^keys = \[.*?\]", f"keys = {msgspec.json.encode(keys).decode()}", before)
    if found != 1 or len(set(keys)) != len(keys):
        _stop("Name two different keys, as `key` prints them.")
    BUILD.write_text(fresh)
    try:
        read_release(BUILD)
    except SapoError as error:
        BUILD.write_text(before)
        _stop(str(error))


def sign(out: Path, key: Ed25519PrivateKey, number: int, least: str, date: datetime.date, days: int = DAYS) -> Manifest:
    """Write manifest and signature for all packages in `out`; returns the manifest as the product reads it."""
    manifest = Manifest(
        product="sapo-desktop",
        format=1,
        number=number,
        version=sapo_desktop.__version__,
        least_version=least,
        date=date,
        expires=date + datetime.timedelta(days=days),
        changelog=changes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), sapo_desktop.__version__),
        files=[_described(path) for path in sorted(out.iterdir()) if _is_of_release(path)],
    )
    if not manifest.files:
        _stop(f"There is nothing in {out} to sign: python packaging/release.py {out}")
    document = msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"
    signature = key.sign(signed_bytes(document)).hex().encode() + b"\n"
    _check(document, signature, public(key), date)
    (out / NAME).write_bytes(document)
    (out / SIGNATURE_NAME).write_bytes(signature)
    return manifest


def changes(changelog: str, version: str) -> str:
    """The changelog's plain text on a version, one line per paragraph. Ends the process if there is
    none."""
    found = re.search(rf"(?ms)^## {re.escape(version)}(?![0-9.])[^\n]*\n(.*?)(?=^## |\Z)", changelog)
    if found is None or not found[1].strip():
        _stop(f"CHANGELOG.md says nothing of {version}.")
    lines = re.sub(r"(?<=\S)\n *(?=[^\n *|#\-])", " ", found[1].strip()) + "\n"
    return re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", lines).replace("**", "").replace("### ", "")


def _described(path: Path) -> ReleaseFile:
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return ReleaseFile(
        name=path.name, bytes=path.stat().st_size, sha256=sha256, system=_SYSTEMS.get(path.suffix, "any")
    )


def _is_of_release(path: Path) -> bool:
    return path.is_file() and path.name not in (NAME, SIGNATURE_NAME, "SHA256SUMS")


def _check(document: bytes, signature: bytes, key: str, date: datetime.date) -> None:
    """The manifest as the product reads it on that day."""
    noon = datetime.datetime.combine(date, datetime.time(12), datetime.UTC).timestamp()
    found, _ = judge(document, signature, Release(keys=[key]), sapo_desktop.__version__, noon, Seen())
    if found.state != "current" or len(document) > LONGEST:
        _stop(f"The product would refuse it: {found.text} ({len(document):,} of {LONGEST:,} bytes)")


def passphrase(twice: bool = False) -> bytes:
    """The passphrase, typed or from the environment."""
    if given := os.environ.get("SAPO_RELEASE_PASSPHRASE"):
        return given.encode()
    typed = getpass.getpass("Passphrase of the release's key: ")
    if twice and getpass.getpass("Once more: ") != typed:
        _stop("The two passphrases differ.")
    return typed.encode()


def _stop(reason: str) -> NoReturn:
    sys.exit(reason)


def add_options(parser: argparse.ArgumentParser, required: bool) -> None:
    """The options for signing."""
    parser.add_argument("--key", type=Path, required=required, help="the file of the signing key")
    parser.add_argument("--number", type=int, required=required, help="one more than the previous manifest's")
    parser.add_argument("--least", metavar="VERSION", required=required, help="the oldest version that may still run")
    parser.add_argument("--days", type=int, default=DAYS, help=f"days for which it is valid (default: {DAYS})")
    parser.add_argument("--date", type=datetime.date.fromisoformat, help="date of the manifest (default: the commit's)")


def sign_as_given(given: argparse.Namespace, key: Ed25519PrivateKey) -> None:
    """Sign with these options, and print the result."""
    date = given.date or datetime.datetime.fromtimestamp(times.epoch(), datetime.UTC).date()
    if date + datetime.timedelta(days=given.days) < datetime.datetime.now(datetime.UTC).date():
        _stop(f"A manifest of {date} has expired already: give another --date, or more --days.")
    made = sign(given.out, key, given.number, given.least, date, given.days)
    print(f"{NAME} number {made.number}: {made.version}, {len(made.files)} files, valid until {made.expires}")


def main() -> None:
    parser = argparse.ArgumentParser(description="The updater's manifest and keys.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("key", help="make a key").add_argument("file", type=Path)
    commands.add_parser("pin", help="make the next build trust these").add_argument("keys", nargs=2)
    signing = commands.add_parser("sign", help="write manifest and signature")
    signing.add_argument("out", type=Path)
    add_options(signing, required=True)
    given = parser.parse_args()
    match given.command:
        case "key":
            print(make_key(given.file, passphrase(twice=True)))
        case "pin":
            pin(given.keys)
        case "sign":
            sign_as_given(given, open_key(given.key, passphrase()))


if __name__ == "__main__":
    main()
