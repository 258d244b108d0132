"""How many sockets this process may open without taking from its files what they need."""

from __future__ import annotations

import contextlib

RESERVE = 128
"""Descriptors that sockets of peers never get: hosts, history, checkpoints, logs, clients, and what is opened next."""


def room_for_sockets(wanted: int) -> int:
    """`wanted`, or as many as the system lets this process have beside its reserve; its soft limit is raised for it."""
    try:
        import resource
    except ImportError:
        return wanted  # on Windows sockets take nothing from files
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + RESERVE
    if soft != resource.RLIM_INFINITY and soft < needed:
        most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        with contextlib.suppress(ValueError, OSError):  # macOS has a further limit that it does not tell here
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
    return wanted if soft == resource.RLIM_INFINITY else max(0, min(wanted, soft - RESERVE))
