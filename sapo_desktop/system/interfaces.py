"""Where this computer is on its local networks."""

from __future__ import annotations

import ipaddress
import socket

import psutil

from sapo_desktop.core.network.ranges import is_of_a_home


def home_addresses() -> list[str]:
    """Private IPv4 addresses of the interfaces that are up, loopback left out."""
    up = {name for name, state in psutil.net_if_stats().items() if state.isup}
    found = {
        address.address
        for name, addresses in psutil.net_if_addrs().items()
        for address in addresses
        if name in up and address.family == socket.AF_INET
    }
    return sorted(host for host in found if is_of_a_home(ipaddress.IPv4Address(host)))
