"""Open files reserved from sockets, and which of this computer's addresses are on a home network."""

import os
import socket
import sys
from types import SimpleNamespace

import psutil
import pytest

from sapo_desktop.system.network import RESERVE, home_addresses, room_for_sockets, ways_out


def limits(monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, *, fixed: bool = False) -> list[tuple[int, int]]:
    """A system with these limits; returns what they are changed to."""
    changed: list[tuple[int, int]] = []

    def change(which: int, values: tuple[int, int]) -> None:
        if fixed:
            raise ValueError("not allowed to raise maximum limit")
        changed.append(values)

    fake = SimpleNamespace(RLIMIT_NOFILE=7, RLIM_INFINITY=-1, getrlimit=lambda which: (soft, hard), setrlimit=change)
    monkeypatch.setitem(sys.modules, "resource", fake)
    return changed


@pytest.mark.parametrize(
    ("soft", "hard", "room", "changed"),
    [
        (20_000, 20_000, 2064, []),
        (-1, -1, 2064, []),
        (1024, 4096, 2064, [(2064 + RESERVE, 4096)]),
        (1024, -1, 2064, [(2064 + RESERVE, -1)]),
        (1024, 1024, 1024 - RESERVE, [(1024, 1024)]),
        (64, 64, 0, [(64, 64)]),
    ],
)
def test_sockets_get_what_files_do_not_need(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, room: int, changed: list[tuple[int, int]]
) -> None:
    calls = limits(monkeypatch, soft, hard)
    assert room_for_sockets(2064) == room
    assert calls == changed


def test_a_limit_that_stays_as_it_is_is_kept_to(monkeypatch: pytest.MonkeyPatch) -> None:
    limits(monkeypatch, 256, 100_000, fixed=True)
    assert room_for_sockets(2064) == 256 - RESERVE


def test_where_files_and_sockets_are_apart_nothing_is_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    assert room_for_sockets(2064) == 2064


def test_private_addresses_of_what_is_up_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def of(*hosts: str) -> list[SimpleNamespace]:
        return [
            SimpleNamespace(family=socket.AF_INET6 if ":" in host else socket.AF_INET, address=host) for host in hosts
        ]

    there = {
        "lo": of("127.0.0.1", "::1"),
        "eth0": of("192.168.1.7", "fd00::1"),
        "wlan0": of("10.0.0.7"),
        "wan": of("8.8.8.8", "192.0.2.2"),
    }
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: there)
    monkeypatch.setattr(psutil, "net_if_stats", lambda: {name: SimpleNamespace(isup=name != "wlan0") for name in there})
    assert home_addresses() == ["192.168.1.7"]


def test_this_computer_can_be_asked() -> None:
    assert not any(host.startswith("127.") for host in home_addresses())


def test_only_sockets_that_lead_out_of_this_computer_are_counted() -> None:
    before = ways_out(os.getpid())
    assert before is not None
    with socket.create_server(("127.0.0.1", 0)) as here, socket.create_connection(here.getsockname()):
        assert ways_out(os.getpid()) == before, "the window and the worker talk so"
    with socket.create_server(("0.0.0.0", 0)):
        assert ways_out(os.getpid()) == before + 1, "others could come in"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.connect(("192.0.2.1", 9))  # sends nothing
        assert ways_out(os.getpid()) == before + 1
    assert ways_out(os.getpid()) == before


def test_where_the_system_does_not_tell_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: psutil.Process, kind: str) -> None:
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil.Process, "net_connections", refuse)
    assert ways_out(os.getpid()) is None
