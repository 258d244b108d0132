"""Who signed a manifest (Ed25519; no secret key is in the product) and what it means to this version now.

One pure decision; a refused manifest is never offered. Refused are, in this order: a manifest without a valid signature
of one of the build's keys; bytes that are not a manifest; a signature by an older key after a newer one has signed; a
lower number than seen before, or other content under the same number; a manifest from the future (this computer's clock
is slow), and an expired one.
"""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from sapo_desktop.core.plain_text import clean
from sapo_desktop.core.records import Record
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.core.updates.manifest import Manifest, Release, Standing, decode, order

_LABEL = b"sapo-desktop/updates/1\0"


def signed_bytes(document: bytes) -> bytes:
    """The bytes to sign for this manifest."""
    return _LABEL + document


def signer(document: bytes, signature: bytes, keys: Sequence[str]) -> int | None:
    """The index of the key that signed it, or None. `signature`: 128 hex digits; `keys`: 64 each."""
    text = signature.decode("ascii", "replace").strip()
    if not re.fullmatch(r"[0-9a-f]{128}", text):
        return None
    for place, key in enumerate(keys):
        try:
            VerifyKey(bytes.fromhex(key)).verify(signed_bytes(document), bytes.fromhex(text))
        except (BadSignatureError, ValueError):  # ValueError: the key is not a point of the curve
            continue
        return place
    return None


_DAY = datetime.timedelta(days=1)


class Seen(Record, frozen=True):
    """What is remembered of the newest validly signed manifest."""

    number: Annotated[int, Meta(ge=0)] = 0
    digest: str = ""
    """SHA-256 of its bytes."""
    key: str = ""
    """The key that signed it, in hex."""


def judge(
    document: bytes, signature: bytes, release: Release, own: str, now: float, seen: Seen
) -> tuple[Standing, Seen]:
    """Judge version `own` by these bytes. Returns the standing and what to remember. `now`: Unix time."""
    place = signer(document, signature, release.keys)
    if place is None:
        return _refused(_UNSIGNED, release), seen
    try:
        manifest = decode(document)
    except msgspec.DecodeError as error:
        return _refused(
            sentence(
                "The list of versions cannot be read: {reason}. Try again later, or check the app's page.",
                reason=str(error),
            ),
            release,
        ), seen
    if seen.key in release.keys and place < release.keys.index(seen.key):
        return _refused(_RETIRED, release), seen
    fresh = Seen(number=manifest.number, digest=hashlib.sha256(document).hexdigest(), key=release.keys[place])
    if manifest.number < seen.number or (manifest.number == seen.number and fresh.digest != seen.digest):
        return _refused(_ROLLED_BACK, release), seen
    return _by_the_clock(manifest, release, own, now), fresh


def _by_the_clock(manifest: Manifest, release: Release, own: str, now: float) -> Standing:
    """The standing of `own` if the manifest's dates allow trusting it."""
    today = datetime.datetime.fromtimestamp(now, datetime.UTC).date()
    if today + _DAY < manifest.date:
        text = sentence(
            "This computer's clock says {today}, but the list of versions was made on {date}. Set the clock.",
            today=str(today),
            date=str(manifest.date),
        )
        return _refused(text, release)
    if today > manifest.expires:
        text = sentence(
            "The list of versions expired on {expires}, so newer versions are unknown. If this "
            "computer's clock is right ({today}), check the app's page.",
            expires=str(manifest.expires),
            today=str(today),
        )
        return _refused(text, release)
    return _compared(manifest, release, own)


def _compared(manifest: Manifest, release: Release, own: str) -> Standing:
    values = {"own": own, "version": manifest.version, "date": str(manifest.date)}
    if order(own) < order(manifest.least_version):
        text = sentence(
            "Version {own} is no longer safe: {version} of {date} replaces it. Download it from the app's page.",
            **values,
        )
        return _offered("urgent", text, manifest, release)
    if order(own) < order(manifest.version):
        text = sentence("Version {version} of {date} is available; this one is {own}.", **values)
        return _offered("newer", text, manifest, release)
    text = sentence("This version, {own}, is the newest as of {date}.", **values)
    return Standing(state="current", text=text, page=release.page)


def _offered(state: Literal["newer", "urgent"], text: Text, manifest: Manifest, release: Release) -> Standing:
    return Standing(
        state=state,
        text=text,
        version=manifest.version,
        date=str(manifest.date),
        changelog=clean(manifest.changelog),
        page=release.page,
        files=manifest.files,
    )


def _refused(text: Text, release: Release) -> Standing:
    return Standing(state="refused", text=text, page=release.page)


_UNSIGNED = sentence(
    "The list of versions is not signed by a key that this build knows, so it is not used. "
    "Someone may have changed it on the way. Try another network, or check the app's page."
)
_RETIRED = sentence(
    "The list of versions is signed by an old key that was replaced, so it is not used. Someone "
    "may have changed it on the way. Try another network, or check the app's page."
)
_ROLLED_BACK = sentence(
    "The list of versions is older than one seen here before, so it is not used. Someone may be "
    "holding the newer one back. Try another network, or check the app's page."
)
