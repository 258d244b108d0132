"""A Bloom filter in a WANT: which groups need not be sent again.

Its bits are chosen with the WANT's ticket, so a group that one filter hides by chance is not hidden by the next. The
digest of a group is a hash already; its bytes are spread by one more, keyed, hash.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Collection

from sapo_desktop.swarm.protocol import limits

HASHES = 4
BITS_PER_GROUP = 8
"""With four hashes 2.4% of the groups that are not held are hidden."""
_WORDS = struct.Struct(f">{HASHES}I")
LEAST = 64
"""Bytes of a filter that holds anything: who has a few groups and lacks a few more is to get those with one WANT."""


def build(digests: Collection[bytes], ticket: bytes) -> bytes:
    """A filter of at most 2 KiB that holds these digests; of more than it has room for, it hides more by chance."""
    size = min(limits.MAX_FILTER, max(LEAST, -(-len(digests) * BITS_PER_GROUP // 8))) if digests else 0
    bits = bytearray(size)
    for digest in digests:
        for place in _places(digest, ticket, 8 * size):
            bits[place // 8] |= 1 << place % 8
    return bytes(bits)


def holds(bits: bytes, digest: bytes, ticket: bytes) -> bool:
    """Whether the filter says that its sender has this group; an empty filter says so of none."""
    return bool(bits) and all(bits[place // 8] >> place % 8 & 1 for place in _places(digest, ticket, 8 * len(bits)))


def _places(digest: bytes, ticket: bytes, bits: int) -> list[int]:
    spread = hashlib.blake2b(digest, digest_size=_WORDS.size, key=ticket).digest()
    return [word % bits for word in _WORDS.unpack(spread)]
