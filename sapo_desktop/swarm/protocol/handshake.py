"""The first messages of a link, without I/O: each side identifies itself and proves it, or says why it leaves.

Each side signs one transcript of both HELLOs under its role. The roles prevent returning one side's signature as the
other's, and the nonces prevent replays. The certificate's hash prevents relaying through a third party that terminates
TLS, since that party has another certificate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sapo_desktop.core.hashing import digest
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.events import Asked, Opened
from sapo_desktop.swarm.protocol.refusals import Reason, Refused
from sapo_desktop.swarm.protocol.signing import Signer, verify
from sapo_desktop.swarm.trust import asking, rotation
from sapo_desktop.swarm.trust.admission import Members
from sapo_desktop.swarm.trust.asking import Porch

Role = Literal["client", "server"]
LABEL = "auth"
NO_TLS = bytes(32)
"""Replaces the hash of the server's certificate on `ws://`."""


def transcript(role: Role, client: m.Hello, server: m.Hello, certificate: bytes) -> bytes:
    """What the side with this role signs (32 bytes). `certificate`: SHA-256 of the server's, or NO_TLS."""
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


def prove(signer: Signer, role: Role, client: m.Hello, server: m.Hello, certificate: bytes) -> bytes:
    """The signature of an AUTH, 64 bytes."""
    return signer.sign(LABEL, client.network, transcript(role, client, server, certificate))


def _versions(hello: m.Hello) -> bytes:
    return b",".join(str(version).encode("ascii") for version in hello.versions)


@dataclass(frozen=True)
class Me:
    """A node's identification on every link."""

    signer: Signer
    network: bytes
    tasks: tuple[bytes, ...]
    catalogue: bytes
    previous: bytes | None = None
    examiner: bytes = b""
    program: str = ""
    versions: tuple[int, ...] = (m.VERSION,)
    admission: bytes = b""
    rotation: bytes = b""
    members: Members | None = None
    """Members of a private swarm, who alone may connect; None: anybody may."""
    asks: str | None = None
    """The label under which to ask for an admission when dialling; None: it does not ask."""
    porch: Porch | None = None
    """Takes such requests; None: nobody may ask here."""


class Parting(Exception):
    """This peer is not for us. `refused`: what to count, if it is at fault."""

    def __init__(self, reason: str, refused: Refused | None = None) -> None:
        super().__init__(reason)
        self.refused = refused


class Asking(Exception):
    """The peer asks to be admitted, and nothing else."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked.label)
        self.asked = asked


class Handshake:
    """One side of a handshake. The arguments are the Session's."""

    def __init__(
        self, role: Role, me: Me, nonce: bytes, unix_time: float, certificate: bytes, expected_key: bytes | None
    ) -> None:
        self.hello = m.Hello(
            versions=list(me.versions),
            network=me.network,
            key=me.signer.key,
            nonce=nonce,
            time=int(unix_time),
            catalogue=me.catalogue,
            previous=me.previous,
            examiner=me.examiner,
            program=me.program,
            admission=me.admission,
            asks=_ask(me, nonce, certificate) if role == "client" else None,
            rotation=me.rotation if rotation.is_recent(me.rotation, unix_time) else b"",
        )
        self.admitted_until = float("inf")
        """Unix time at which the peer's admission ends."""
        self._role: Role = role
        self._me = me
        self._unix_time = unix_time
        self._certificate = certificate
        self._expected_key = expected_key
        self._theirs: m.Hello | None = None

    def take(self, message: m.Any) -> tuple[list[m.Any], Opened | None]:
        """Handle a message; returns the replies, and the peer's identification once it has proven its key.

        Raises:
            Refused: OUT_OF_ORDER, BAD_SIGNATURE.
            Parting: this peer is not for us.
            Asking: it proved its key, and asks to be admitted.
        """
        if isinstance(message, m.Hello) and self._theirs is None:
            return self._on_hello(message), None
        if isinstance(message, m.Auth) and self._theirs is not None:
            return self._on_auth(message, self._theirs)
        raise Refused(Reason.OUT_OF_ORDER, f"{type(message).__name__} during the handshake")

    def _on_hello(self, hello: m.Hello) -> list[m.Any]:
        if set(self.hello.versions).isdisjoint(hello.versions):
            ours = ", ".join(map(str, self.hello.versions))
            raise Parting(f"no common version: this side speaks {ours}")
        if hello.network != self._me.network:
            raise Parting("another network")
        if hello.key == self._me.signer.key:
            raise Parting("this is my own key")
        if self._expected_key is not None and hello.key != self._expected_key:
            raise Parting("not the key that this address belongs to")
        if self._me.members is not None:
            if hello.asks and not hello.admission and self._me.porch is not None and self._role == "server":
                raise Asking(self._asked(hello, hello.asks))
            try:
                self.admitted_until = self._me.members.check(hello.key, hello.admission, self._unix_time)
            except Refused as refused:
                raise Parting(f"not a member of this private swarm: {refused.detail}", refused) from refused
        self._theirs = hello
        return [self.hello, self._proof(hello)] if self._role == "server" else []

    def _asked(self, hello: m.Hello, ask: m.Ask) -> Asked:
        """What it asks. Raises Refused BAD_SIGNATURE."""
        signed = asking.content(hello.key, hello.nonce, ask.label, self._certificate)
        if not verify(ask.signature, key=hello.key, label=asking.LABEL, network=hello.network, content=signed):
            raise Refused(Reason.BAD_SIGNATURE, "who asks does not hold the key it names")
        return Asked(hello.key, ask.label)

    def _on_auth(self, auth: m.Auth, theirs: m.Hello) -> tuple[list[m.Any], Opened]:
        other: Role = "server" if self._role == "client" else "client"
        content = transcript(other, *self._hellos(theirs), self._certificate)
        if not verify(auth.signature, key=theirs.key, label=LABEL, network=theirs.network, content=content):
            raise Refused(Reason.BAD_SIGNATURE, f"the {other} does not hold the key it names")
        return ([self._proof(theirs)] if self._role == "client" else []), Opened(theirs)

    def _proof(self, theirs: m.Hello) -> m.Auth:
        return m.Auth(signature=prove(self._me.signer, self._role, *self._hellos(theirs), self._certificate))

    def _hellos(self, theirs: m.Hello) -> tuple[m.Hello, m.Hello]:
        """Client's and server's."""
        return (self.hello, theirs) if self._role == "client" else (theirs, self.hello)


def _ask(me: Me, nonce: bytes, certificate: bytes) -> m.Ask | None:
    if me.asks is None:
        return None
    signed = asking.content(me.signer.key, nonce, me.asks, certificate)
    return m.Ask(label=me.asks, signature=me.signer.sign(asking.LABEL, me.network, signed))
