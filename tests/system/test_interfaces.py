"""Which of this computer's addresses are on a network at home."""

import socket
from types import SimpleNamespace

import psutil
import pytest

from sapo_desktop.system.interfaces import home_addresses


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
