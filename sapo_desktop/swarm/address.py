"""Addresses of peers: `wss://host:port#key`, where the key (64 hex digits) is whom we expect there.

Without a key the certificate must be one of a public authority, and the key proven first is pinned by whoever keeps
addresses. `ws://` carries no secret, but shows an observer what is said: on loopback, or where it is asked for.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.sentences import Text, sentence

_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*")
_KEY = re.compile(r"[0-9a-fA-F]{64}")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")
_HOME = {"localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "arpa", "onion"}
"""Last labels of names that stand for no host on the public internet."""


@dataclass(frozen=True)
class Address:
    """Where a peer listens."""

    host: str
    port: int
    tls: bool = True
    key: bytes | None = None

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read an address that a person typed or a peer told. Raises UsageError with what is wrong."""
        try:
            parts = urlsplit(text.strip())
            host, port = parts.hostname or "", parts.port
        except ValueError as error:
            raise _wrong(sentence("this one cannot be read: {error}.", error=str(error))) from error
        if parts.scheme not in ("wss", "ws") or parts.path not in ("", "/") or parts.query or parts.username:
            raise UsageError(
                sentence(
                    "An address is written like wss://relay.example:8765#KEY (KEY: 64 hex digits, may be left out)."
                )
            )
        if not port:
            raise _wrong(sentence("the port is missing."))
        if not _is_host(host):
            raise _wrong(sentence("'{name}' is no host.", name=host[:40]))
        if parts.fragment and not _KEY.fullmatch(parts.fragment):
            raise _wrong(sentence("its key is not 64 hex digits."))
        return cls(host, port, parts.scheme == "wss", bytes.fromhex(parts.fragment) if parts.fragment else None)

    @property
    def url(self) -> str:
        """What is connected to; the key stays here."""
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
        """Whether a stranger may name it: no private, loopback, link-local or reserved range, and no name of a host at
        home. Names are looked up and checked again when they are dialled; a proxy looks them up by itself."""
        ip = ip_of(self.host)
        return _is_public_name(self.host) if ip is None else _is_global(ip)


def ip_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a host spells out, an IPv4 one mapped into IPv6 as itself; None for a name."""
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(ip, "ipv4_mapped", None) or ip


def is_private(host: str) -> bool:
    """Whether this is an IP address outside the public internet."""
    ip = ip_of(host)
    return ip is not None and not _is_global(ip)


def part_of_internet(host: str) -> bytes:
    """The /24 of an IPv4 address, the /48 of an IPv6 one: what one party usually has whole."""
    ip = ip_of(host)
    if ip is None:
        return host.encode("utf-8", "surrogateescape")
    return bytes([ip.version]) + ip.packed[: 3 if ip.version == 4 else 6]


def _is_global(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.is_site_local or ip in _COMPATIBLE:
            return False  # long deprecated, and still somebody's home network
        # A translator may carry what is sent to these to the IPv4 address inside: that decides. What Python says of the
        # ranges themselves changed between its releases.
        inside = ip.sixtofour or (ipaddress.IPv4Address(ip.packed[12:]) if ip in _NAT64 else None)
        if inside is not None:
            return _is_global(inside)
    return ip.is_global and not ip.is_multicast


def _is_public_name(host: str) -> bool:
    """Whether a name can be one of the public internet: a resolver may take `127.1` for an address, and `printer` or
    `nas.local` are hosts at home."""
    labels = host.lower().split(".")
    return len(labels) > 1 and not labels[-1].startswith(tuple("0123456789")) and labels[-1] not in _HOME


def _is_host(host: str) -> bool:
    if "%" in host:
        return False  # a zone means something on its own computer only
    return ip_of(host) is not None or _HOST.fullmatch(host) is not None


def _wrong(what: Text) -> UsageError:
    return UsageError(
        sentence(
            "An address is written like wss://relay.example:8765#KEY (KEY: 64 hex digits, may be left out); {what}",
            what=what,
        )
    )
