"""D-Bus, if there is a bus: Linux desktops report on it what no file contains, and show notifications."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from sapo_desktop.core.errors import SapoError

if TYPE_CHECKING:
    from jeepney import HeaderFields, Message
    from jeepney.io.blocking import DBusConnection
    from jeepney.io.common import FilterHandle

Bus = Literal["SESSION", "SYSTEM"]
_SECONDS = 2.0


class NoBus(SapoError):
    """There is no bus, or nothing on it answers."""


def call(
    bus: Bus, name: str, path: str, method: str, signature: str | None = None, body: tuple[Any, ...] = ()
) -> tuple[Any, ...]:
    """Call `method` (`interface.Member`) of an object and return its result. Raises NoBus."""
    with speaking(bus, name, path) as line:
        return line.call(method, signature, body)


class Line:
    """An open connection to one object."""

    def __init__(self, connection: DBusConnection, name: str, path: str) -> None:
        self._connection, self._name, self._path = connection, name, path

    def call(self, method: str, signature: str | None = None, body: tuple[Any, ...] = ()) -> tuple[Any, ...]:
        """Call `method` (`interface.Member`) and return its result."""
        from jeepney import DBusAddress, new_method_call
        from jeepney.wrappers import unwrap_msg

        interface, _, member = method.rpartition(".")
        address = DBusAddress(self._path, bus_name=self._name, interface=interface)
        message = new_method_call(address, member, signature, body)
        answer: tuple[Any, ...] = unwrap_msg(self._connection.send_and_get_reply(message, timeout=_SECONDS))
        return answer

    def signals(self, interface: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Name and arguments of every future signal of the object; never ends."""
        from jeepney import HeaderFields, MatchRule
        from jeepney.bus_messages import message_bus
        from jeepney.wrappers import unwrap_msg

        rule = MatchRule(type="signal", interface=interface, path=self._path)
        unwrap_msg(self._connection.send_and_get_reply(message_bus.AddMatch(rule), timeout=_SECONDS))
        waiting: deque[Message] = deque()
        # Subscribed here, before the caller makes requests that could cause signals.
        heard = self._connection.filter(rule, queue=waiting)
        return self._follow(heard, waiting, HeaderFields.member)

    def _follow(
        self, heard: FilterHandle, waiting: deque[Message], member: HeaderFields
    ) -> Iterator[tuple[str, tuple[Any, ...]]]:
        with heard:
            while True:
                found = self._connection.recv_until_filtered(waiting)
                yield found.header.fields[member], found.body


@contextlib.contextmanager
def speaking(bus: Bus, name: str, path: str, *, descriptors: bool = False) -> Iterator[Line]:
    """A connection for several calls. `descriptors`: answers may contain open files, which the caller closes. Raises
    NoBus, also for errors during its use."""
    from jeepney.wrappers import DBusErrorResponse

    try:
        with _connected(bus, descriptors) as connection:
            yield Line(connection, name, path)
    except (OSError, ValueError, RuntimeError, DBusErrorResponse) as error:
        raise NoBus("{name} does not answer on D-Bus ({error}).", name=name, error=str(error)) from error


def _connected(bus: Bus, descriptors: bool) -> DBusConnection:
    """A connection with a time limit for every answer. jeepney does not limit the first one (Hello), so a bus that
    accepts connections and then says nothing would block the caller forever."""
    from jeepney.bus import get_bus
    from jeepney.io.blocking import DBusConnection, prep_socket

    class Bounded(DBusConnection):  # type: ignore[misc]  # jeepney has no types
        def send_and_get_reply(self, message: Message, *, timeout: float | None = None) -> Message:
            return super().send_and_get_reply(message, timeout=timeout or _SECONDS)

    line = prep_socket(get_bus(_address(bus)), descriptors, timeout=_SECONDS)
    try:
        return Bounded(line, descriptors)
    except BaseException:
        line.close()
        raise


def get_property(bus: Bus, name: str, path: str, interface: str, member: str) -> Any:
    """The value of a property. Raises NoBus."""
    ((_, value),) = call(bus, name, path, "org.freedesktop.DBus.Properties.Get", "ss", (interface, member))
    return value


def _address(bus: Bus) -> str:
    """systemd's address of the session bus, if the environment has none."""
    if bus == "SYSTEM" or "DBUS_SESSION_BUS_ADDRESS" in os.environ:
        return bus
    return f"unix:path={os.environ.get('XDG_RUNTIME_DIR', '')}/bus"
