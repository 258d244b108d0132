"""A bus that never answers: the caller continues."""

import socket
import sys
import threading
from pathlib import Path

import pytest

from sapo_desktop.system.presence import bus
from sapo_desktop.system.presence.bus import NoBus


@pytest.mark.allowed_skip("D-Bus is what Linux desktops have")
@pytest.mark.skipif(sys.platform != "linux", reason="D-Bus is what Linux desktops have")
def test_a_bus_that_takes_connections_and_then_says_nothing_holds_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus, "_SECONDS", 0.2)
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/bus")
    heard: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(f"{tmp_path}/bus")
        door.listen()

        def serve() -> None:
            line, _ = door.accept()
            with line:
                line.settimeout(20)
                while not heard or heard[-1]:
                    heard.append(line.recv(4096))
                    if heard[-1].startswith((b"AUTH", b"\0AUTH")):
                        line.sendall(b"OK 1234deadbeef\r\n")

        serving = threading.Thread(target=serve)
        serving.start()
        with pytest.raises(NoBus):
            bus.call("SESSION", "org.example", "/", "org.example.Ask")
        serving.join()
    assert b"BEGIN" in b"".join(heard) and b"Hello" in b"".join(heard) and heard[-1] == b"", "the caller hung up first"
