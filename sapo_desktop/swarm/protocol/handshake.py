"""How two peers show each other that they hold the keys they name.

Each side signs one transcript of both HELLOs under its role. The roles keep one side's signature from being sent back
as the other's, the nonces keep an old one from being used again, the certificate's hash keeps it from being carried
through a third party that terminates TLS: whoever stands in the middle has another certificate.
"""

from __future__ import annotations

from typing import Literal

from sapo_desktop.core.hashing import digest
from sapo_desktop.swarm.protocol.messages import Hello
from sapo_desktop.swarm.protocol.refusals import Reason, Refused
from sapo_desktop.swarm.protocol.signing import Signer, verify

Role = Literal["client", "server"]
LABEL = "auth"
NO_TLS = bytes(32)
"""Stands for the hash of the server's certificate on `ws://`."""


def transcript(role: Role, client: Hello, server: Hello, certificate: bytes) -> bytes:
    """What the side of this role signs (32 bytes). `certificate`: SHA-256 of the server's, or NO_TLS."""
    return digest(
        b"sapo/auth/1",
        role.encode("ascii"),
        client.key,
        server.key,
        client.nonce,
        server.nonce,
        client.network,
        _versions(client),
        _versions(server),
        certificate,
    )


def prove(signer: Signer, role: Role, client: Hello, server: Hello, certificate: bytes) -> bytes:
    """The signature of an AUTH, 64 bytes."""
    return signer.sign(LABEL, client.network, transcript(role, client, server, certificate))


def check(signature: bytes, role: Role, client: Hello, server: Hello, certificate: bytes) -> None:
    """Refused (BAD_SIGNATURE) unless the side of this role signed."""
    key = client.key if role == "client" else server.key
    content = transcript(role, client, server, certificate)
    if not verify(signature, key=key, label=LABEL, network=client.network, content=content):
        raise Refused(Reason.BAD_SIGNATURE, f"the {role} does not hold the key it names")


def common_version(ours: list[int], theirs: list[int]) -> int | None:
    """The highest version both speak."""
    return max(set(ours) & set(theirs), default=None)


def _versions(hello: Hello) -> bytes:
    return b",".join(str(version).encode("ascii") for version in hello.versions)
