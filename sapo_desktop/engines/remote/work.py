"""Coroutines run from a host's main thread: given up within a tenth of a second when a cancel arrives."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from sapo_desktop.core.errors import HostCancelled
from sapo_desktop.core.sentences import sentence

LOOK_SECONDS = 0.1
"""Between two looks at whether the work is to be given up."""

Result = TypeVar("Result")


class Runner:
    """Runs one coroutine at a time to its end, or until `cancelled` is set; then HostCancelled rises."""

    def __init__(self, cancelled: threading.Event) -> None:
        self._cancelled = cancelled

    def __call__(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run(self._watched(work))

    async def _watched(self, work: Coroutine[Any, Any, Result]) -> Result:
        task = asyncio.ensure_future(work)
        while not task.done():
            if self._cancelled.is_set():
                task.cancel()
                await asyncio.wait([task])
                raise HostCancelled(sentence("Answering was cancelled."))
            await asyncio.wait([task], timeout=LOOK_SECONDS)
        return task.result()


async def all_of(works: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """The results of all, side by side; the first error ends the others and rises."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
