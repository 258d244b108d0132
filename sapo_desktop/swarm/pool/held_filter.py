"""A Bloom filter in a WANT: groups that need not be sent again.

Its bits depend on the WANT's ticket, so a group that one filter hides by chance is not hidden by the next. A group's
digest is already a hash; a further keyed hash spreads its bytes.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Collection

from sapo_desktop.swarm.protocol import limits

HASHES = 4
BITS_PER_GROUP = 8
"""With four hashes, 2.4% of the groups that are not held are hidden."""
_WORDS = struct.Struct(f">{HASHES}I")
LEAST = 64
"""Minimum bytes of a filter that is not empty: a node with a few groups should get the few missing ones with one
WANT."""


def build(digests: Collection[bytes], ticket: bytes) -> bytes:
    """A filter of at most 2 KiB that holds these digests; with more than it has room for, it hides more by chance."""
    size = min(limits.MAX_FILTER, max(LEAST, -(-len(digests) * BITS_PER_GROUP // 8))) if digests else 0
    bits = bytearray(size)
    for digest in digests:
        for place in _places(digest, ticket, 8 * size):
            bits[place // 8] |= 1 << place % 8
    return bytes(bits)


def holds(bits: bytes, digest: bytes, ticket: bytes) -> bool:
    """Whether the filter says that its sender has this group; an empty filter has none."""
    return bool(bits) and all(bits[place // 8] >> place % 8 & 1 for place in _places(digest, ticket, 8 * len(bits)))


def _places(digest: bytes, ticket: bytes, bits: int) -> list[int]:
    spread = hashlib.blake2b(digest, digest_size=_WORDS.size, key=ticket).digest()
    return [word % bits for word in _WORDS.unpack(spread)]
