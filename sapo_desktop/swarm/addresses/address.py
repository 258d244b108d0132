"""Addresses of peers: `wss://host:port#key`, where the key (64 hex digits) identifies the peer expected there.

Without a key, a public authority must have signed the certificate, and the first proven key is pinned by the code that
stores addresses. `ws://` exposes no secret but lets observers read the traffic; it is for loopback, or if requested.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.files.reading import read_bytes
from sapo_desktop.core.network.ranges import LOWEST_PORT, is_public
from sapo_desktop.core.network.ranges import ip_of as ip_of
from sapo_desktop.core.network.ranges import is_private as is_private
from sapo_desktop.core.sentences import Text, sentence

log = logging.getLogger(__name__)

_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*")
_KEY = re.compile(r"[0-9a-fA-F]{64}")


@dataclass(frozen=True)
class Address:
    """The address at which a peer listens."""

    host: str
    port: int
    tls: bool = True
    key: bytes | None = None

    @classmethod
    def parse(cls, text: str) -> Address:
        """Parse an address from a person or a peer. Raises UsageError with what is wrong."""
        try:
            parts = urlsplit(text.strip())
            host, port = parts.hostname or "", parts.port
        except ValueError as error:
            raise _wrong(sentence("this one cannot be read: {error}.", error=str(error))) from error
        if parts.scheme not in ("wss", "ws") or parts.path not in ("", "/") or parts.query or parts.username:
            raise UsageError(
                sentence("Write an address like wss://relay.example:8765#KEY (KEY: 64 hex digits, optional).")
            )
        if not port:
            raise _wrong(sentence("the port is missing."))
        if not _is_host(host):
            raise _wrong(sentence("'{name}' is not a host name.", name=host[:40]))
        if "#" in text and not _KEY.fullmatch(parts.fragment):
            raise _wrong(sentence("its key is not 64 hex digits."))
        return cls(host, port, parts.scheme == "wss", bytes.fromhex(parts.fragment) if parts.fragment else None)

    @property
    def url(self) -> str:
        """The URL to connect to, without the key."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'wss' if self.tls else 'ws'}://{host}:{self.port}/"

    def __str__(self) -> str:
        return self.url.rstrip("/") + (f"#{self.key.hex()}" if self.key else "")

    @property
    def is_loopback(self) -> bool:
        ip = ip_of(self.host)
        return ip.is_loopback if ip else self.host == "localhost"

    @property
    def is_public(self) -> bool:
        """Whether a stranger may name this host: no private, loopback, link-local or reserved range, no local name.
        Names are resolved and checked again when they are dialled, unless a proxy resolves them."""
        return is_public(self.host)

    @property
    def is_at_free_port(self) -> bool:
        """Whether its port is none of those used by other services."""
        return self.port >= LOWEST_PORT or self.port == 443


def part_of_internet(host: str) -> bytes:
    """The /24 of an IPv4 address, the /48 of an IPv6 address: networks that usually have one owner."""
    ip = ip_of(host)
    if ip is None:
        return host.encode("utf-8", "surrogateescape")
    return bytes([ip.version]) + ip.packed[: 3 if ip.version == 4 else 6]


def _is_host(host: str) -> bool:
    if "%" in host:
        return False  # a zone is only meaningful on its own computer
    return ip_of(host) is not None or _HOST.fullmatch(host) is not None


def _wrong(what: Text) -> UsageError:
    return UsageError(
        "Write an address like wss://relay.example:8765#KEY (KEY: 64 hex digits, optional); {what}",
        what=what,
    )


def read_seeds(path: Path) -> list[Address]:
    """The addresses of a release's seed list, where a node without peers starts: one per line with its key, and
    comments after `#`. Invalid lines are left out, and their numbers logged.

    A key is required: a server with another key is not run by the operator in the list.
    """
    found = []
    for number, line in enumerate(read_bytes(path).decode("utf-8", "replace").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        address = _seed(line)
        if address is None:
            log.warning("Line %d of the seed list is no wss:// address with a key: left out.", number)
        else:
            found.append(address)
    return found


def _seed(line: str) -> Address | None:
    try:
        address = Address.parse(line)
    except UsageError:
        return None
    return address if address.tls and address.key is not None else None
