"""The first messages of a link, without I/O: each side says who it is and proves it, or says why it parts.

What is signed is handshake.py's; here is which message may come when, and whom we talk to.
"""

from __future__ import annotations

from dataclasses import dataclass

from sapo_desktop.swarm.protocol import handshake
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.events import Opened
from sapo_desktop.swarm.protocol.handshake import Role
from sapo_desktop.swarm.protocol.refusals import Reason, Refused
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.trust import rotation
from sapo_desktop.swarm.trust.admission import Members


@dataclass(frozen=True)
class Me:
    """What a node says of itself on every link."""

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
    """Of a private swarm: who else may be talked to; None: anybody."""


class Parting(Exception):
    """We have nothing to do with this peer. `refused`: what is to be counted of it, where it is its fault."""

    def __init__(self, reason: str, refused: Refused | None = None) -> None:
        super().__init__(reason)
        self.refused = refused


class Greeting:
    """One side's. The arguments are the Session's."""

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
        """Take a message; returns what is to be said, and what is known of the peer once it has proven its key.

        Raises:
            Refused: OUT_OF_ORDER, BAD_SIGNATURE.
            Parting: this is nobody for us.
        """
        if isinstance(message, m.Hello) and self._theirs is None:
            return self._on_hello(message), None
        if isinstance(message, m.Auth) and self._theirs is not None:
            return self._on_auth(message, self._theirs)
        raise Refused(Reason.OUT_OF_ORDER, f"{type(message).__name__} during the handshake")

    def _on_hello(self, hello: m.Hello) -> list[m.Any]:
        if handshake.common_version(self.hello.versions, hello.versions) is None:
            ours = ", ".join(map(str, self.hello.versions))
            raise Parting(f"no common version: this side speaks {ours}")
        if hello.network != self._me.network:
            raise Parting("another network")
        if hello.key == self._me.signer.key:
            raise Parting("this is my own key")
        if self._expected_key is not None and hello.key != self._expected_key:
            raise Parting("not the key that this address belongs to")
        if self._me.members is not None:
            try:
                self.admitted_until = self._me.members.check(hello.key, hello.admission, self._unix_time)
            except Refused as refused:
                raise Parting(f"not a member of this private swarm: {refused.detail}", refused) from refused
        self._theirs = hello
        return [self.hello, self._proof(hello)] if self._role == "server" else []

    def _on_auth(self, auth: m.Auth, theirs: m.Hello) -> tuple[list[m.Any], Opened]:
        version = handshake.common_version(self.hello.versions, theirs.versions)
        assert version is not None
        other: Role = "server" if self._role == "client" else "client"
        handshake.check(auth.signature, other, *self._hellos(theirs), self._certificate)
        opened = Opened(
            key=theirs.key,
            version=version,
            catalogue=theirs.catalogue,
            previous=theirs.previous,
            examiner=theirs.examiner,
            program=theirs.program,
            time=theirs.time,
            rotation=theirs.rotation,
        )
        return ([self._proof(theirs)] if self._role == "client" else []), opened

    def _proof(self, theirs: m.Hello) -> m.Auth:
        signature = handshake.prove(self._me.signer, self._role, *self._hellos(theirs), self._certificate)
        return m.Auth(signature=signature)

    def _hellos(self, theirs: m.Hello) -> tuple[m.Hello, m.Hello]:
        """Client's and server's."""
        return (self.hello, theirs) if self._role == "client" else (theirs, self.hello)
