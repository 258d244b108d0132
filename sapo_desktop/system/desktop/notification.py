"""A notification with actions, over D-Bus; also works on desktops without a tray, such as GNOME."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sapo_desktop.system.presence import bus

_NAME, _PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
OPEN = "default"
"""The action of clicking the notification itself."""


def show(title: str, text: str, actions: Mapping[str, str]) -> str:
    """Show it and wait until it is gone; returns the chosen action, or an empty text. For a separate thread.

    `actions`: their labels, by name. Raises NoBus if nothing shows notifications.
    """
    with bus.speaking("SESSION", _NAME, _PATH) as line:
        signals = line.signals(_NAME)
        words = [word for action in actions.items() for word in action]
        body: tuple[Any, ...] = ("SAPO Desktop", 0, "", title, text, words, {}, -1)
        (number,) = line.call(f"{_NAME}.Notify", "susssasa{sv}i", body)
        for name, arguments in signals:
            if arguments and arguments[0] == number and name in ("ActionInvoked", "NotificationClosed"):
                return str(arguments[1]) if name == "ActionInvoked" else ""
    return ""
