"""Waiting for others: a service, a display, a library that may never answer, each for some seconds at most."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Answer = TypeVar("Answer")


def begun(work: Callable[[], Answer]) -> Future[Answer]:
    """Have it done on a thread of its own, which ends with the process at the latest."""
    future: Future[Answer] = Future()
    future.set_running_or_notify_cancel()  # nobody cancels what a thread does

    def do() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - whoever waits has it raised
            future.set_exception(error)

    threading.Thread(target=do, daemon=True).start()
    return future


def within(seconds: float, work: Callable[[], Answer]) -> Answer:
    """What `work` returns or raises. Raises TimeoutError where that takes longer; the work is left to itself then."""
    return begun(work).result(seconds)
