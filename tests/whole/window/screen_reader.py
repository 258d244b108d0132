"""What a screen reader finds in the real window, over AT-SPI: test_screen_reader.py starts it on its own bus.

    dbus-run-session -- python -m tests.whole.window.screen_reader FOLDER

The window is another process, as for a real screen reader. Its tree is read, every control has a name, and the large
button is pressed from outside until the node works. Prints `done` at the end.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from jeepney import DBusAddress, Properties, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from sapo_desktop.gui.shell.remembered import WELCOME, Remembered, remember
from sapo_desktop.system.folders import DataFolder
from tests.whole.nodes import PATIENCE

_ACCESSIBLE = "org.a11y.atspi.Accessible"
_PRESSED = {"push button", "button", "check box", "toggle button", "radio button", "text", "entry", "table", "slider"}
_SHOWING = 25
"""Number of the state, by the protocol."""
_MOST = 2000


class Node(NamedTuple):
    """One object of the tree."""

    bus: str
    path: str
    role: str
    name: str
    showing: bool


class Reader:
    """Reads the tree of every program on the accessibility bus."""

    def __init__(self) -> None:
        session = open_dbus_connection(bus="SESSION")
        where = new_method_call(DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus"), "GetAddress")
        address = session.send_and_get_reply(where, timeout=PATIENCE).body[0]
        os.environ["DBUS_SESSION_BUS_ADDRESS"] = address
        self._bus: DBusConnection = open_dbus_connection(bus="SESSION")

    def applications(self) -> list[tuple[str, str]]:
        return self._children("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")

    def walk(self, bus: str, path: str) -> Iterator[Node]:
        """The object and all below it."""
        todo = [(bus, path)]
        for _ in range(_MOST):
            if not todo:
                return
            bus, path = todo.pop()
            role = self._call(bus, path, _ACCESSIBLE, "GetRoleName")[0]
            name = self._property(bus, path, "Name")
            states = self._call(bus, path, _ACCESSIBLE, "GetState")[0]
            yield Node(bus, path, role, name, bool(states[0] >> _SHOWING & 1))
            todo += self._children(bus, path)

    def press(self, node: Node) -> None:
        self._call(node.bus, node.path, "org.a11y.atspi.Action", "DoAction", "i", (0,))

    def _children(self, bus: str, path: str) -> list[tuple[str, str]]:
        found = self._call(bus, path, _ACCESSIBLE, "GetChildren")[0]
        return [(name, at) for name, at in found if not at.endswith("/null")]

    def _property(self, bus: str, path: str, name: str) -> str:
        asked = Properties(DBusAddress(path, bus, _ACCESSIBLE)).get(name)
        return str(self._bus.send_and_get_reply(asked, timeout=PATIENCE).body[0][1])

    def _call(
        self, bus: str, path: str, interface: str, method: str, signature: str = "", body: tuple[Any, ...] = ()
    ) -> Any:
        message = new_method_call(DBusAddress(path, bus, interface), method, signature or None, body)
        return self._bus.send_and_get_reply(message, timeout=PATIENCE).body


def main() -> None:
    folder = Path(sys.argv[1])
    remember(DataFolder.open(folder), Remembered(welcomed=WELCOME))
    line = [sys.executable, "-m", "sapo_desktop", "--data", str(folder)]
    window = subprocess.Popen(line, env={**os.environ, "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"})
    try:
        read(Reader())
    finally:
        window.terminate()
        window.wait(PATIENCE)
    print("done", flush=True)


def read(reader: Reader) -> None:
    bus, path = until(lambda: reader.applications(), "the window on the bus")[0]
    start = until(lambda: named(reader, bus, path, "Learn alone"), "the large button")
    tree = list(reader.walk(bus, path))
    print(f"{len(tree)} objects", flush=True)
    nameless = [node for node in tree if node.showing and node.role in _PRESSED and not node.name.strip()]
    assert not nameless, nameless
    assert any(
        node.name.startswith("Chart of the share of questions solved") or node.name == "Does it learn?" for node in tree
    )
    reader.press(start)
    until(lambda: named(reader, bus, path, "Pause"), "the node works")
    until(lambda: containing(reader, bus, path, "Training round 1"), "its state is read aloud")


def named(reader: Reader, bus: str, path: str, name: str) -> Node | None:
    return next((node for node in reader.walk(bus, path) if node.name == name and "button" in node.role), None)


def containing(reader: Reader, bus: str, path: str, text: str) -> Node | None:
    return next((node for node in reader.walk(bus, path) if text in node.name), None)


def until(look: Any, what: str) -> Any:
    deadline = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < deadline, f"not found: {what}"
        time.sleep(0.2)
    print(what, flush=True)
    return found


if __name__ == "__main__":
    main()
