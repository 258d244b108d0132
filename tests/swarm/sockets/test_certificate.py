"""Self-signed certificates, as OpenSSL sees them, and links over real TLS."""

import asyncio
import hashlib
import secrets
import ssl
import string
from pathlib import Path

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.protocol.envelope import Answer
from sapo_desktop.swarm.protocol.events import Closed, Opened
from sapo_desktop.swarm.sockets.certificate import self_signed, server_context
from sapo_desktop.swarm.sockets.dialling import reach
from sapo_desktop.swarm.sockets.network import now
from tests.swarm.peers import group
from tests.swarm.proxies import copy
from tests.swarm.sockets.nodes import Node, until


def test_openssl_reads_it(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    context, digest = server_context(certificate, key)
    assert context.minimum_version is ssl.TLSVersion.TLSv1_3
    assert digest == hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate.read_text())).digest()


def test_a_chain_may_say_what_is_in_it_as_openssl_does(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    _, digest = server_context(certificate, key)
    certificate.write_text(f"Certificate:\n    Issuer: CN=Büro\n{certificate.read_text()}", encoding="utf-8")
    assert server_context(certificate, key)[1] == digest


def test_it_is_made_once(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    before = certificate.read_bytes(), key.read_bytes()
    assert self_signed(tmp_path) == (certificate, key)
    assert (certificate.read_bytes(), key.read_bytes()) == before


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    certificate, own = self_signed(tmp_path / "a")
    _, key = self_signed(tmp_path / "b")
    with pytest.raises(UsageError, match=r"b/key.pem does not belong to the first certificate in .*a/certificate.pem"):
        server_context(certificate, key)
    with pytest.raises(UsageError, match=r"a/certificate.pem cannot be used. The first must contain certificates"):
        server_context(own, certificate)
    trusted = tmp_path / "a" / "trusted.pem"
    trusted.write_text(certificate.read_text().replace(" CERTIFICATE", " TRUSTED CERTIFICATE"))
    with pytest.raises(UsageError, match=r"a/trusted.pem and .* cannot be used"):
        server_context(trusted, own)
    key.write_bytes(b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n")
    with pytest.raises(UsageError, match=r"b/key.pem is protected by a passphrase"):
        server_context(certificate, key)
    key.unlink()
    with pytest.raises(UsageError, match=r"b/key.pem cannot be read: No such file"):
        server_context(certificate, key)


async def listener(folder: Path, name: int, host: str = "127.0.0.1") -> Node:
    node = Node(name)
    context, digest = server_context(*self_signed(folder))
    node.port = await node.network.listen(host, 0, tls=context, certificate=digest)
    return node


async def test_a_link_over_tls_is_cheap_to_hold_and_takes_long_frames(tmp_path: Path) -> None:
    alice, bob = Node(1), await listener(tmp_path, 2)
    alice.network.dial(Address("127.0.0.1", bob.port, tls=True, key=bob.signer.key))
    await until(lambda: alice.heard and bob.heard)
    (wire,) = bob.network._wires.values()
    tls = wire._connection.transport._ssl_protocol  # type: ignore[attr-defined]
    # asyncio's own: 256 KiB for each link
    assert tls._ssl_buffer is bob.network._tls_buffer and len(tls._ssl_buffer) <= 4096
    assert tls._incoming_high_water <= 16384
    long = "<answer>" + "".join(secrets.choice(string.ascii_letters) for _ in range(4000)) + "</answer>"
    envelope = group(alice.signer, slot=int(now().unix // 600), answers=[Answer(text=long, tokens=9)] * 4)
    alice.network.publish(envelope)
    await until(lambda: bob.held)
    assert bob.held == [envelope]
    await asyncio.gather(alice.network.close(), bob.network.close())


async def test_a_third_party_that_ends_tls_itself_is_noticed(tmp_path: Path) -> None:
    """Mallory has Bob's port forwarded through a certificate of his own: Bob's proof is for another one."""
    (tmp_path / "bob").mkdir()
    (tmp_path / "mallory").mkdir()
    alice, bob = Node(1), await listener(tmp_path / "bob", 2)
    context, _ = server_context(*self_signed(tmp_path / "mallory"))
    plain = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    plain.check_hostname, plain.verify_mode = False, ssl.CERT_NONE

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_connection("127.0.0.1", bob.port, ssl=plain)
        await asyncio.gather(copy(reader, there[1]), copy(there[0], writer))

    middle = await asyncio.start_server(carry, "127.0.0.1", 0, ssl=context)
    port = middle.sockets[0].getsockname()[1]
    alice.network.dial(Address("127.0.0.1", port, tls=True, key=bob.signer.key))
    await until(lambda: alice.heard)
    assert isinstance(alice.heard[0], Closed) and alice.heard[0].reason == "handshake: bad_signature"
    middle.close()
    await asyncio.gather(alice.network.close(), bob.network.close())


async def test_without_a_key_the_certificate_must_be_a_public_one(tmp_path: Path) -> None:
    bob = await listener(tmp_path, 2)
    reached = reach(Address("127.0.0.1", bob.port), "", named_by_stranger=False, on_lan=False, allows=None)
    with pytest.raises(ssl.SSLCertVerificationError):
        await reached.__aenter__()
    await bob.network.close()


async def test_a_renewed_certificate_is_what_newcomers_see_and_a_wrong_one_changes_nothing(tmp_path: Path) -> None:
    bob = await listener(tmp_path, 2)
    first, second = Node(1), Node(3)
    address = Address("127.0.0.1", bob.port, tls=True, key=bob.signer.key)
    try:
        first.network.dial(address)
        await until(lambda: first.heard)
        certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
        before = certificate.read_bytes(), key.read_bytes()
        key.write_text("rubbish")
        with pytest.raises(UsageError):
            bob.network.renew_certificate(certificate, key)
        for path in (certificate, key):
            path.unlink()
        bob.network.renew_certificate(*self_signed(tmp_path))
        assert (certificate.read_bytes(), key.read_bytes()) != before
        shown = ssl.PEM_cert_to_DER_cert(await asyncio.to_thread(ssl.get_server_certificate, ("127.0.0.1", bob.port)))
        assert shown == ssl.PEM_cert_to_DER_cert(certificate.read_text())
        second.network.dial(address)
        await until(lambda: second.heard)
        assert isinstance(second.heard[0], Opened) and len(first.heard) == 1, "the link that was open stays"
    finally:
        await asyncio.gather(*(node.network.close() for node in (first, second, bob)))
