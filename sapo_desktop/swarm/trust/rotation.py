"""A change of keys that peers can follow: the old key signs the new one.

For peers that learn of it within a day, both keys share one quota and one record of faults, and the new one inherits
the history. It is part of HELLO, so only linked peers learn which key the new one replaces. For a fresh start without a
connection, create a new identity.
"""

from __future__ import annotations

from sapo_desktop.swarm.protocol.refusals import Reason, Refused
from sapo_desktop.swarm.protocol.signing import KEY_BYTES, SIGNATURE_BYTES, Signer, verify

LABEL = "rotation"
LASTING = 24 * 3600
"""Seconds."""
_TIME_BYTES = 8
ROTATION_BYTES = KEY_BYTES + _TIME_BYTES + SIGNATURE_BYTES
_MOST_AHEAD = 1200
"""Maximum lead of the signer's clock, in seconds."""


def rotate(old: Signer, new: bytes, network: bytes, unix_time: float) -> bytes:
    """The proof that `old` became the key `new` at that time (104 bytes)."""
    time = int(unix_time).to_bytes(_TIME_BYTES, "big")
    return old.key + time + old.sign(LABEL, network, new + time)


def is_recent(rotation: bytes, unix_time: float) -> bool:
    """Whether it is still worth sending, by its own time."""
    return len(rotation) == ROTATION_BYTES and 0 <= unix_time - _time_of(rotation) < LASTING


def old_key(rotation: bytes, new: bytes, network: bytes, unix_time: float) -> bytes:
    """The key that `new` replaced.

    Raises:
        Refused: TOO_OLD, TOO_NEW (not within the last day); BAD_SIGNATURE (it is not about this key).
    """
    if len(rotation) != ROTATION_BYTES:
        raise Refused(Reason.BAD_SIGNATURE, f"a rotation of {len(rotation)} bytes")
    age = unix_time - _time_of(rotation)
    if age >= LASTING:
        raise Refused(Reason.TOO_OLD, "rotation")
    if age < -_MOST_AHEAD:
        raise Refused(Reason.TOO_NEW, "rotation")
    old, content = rotation[:KEY_BYTES], new + rotation[KEY_BYTES:-SIGNATURE_BYTES]
    if old == new or not verify(rotation[-SIGNATURE_BYTES:], key=old, label=LABEL, network=network, content=content):
        raise Refused(Reason.BAD_SIGNATURE, "rotation")
    return old


def _time_of(rotation: bytes) -> int:
    return int.from_bytes(rotation[KEY_BYTES : KEY_BYTES + _TIME_BYTES], "big")
