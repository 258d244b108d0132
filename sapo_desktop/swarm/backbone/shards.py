"""Which messages a relay hears where there are more relays than it can listen to.

A relay sends in one of 256 shards, another one each slot, and listens to as many as its operator says, others each
hour. So it hears a share of all relays at any time and each of them in turn, and none is left unheard by all.
"""

from __future__ import annotations

import hashlib

from sapo_desktop.swarm.protocol import limits

SHARDS = 256
_HOUR = 3600


def shard_of(relay: bytes, unix_time: float) -> int:
    """The shard that the relay of this key sends in, 0 to 255: hash of its key and the slot."""
    slot = int(unix_time // limits.SLOT_SECONDS).to_bytes(8, "big")
    return hashlib.blake2b(relay + slot, digest_size=1, person=b"sapo shard").digest()[0]


def heard_by(relay: bytes, count: int, unix_time: float) -> frozenset[int]:
    """The `count` shards, of 0 to 255, that the relay of this key listens to in this hour."""
    hour = int(unix_time // _HOUR).to_bytes(8, "big")

    def rank(shard: int) -> bytes:
        return hashlib.blake2b(relay + hour + bytes([shard]), digest_size=16, person=b"sapo hears").digest()

    return frozenset(sorted(range(SHARDS), key=rank)[:count])
