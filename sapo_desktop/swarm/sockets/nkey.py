"""nkeys: NATS's format of Ed25519 keys, and a client's proof that it has one.

A seed is base32 over two bytes of type, 32 secret bytes, and a CRC-16 (XMODEM, little endian); a public key is the same
with one type byte. A relay's nkey is separate from the key that signs groups, because NATS chooses what is signed.
"""

from __future__ import annotations

import base64
import binascii

from nacl.signing import SigningKey

_SEED, _USER = 18 << 3, 20 << 3
_SEED_BYTES = 2 + 32 + 2


class UserKey:
    """A user's nkey. Raises ValueError for any other text."""

    def __init__(self, seed: str) -> None:
        try:
            raw = base64.b32decode(seed + "=" * (-len(seed) % 8))
        except binascii.Error as error:
            raise ValueError("not base32") from error
        if len(raw) != _SEED_BYTES or _crc(raw[:-2]) != raw[-2:]:
            raise ValueError("not a seed, or one that was typed wrong")
        if raw[0] & 0xF8 != _SEED or (raw[0] & 7) << 5 | raw[1] >> 3 != _USER:
            raise ValueError("not a user's seed")
        self._key = SigningKey(raw[2:-2])

    def __repr__(self) -> str:
        return f"UserKey({self.public})"

    @property
    def public(self) -> str:
        """The key as in NATS's configuration: U and 55 further characters."""
        raw = bytes([_USER]) + bytes(self._key.verify_key)
        return base64.b32encode(raw + _crc(raw)).decode().rstrip("=")

    def sign(self, nonce: str) -> bytes:
        """The signature that the server asks for, in base64."""
        return base64.b64encode(self._key.sign(nonce.encode()).signature)


def _crc(content: bytes) -> bytes:
    return binascii.crc_hqx(content, 0).to_bytes(2, "little")
