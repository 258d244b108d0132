"""A desktop's notification service on the session bus: keeps notifications, and presses buttons for a test."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from jeepney import DBusAddress, HeaderFields, MessageType, new_method_return, new_signal
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

NAME, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"


class Given(NamedTuple):
    """One notification."""

    number: int
    title: str
    text: str
    actions: dict[str, str]


class Notifications:
    """See the module; it listens in a thread of its own until the process ends."""

    def __init__(self) -> None:
        self.given: list[Given] = []
        self._connection = open_dbus_connection(bus="SESSION")
        self._connection.send_and_get_reply(message_bus.RequestName(NAME))
        threading.Thread(target=self._listen, daemon=True).start()

    def press(self, given: Given, action: str) -> None:
        """Press a button like a person."""
        sender = DBusAddress(PATH, interface=NAME)
        self._connection.send(new_signal(sender, "ActionInvoked", "us", (given.number, action)))

    def _listen(self) -> None:
        while True:
            message = self._connection.receive()
            fields = message.header.fields
            if message.header.message_type is MessageType.method_call and fields[HeaderFields.member] == "Notify":
                self.given.append(_read(len(self.given) + 1, message.body))
                self._connection.send(new_method_return(message, "u", (len(self.given),)))


def _read(number: int, body: tuple[Any, ...]) -> Given:
    _, _, _, title, text, actions, _, _ = body
    return Given(number, title, text, dict(zip(actions[::2], actions[1::2], strict=True)))
