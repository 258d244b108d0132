"""Network facts from the system: local addresses, how many sockets this process may open, and which of them lead
elsewhere."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from typing import Any

import psutil

from sapo_desktop.core.network.ranges import is_of_a_home


def home_addresses() -> list[str]:
    """Private IPv4 addresses of the active interfaces, without loopback."""
    up = {name for name, state in psutil.net_if_stats().items() if state.isup}
    found = {
        address.address
        for name, addresses in psutil.net_if_addrs().items()
        for address in addresses
        if name in up and address.family == socket.AF_INET
    }
    return sorted(host for host in found if is_of_a_home(ipaddress.IPv4Address(host)))


def ways_out(pid: int) -> int | None:
    """Number of sockets of this process and its children that lead to another computer, or accept connections from
    one, as counted by the system. None: unknown."""
    try:
        first = psutil.Process(pid)
        family = [first, *first.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0
    count = 0
    for process in family:
        try:
            count += sum(map(_leads_out, process.net_connections("inet")))
        except psutil.NoSuchProcess:
            continue  # it ended meanwhile
        except (psutil.Error, OSError):
            return None
    return count


def _leads_out(socket_of: Any) -> bool:
    """Whether the remote end is on another computer; for a listening socket, whether others can reach it."""
    far = socket_of.raddr or socket_of.laddr
    return bool(far) and not ipaddress.ip_address(far.ip.partition("%")[0]).is_loopback


RESERVE = 128
"""Descriptors reserved for hosts, history, checkpoints, logs, clients, and later files; never used for peers'
sockets."""


def room_for_sockets(wanted: int) -> int:
    """`wanted`, or as many as the system allows besides the reserve; raises the soft limit for it."""
    try:
        import resource
    except ImportError:
        return wanted  # on Windows sockets do not count as files
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + RESERVE
    if soft != resource.RLIM_INFINITY and soft < needed:
        most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        with contextlib.suppress(ValueError, OSError):  # macOS has a further limit that is not visible here
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
    return wanted if soft == resource.RLIM_INFINITY else max(0, min(wanted, soft - RESERVE))
