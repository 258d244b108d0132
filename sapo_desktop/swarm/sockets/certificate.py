"""A self-signed certificate for listeners that have no name of their own.

Who dials such a listener knows its key from the address and checks that the key signed this very certificate's hash
(handshake.py), so nothing in the certificate has to be true: one fixed name, no end, an Ed25519 key made for it. It is
some two hundred bytes of DER, written here because no dependency of ours writes certificates.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import ssl
from pathlib import Path

from nacl.signing import SigningKey

from sapo_desktop.core.files.durable import write_atomically

_INTEGER, _BITS, _OCTETS, _OID, _UTF8, _UTC_TIME, _TIME, _SEQUENCE, _SET, _VERSION = (
    0x02,
    0x03,
    0x04,
    0x06,
    0x0C,
    0x17,
    0x18,
    0x30,
    0x31,
    0xA0,
)
_ED25519 = bytes.fromhex("2b6570")  # 1.3.101.112, RFC 8410
_COMMON_NAME = bytes.fromhex("550403")  # 2.5.4.3


def server_context(certificate: Path, key: Path) -> tuple[ssl.SSLContext, bytes]:
    """What a listener needs: the context, and the SHA-256 of its certificate (DER) for the handshake.

    Raises:
        OSError, ssl.SSLError: a file is missing, or is no PEM, or the two do not belong together.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(certificate, key)
    first = certificate.read_text(encoding="ascii").partition("-----END CERTIFICATE-----")
    return context, hashlib.sha256(ssl.PEM_cert_to_DER_cert(first[0] + first[1])).digest()


def self_signed(folder: Path) -> tuple[Path, Path]:
    """The certificate and key files of a private folder, made where they are missing."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    if not (certificate.is_file() and key.is_file()):
        seed = secrets.token_bytes(32)
        write_atomically(key, _pem("PRIVATE KEY", _private_key(seed)))
        write_atomically(certificate, _pem("CERTIFICATE", make(seed)))
    return certificate, key


def make(seed: bytes) -> bytes:
    """A certificate (DER) for the Ed25519 key of this seed (32 bytes), signed by itself. RFC 5280, section 4.1."""
    signing = SigningKey(seed)
    algorithm = _der(_SEQUENCE, _der(_OID, _ED25519))
    name = _der(_SEQUENCE, _der(_SET, _der(_SEQUENCE, _der(_OID, _COMMON_NAME) + _der(_UTF8, b"sapo"))))
    validity = _der(_SEQUENCE, _der(_UTC_TIME, b"000101000000Z") + _der(_TIME, b"99991231235959Z"))
    public = _der(_SEQUENCE, algorithm + _der(_BITS, b"\0" + bytes(signing.verify_key)))
    content = _der(
        _SEQUENCE,
        _der(_VERSION, _der(_INTEGER, b"\2"))
        + _der(_INTEGER, b"\1" + hashlib.sha256(seed).digest()[:8])
        + algorithm
        + name
        + validity
        + name
        + public,
    )
    return _der(_SEQUENCE, content + algorithm + _der(_BITS, b"\0" + signing.sign(content).signature))


def _private_key(seed: bytes) -> bytes:
    """PKCS #8, RFC 8410, section 7."""
    algorithm = _der(_SEQUENCE, _der(_OID, _ED25519))
    return _der(_SEQUENCE, _der(_INTEGER, b"\0") + algorithm + _der(_OCTETS, _der(_OCTETS, seed)))


def _der(tag: int, content: bytes) -> bytes:
    """One value in DER; contents here are shorter than 64 KiB."""
    size = len(content)
    if size < 128:
        length = bytes([size])
    else:
        written = size.to_bytes((size.bit_length() + 7) // 8, "big")
        length = bytes([0x80 | len(written)]) + written
    return bytes([tag]) + length + content


def _pem(kind: str, der: bytes) -> bytes:
    text = base64.b64encode(der).decode("ascii")
    lines = [text[start : start + 64] for start in range(0, len(text), 64)]
    return "\n".join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----", ""]).encode("ascii")
