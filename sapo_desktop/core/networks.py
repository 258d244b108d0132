"""Which addresses belong to a local network."""

from __future__ import annotations

import ipaddress

_HOMES = [
    ipaddress.IPv4Network(network) for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16")
]
"""RFC 1918 and RFC 3927: what a local network is made of."""


def is_of_a_home(ip: ipaddress.IPv4Address) -> bool:
    """Whether nobody on the internet has this address. Loopback is of no network."""
    return any(ip in network for network in _HOMES)
