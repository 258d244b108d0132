"""How desktops report that the user is away: a real X server, a made-up Wayland compositor, a bus with a service on
it."""

import shutil
import socket
import struct
import textwrap
import threading
import time
from pathlib import Path

import pytest

from sapo_desktop.system.presence import x11
from sapo_desktop.system.presence.wayland import IdleNotify
from tests.display import a_display, can_be_had
from tests.system.on_a_bus import needs_a_bus, plays


@pytest.mark.allowed_skip("X11 is what Linux desktops have")
@pytest.mark.skipif(not can_be_had(), reason="Xvfb is not installed")
def test_an_x_server_tells() -> None:
    with a_display() as environment:
        display = environment["DISPLAY"]
        assert 0 <= x11.idle(display) < 60
        assert not x11.has_tray(display), "nobody shows icons on a bare server"
        with pytest.raises(OSError, match="not on this computer"):
            x11.idle("elsewhere.example:0")
    with pytest.raises(OSError):
        x11.idle(":4711")


@pytest.mark.allowed_skip("X11 is what Linux desktops have")
@pytest.mark.skipif(not can_be_had() or not shutil.which("trayer"), reason="Xvfb or trayer is not installed")
def test_an_x_server_tells_of_a_tray() -> None:
    deadline = time.monotonic() + 60
    with a_display(tray=True) as environment:
        while not x11.has_tray(environment["DISPLAY"]):
            assert time.monotonic() < deadline, "the tray is there and is not seen"


def event(number: int, opcode: int, body: bytes = b"") -> bytes:
    return struct.pack("=II", number, (8 + len(body)) << 16 | opcode) + body


def offer(name: int, interface: str) -> bytes:
    text = interface.encode() + b"\0"
    return event(2, 0, struct.pack("=II", name, len(text)) + text + bytes(-len(text) % 4) + struct.pack("=I", 1))


class Compositor:
    """Offers these interfaces to the first who connects; the test says the rest."""

    def __init__(self, path: Path, *interfaces: str) -> None:
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen(1)
        self._interfaces = interfaces
        self.client: socket.socket | None = None
        self._thread = threading.Thread(target=self._greet)
        self._thread.start()

    def _greet(self) -> None:
        self.client, _ = self._server.accept()
        self.client.recv(4096)
        offers = b"".join(offer(10 + place, name) for place, name in enumerate(self._interfaces))
        self.client.sendall(offers[:30])
        self.client.sendall(offers[30:] + event(3, 0, struct.pack("=I", 1)))

    def say(self, data: bytes) -> None:
        self._thread.join()
        assert self.client is not None
        self.client.sendall(data)

    def close(self) -> None:
        self._thread.join()
        for one in (self.client, self._server):
            if one is not None:
                one.close()


def test_a_wayland_compositor_tells_when_it_begins_and_ends(tmp_path: Path) -> None:
    now = [100.0]
    compositor = Compositor(tmp_path / "wayland-0", "wl_compositor", "wl_seat", "ext_idle_notifier_v1")
    idle = IdleNotify(tmp_path / "wayland-0", lambda: now[0])
    assert idle.idle() == 0
    compositor.say(event(6, 0))
    assert idle.idle() == 1
    now[0] += 59
    assert idle.idle() == 60
    compositor.say(event(6, 1)[:5])
    assert idle.idle() == 60, "half an event is none"
    compositor.say(event(6, 1)[5:])
    assert idle.idle() == 0
    compositor.close()
    with pytest.raises(OSError):
        idle.idle()
    idle.close()


def test_a_compositor_without_the_protocol_says_what_it_lacks(tmp_path: Path) -> None:
    compositor = Compositor(tmp_path / "wayland-0", "wl_seat")
    with pytest.raises(OSError, match="ext_idle_notifier_v1"):
        IdleNotify(tmp_path / "wayland-0")
    compositor.close()


SERVICE = textwrap.dedent(
    """
    import threading
    from jeepney import DBusAddress, new_method_return, new_signal
    from jeepney.bus_messages import message_bus
    from jeepney.io.blocking import open_dbus_connection
    from sapo_desktop.system.desktop import notification
    from sapo_desktop.system.presence import sensors
    from sapo_desktop.system.presence.idle import Idle

    os.environ["WAYLAND_DISPLAY"] = "none"
    assert not sensors.is_metered(), "no NetworkManager"
    serving = open_dbus_connection("SESSION")
    for name in ("org.gnome.Mutter.IdleMonitor", "org.freedesktop.NetworkManager", "org.freedesktop.Notifications"):
        serving.send_and_get_reply(message_bus.RequestName(name))
    metered, shown = iter((1, 2, 0)), []

    def serve():
        while True:
            asked = serving.receive()
            member = asked.header.fields.get(3)
            if member == "GetIdletime":
                serving.send(new_method_return(asked, "t", (61_500,)))
            elif member == "Get":
                assert asked.body == ("org.freedesktop.NetworkManager", "Metered"), asked.body
                serving.send(new_method_return(asked, "v", (("u", next(metered)),)))
            elif member == "Notify":
                shown.append(asked.body[3:6])
                serving.send(new_method_return(asked, "u", (2,)))
                sender = DBusAddress("/org/freedesktop/Notifications", interface="org.freedesktop.Notifications")
                for number in (1, 2):  # the first is another program's
                    serving.send(new_signal(sender, "ActionInvoked", "us", (number, f"action {number}")))

    threading.Thread(target=serve, daemon=True).start()
    assert Idle().seconds() == 61.5
    assert sensors.is_metered() is True and sensors.is_metered() is False
    assert sensors.is_metered() is None, "NetworkManager does not know it either"
    assert notification.show("Title", "Text", {"default": "Open"}) == "action 2"
    assert shown == [("Title", "Text", ["default", "Open"])], shown
    print("done")
    """
)


@pytest.mark.allowed_skip("D-Bus is what Linux desktops have")
@needs_a_bus
def test_services_on_a_bus_tell(tmp_path: Path) -> None:
    plays(SERVICE, tmp_path)
