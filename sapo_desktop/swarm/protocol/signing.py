"""Ed25519 signatures over bytes that include their purpose.

What is signed is `sapo/1/<label>\0`, the network's id (32 bytes) and the content exactly as received. A signature for
one kind of body or network is not valid for another, and nothing is serialised a second time.
"""

from __future__ import annotations

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

KEY_BYTES, SEED_BYTES, SIGNATURE_BYTES, NETWORK_BYTES = 32, 32, 64, 32


class Signer:
    """A node's signing key. `seed`: 32 secret bytes."""

    def __init__(self, seed: bytes) -> None:
        self._key = SigningKey(seed)

    @property
    def key(self) -> bytes:
        """The public key, 32 bytes, by which others know this node."""
        return bytes(self._key.verify_key)

    def sign(self, label: str, network: bytes, content: bytes) -> bytes:
        """The signature, 64 bytes."""
        return self._key.sign(signed_bytes(label, network, content)).signature


def verify(signature: bytes, *, key: bytes, label: str, network: bytes, content: bytes) -> bool:
    """Whether `key` signed this content under this label in this network."""
    try:
        VerifyKey(key).verify(signed_bytes(label, network, content), signature)
    except (BadSignatureError, ValueError):  # ValueError: not 32 or 64 bytes
        return False
    return True


def signed_bytes(label: str, network: bytes, content: bytes) -> bytes:
    return b"sapo/1/" + label.encode("ascii") + b"\0" + network + content
