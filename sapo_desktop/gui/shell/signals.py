"""Ctrl-C, a polite kill and a closed terminal end the window as its menu does."""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
from collections.abc import Callable, Iterator

from PySide6.QtCore import QSocketNotifier


@contextlib.contextmanager
def polite_ends(call: Callable[[], object]) -> Iterator[None]:
    """Call `call`, within Qt's loop, for SIGINT, SIGTERM and SIGHUP (the terminal that it was started from is closed).

    Python runs its handlers only between two of its own steps, and Qt's loop takes none: a byte in a socket wakes it.
    Windows has neither signal for a program without a console.
    """
    if sys.platform == "win32":
        yield
        return
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)

    def told() -> None:
        ours.recv(64)
        call()

    notifier = QSocketNotifier(ours.fileno(), QSocketNotifier.Type.Read)
    notifier.activated.connect(told)
    before = signal.set_wakeup_fd(theirs.fileno())
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # under nohup it stays ignored
        numbers.append(signal.SIGHUP)
    handlers = {number: signal.signal(number, lambda *_: None) for number in numbers}
    try:
        yield
    finally:
        notifier.setEnabled(False)
        signal.set_wakeup_fd(before)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        ours.close()
        theirs.close()
