"""Ctrl-C and SIGTERM while a command works, and while it waits for input."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType


@contextlib.contextmanager
def on_signals(interrupt: Callable[[], None], terminate: Callable[[], None]) -> Iterator[None]:
    """Handle Ctrl-C and SIGTERM on the event loop, instead of an exception at any point."""
    loop = asyncio.get_running_loop()

    def on_loop(action: Callable[[], None]) -> Callable[[int, FrameType | None], None]:
        def handler(number: int, frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(action)

        return handler

    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, on_loop(interrupt)),
        signal.SIGTERM: signal.signal(signal.SIGTERM, on_loop(terminate)),
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end a read: the event loop's own handler waits until the loop runs again, which would never happen."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if _is_cancelled():
            raise KeyboardInterrupt  # it came just before
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _is_cancelled() -> bool:
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop is running
        return False
    return task is not None and task.cancelling() > 0
