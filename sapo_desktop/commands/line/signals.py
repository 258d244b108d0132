"""What Ctrl-C and SIGTERM do while a command works, and while it waits for somebody to type."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType


@contextlib.contextmanager
def on_signals(interrupt: Callable[[], None], terminate: Callable[[], None]) -> Iterator[None]:
    """Be told on the event loop of Ctrl-C and of SIGTERM, in place of an exception in the middle of anything."""
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
    """Ctrl-C ends a read: the event loop's own handler waits until the loop runs again, which it never would."""
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
    except RuntimeError:  # no event loop runs
        return False
    return task is not None and task.cancelling() > 0
