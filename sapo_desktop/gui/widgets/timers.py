"""Timers that belong to an object and end with it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


def timer(owner: QObject, milliseconds: int, call: Callable[[], object], *, once: bool = False) -> QTimer:
    """A timer, not started yet, that calls `call` in its owner's thread."""
    made = QTimer(owner)
    made.setInterval(milliseconds)
    made.setSingleShot(once)
    made.timeout.connect(call)
    return made
