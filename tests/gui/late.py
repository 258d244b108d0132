"""A bridge whose answers come when a test says so."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

from PySide6.QtCore import QObject

from sapo_desktop.gui.link.bridge import Answer, Call, Failure
from sapo_desktop.worker.control.messages.replies import Reply
from sapo_desktop.worker.control.messages.requests import Request
from tests.gui.stage import StageBridge


class LateBridge(StageBridge):
    """`deliver` lets everything that waits be answered, unless it was cancelled."""

    def ask(
        self, request: Request, then: Answer | None = None, failed: Failure | None = None, *, of: QObject
    ) -> Call | None:
        future: Future[Reply] = Future()
        self._waiting().append((future, lambda: StageBridge.ask(self, request, then, failed, of=of)))
        return Call(future)

    def deliver(self) -> None:
        waiting, self._late = self._waiting(), []
        for future, answer in waiting:
            if not future.cancelled():
                future.set_result(None)  # type: ignore[arg-type]
                answer()

    @property
    def cancelled(self) -> int:
        """Calls under way that were given up."""
        return sum(future.cancelled() for future, _ in self._waiting())

    def _waiting(self) -> list[tuple[Future[Reply], Callable[[], object]]]:
        if not hasattr(self, "_late"):
            self._late: list[tuple[Future[Reply], Callable[[], object]]] = []
        return self._late
