"""What a relay reports to systemd, by a socket of our own in its place."""

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sapo_desktop.worker.relaying.service_manager import ServiceManager

pytestmark = pytest.mark.skipif(os.name == "nt", reason="systemd is on Linux")


@pytest.fixture
def manager() -> Iterator[tuple[str, socket.socket]]:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        path = str(Path(folder) / "s")  # pytest's own folders are too long for a socket
        line.bind(path)
        line.setblocking(False)
        yield path, line


def test_it_is_reported_when_links_are_taken_and_when_they_end(
    monkeypatch: pytest.MonkeyPatch, manager: tuple[str, socket.socket]
) -> None:
    path, line = manager
    monkeypatch.setenv("NOTIFY_SOCKET", path)
    monkeypatch.setenv("WATCHDOG_USEC", "60000000")
    service = ServiceManager()
    assert "NOTIFY_SOCKET" not in os.environ, "a host process could speak in the relay's name"
    assert service.watchdog_seconds == 30
    service.starting("4 of 89\nREADY=1")
    service.ready("Relaying.")
    service.alive("Relaying.")
    service.stopping()
    said = [line.recv(4096).decode().split("\n") for _ in range(4)]
    assert said[0] == ["STATUS=4 of 89 READY=1", "EXTEND_TIMEOUT_USEC=120000000"]
    assert [one[0] for one in said[1:]] == ["READY=1", "WATCHDOG=1", "STOPPING=1"]


@pytest.mark.parametrize("path", ["", "/nowhere/at/all"])
def test_without_one_nothing_happens(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", path)
    service = ServiceManager()
    service.ready("Relaying.")
    service.stopping()
