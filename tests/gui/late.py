"""A bridge whose answers come when a test wants them."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject

from sapo_desktop.core.link.requests import Request
from sapo_desktop.gui.link.bridge import Answer, Call, Failure
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.base import Ok
from tests.gui.stage import StageBridge


class LateBridge(StageBridge):
    """Requests of these kinds, or all, wait until `deliver` lets them be answered, unless they were cancelled."""

    def __init__(self, view: View, *kinds: type) -> None:
        super().__init__(view)
        self._kinds = kinds
        self._waiting: list[tuple[Call, Callable[[], None]]] = []

    def ask(self, request: Request, then: Answer | None = None, failed: Failure | None = None, *, of: QObject) -> Call:
        if self._kinds and not isinstance(request, self._kinds):
            return super().ask(request, then, failed, of=of)
        self.asked.append(request)
        call = Call()
        self._waiting.append((call, partial(self._answer, request, then, failed)))
        return call

    def deliver(self, most: int = 1000) -> None:
        """The oldest so many are answered."""
        waiting, self._waiting = self._waiting[:most], self._waiting[most:]
        for call, answer in waiting:
            if not call.cancelled():
                call.set_result(Ok())
                answer()

    @property
    def cancelled(self) -> int:
        """Calls under way that were given up."""
        return sum(call.cancelled() for call, _ in self._waiting)
