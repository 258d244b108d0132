"""A bridge whose answers come when a test says so."""

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

from PySide6.QtCore import QObject

from sapo_desktop.gui.link.bridge import Answer, Call, Failure
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.requests import Request
from tests.gui.stage import StageBridge


class LateBridge(StageBridge):
    """Requests of these kinds, or all, wait until `deliver` lets them be answered, unless they were cancelled."""

    def __init__(self, view: View, *kinds: type) -> None:
        super().__init__(view)
        self._kinds = kinds
        self._waiting: list[tuple[Future[Any], Callable[[], None]]] = []

    def ask(
        self, request: Request, then: Answer | None = None, failed: Failure | None = None, *, of: QObject
    ) -> Call | None:
        if self._kinds and not isinstance(request, self._kinds):
            return super().ask(request, then, failed, of=of)
        self.asked.append(request)
        future: Future[Any] = Future()
        self._waiting.append((future, partial(self._answer, request, then, failed)))
        return Call(future)

    def deliver(self, most: int = 1000) -> None:
        """The oldest so many are answered."""
        waiting, self._waiting = self._waiting[:most], self._waiting[most:]
        for future, answer in waiting:
            if not future.cancelled():
                future.set_result(None)
                answer()

    @property
    def cancelled(self) -> int:
        """Calls under way that were given up."""
        return sum(future.cancelled() for future, _ in self._waiting)
