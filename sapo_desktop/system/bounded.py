"""Calls with a time limit: to a service, a display, or a library that may never answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Answer = TypeVar("Answer")


def begun(work: Callable[[], Answer]) -> Future[Answer]:
    """Run it on a separate thread, which ends with the process at the latest."""
    future: Future[Answer] = Future()
    future.set_running_or_notify_cancel()  # a thread's work cannot be cancelled

    def do() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where the result is awaited
            future.set_exception(error)

    threading.Thread(target=do, daemon=True).start()
    return future


def within(seconds: float, work: Callable[[], Answer]) -> Answer:
    """Return or raise what `work` does. Raises TimeoutError if that takes longer; the work is then abandoned."""
    return begun(work).result(seconds)
