"""A self-signed certificate for listeners without a domain name.

A client knows such a listener's key from its address and checks that the key signed the hash of this certificate
(handshake.py), so nothing in the certificate needs to be true: one fixed name, no expiry, an Ed25519 key made for it.
"""

from __future__ import annotations

import hashlib
import re
import ssl
from datetime import UTC, datetime
from pathlib import Path

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.files.durable import write_atomically

_FIRST = re.compile("-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


def server_context(certificate: Path, key: Path) -> tuple[ssl.SSLContext, bytes]:
    """A listener's TLS context, and the SHA-256 of its certificate (DER) for the handshake.

    Raises:
        UsageError: a file is missing or not PEM, or the two do not belong together.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    try:
        chain, closed = certificate.read_text(encoding="ascii", errors="replace"), key.read_bytes()
        if b"ENCRYPTED" in closed:  # OpenSSL would ask for the passphrase at the terminal, if there is one
            raise UsageError(
                "The key in {path} is protected by a passphrase. Choose a file without one.", path=str(key)
            )
        context.load_cert_chain(certificate, key)
        first = _FIRST.search(chain)  # some programs write a description before it
        if first is None:  # OpenSSL also reads TRUSTED CERTIFICATE, which contains more than the certificate
            raise _no_pem(certificate, key)
        return context, hashlib.sha256(ssl.PEM_cert_to_DER_cert(first[0])).digest()
    except ssl.SSLError as error:
        if error.reason != "KEY_VALUES_MISMATCH":
            raise _no_pem(certificate, key) from error
        raise UsageError(
            "The key in {key} does not belong to the first certificate in {certificate}. Choose two that "
            "belong together.",
            key=str(key),
            certificate=str(certificate),
        ) from error
    except OSError as error:
        raise UsageError(
            "{path} cannot be read: {reason}. Check whether it exists and you may read it.",
            path=str(error.filename),
            reason=error.strerror or str(error),
        ) from error


def _no_pem(certificate: Path, key: Path) -> UsageError:
    return UsageError(
        "{certificate} and {key} cannot be used. The first must contain certificates in PEM form, "
        "the server's own first; the second must contain its private key.",
        certificate=str(certificate),
        key=str(key),
    )


def self_signed(folder: Path) -> tuple[Path, Path]:
    """The certificate and key files in a private folder, created if they are missing."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    if not (certificate.is_file() and key.is_file()):
        private, public = _pair()
        write_atomically(key, private)
        write_atomically(certificate, public)
    return certificate, key


def _pair() -> tuple[bytes, bytes]:
    """A fresh key (PKCS #8, RFC 8410) and its certificate (X.509 version 3, RFC 5280), both in PEM."""
    # Imported here: it takes a tenth of a second and 15 MB, and is needed once per folder.
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "sapo")])
    begin, end = datetime(2000, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), begin, end)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return private, made.sign(key, None).public_bytes(Encoding.PEM)
