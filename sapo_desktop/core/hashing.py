"""The one hash of several fields that everything derived from a secret, a seed or a protocol uses."""

from __future__ import annotations

import hashlib


def digest(*fields: bytes) -> bytes:
    """SHA-256 over the fields, each preceded by its length: no two different lists hash the same bytes."""
    state = hashlib.sha256()
    for field in fields:
        state.update(len(field).to_bytes(4, "big"))
        state.update(field)
    return state.digest()
