"""Who signed a manifest: Ed25519 over bytes that say what they are. The secret keys are nowhere in the product."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

_LABEL = b"sapo-desktop/updates/1\0"


def signed_bytes(document: bytes) -> bytes:
    """What is signed for a manifest of these bytes."""
    return _LABEL + document


def signer(document: bytes, signature: bytes, keys: Sequence[str]) -> int | None:
    """The place of the key that signed it, or None. `signature`: 128 hex digits; `keys`: 64 each."""
    text = signature.decode("ascii", "replace").strip()
    if not re.fullmatch(r"[0-9a-f]{128}", text):
        return None
    for place, key in enumerate(keys):
        try:
            VerifyKey(bytes.fromhex(key)).verify(signed_bytes(document), bytes.fromhex(text))
        except (BadSignatureError, ValueError):  # ValueError: the key is no point of the curve
            continue
        return place
    return None
