"""Which addresses belong to a local network, and which to the public internet."""

from __future__ import annotations

import ipaddress

LOWEST_PORT = 1024
"""Other services listen below this port; peers must not make a node connect to them."""
_HOMES = [
    ipaddress.IPv4Network(network) for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16")
]
"""The ranges of local networks: RFC 1918 and RFC 3927."""
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_UNICAST = ipaddress.IPv6Network("2000::/3")
"""All IPv6 space that was ever assigned; the rest holds translators' and other special ranges."""
_SPECIAL: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = [
    *map(ipaddress.IPv4Network, ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32")),
    ipaddress.IPv6Network("3fff::/20"),
]
"""Ranges that some releases of Python take for global: metadata services of clouds, 6to4 relays, documentation."""
_HOME_NAMES = {"localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "arpa", "onion"}
"""Top-level labels that never name a host on the public internet."""


def is_of_a_home(ip: ipaddress.IPv4Address) -> bool:
    """Whether the address is local and unknown on the internet. Loopback counts as neither."""
    return any(ip in network for network in _HOMES)


def ip_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a host spells out (an IPv4 address mapped into IPv6 as IPv4); None for a name."""
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(ip, "ipv4_mapped", None) or ip


def is_private(host: str) -> bool:
    """Whether this is an IP address outside the public internet."""
    ip = ip_of(host)
    return ip is not None and not _is_global(ip)


def is_public(host: str) -> bool:
    """Whether a stranger may name this host: no private, loopback, link-local or reserved range, no local name. The
    addresses behind a name are checked when it is resolved."""
    ip = ip_of(host)
    return _is_public_name(host) if ip is None else _is_global(ip)


def _is_global(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if isinstance(ip, ipaddress.IPv6Address):
        # A translator may forward these to the IPv4 address inside, so that one decides. Python's own answer for the
        # ranges themselves changed between releases.
        inside = ip.sixtofour or (ipaddress.IPv4Address(ip.packed[12:]) if ip in _NAT64 else None)
        if inside is not None:
            return _is_global(inside)
        if ip not in _UNICAST:
            return False
    special = any(ip.version == network.version and ip in network for network in _SPECIAL)
    return ip.is_global and not ip.is_multicast and not special


def _is_public_name(host: str) -> bool:
    """Whether a name can be public. A resolver may read `127.1` as an address, and `printer` and `nas.local` are
    local hosts."""
    labels = host.lower().split(".")
    return len(labels) > 1 and not labels[-1].startswith(tuple("0123456789")) and labels[-1] not in _HOME_NAMES
