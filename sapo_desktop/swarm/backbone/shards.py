"""Which messages a relay hears if there are more relays than it can listen to.

A relay sends in one of 256 shards, which changes every slot, and listens to as many shards as its operator says, which
change every hour. So it hears a share of all relays at any time and each of them in turn, and every relay is heard by
some.
"""

from __future__ import annotations

import hashlib

from sapo_desktop.swarm.protocol import limits

SHARDS = 256
_HOUR = 3600


def shard_of(relay: bytes, unix_time: float) -> int:
    """The shard, 0 to 255, in which the relay with this key sends: a hash of key and slot."""
    slot = int(unix_time // limits.SLOT_SECONDS).to_bytes(8, "big")
    return hashlib.blake2b(relay + slot, digest_size=1, person=b"sapo shard").digest()[0]


def heard_by(relay: bytes, count: int, unix_time: float) -> frozenset[int]:
    """The `count` shards, out of 0 to 255, to which the relay with this key listens during this hour."""
    hour = int(unix_time // _HOUR).to_bytes(8, "big")

    def rank(shard: int) -> bytes:
        return hashlib.blake2b(relay + hour + bytes([shard]), digest_size=16, person=b"sapo hears").digest()

    return frozenset(sorted(range(SHARDS), key=rank)[:count])
