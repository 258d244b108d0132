"""The one hash over several fields, used wherever something is derived from a secret, a seed or a protocol."""

from __future__ import annotations

import hashlib


def digest(*fields: bytes) -> bytes:
    """SHA-256 over the fields, each preceded by its length, so that different lists never hash the same bytes."""
    state = hashlib.sha256()
    for field in fields:
        state.update(len(field).to_bytes(4, "big"))
        state.update(field)
    return state.digest()
