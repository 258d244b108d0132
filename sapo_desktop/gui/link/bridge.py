"""The one place where the worker's events become Qt signals in the window's thread.

The link's thread (attachment.py) delivers; what arrives within a frame is handled together, the view model stores it,
and one signal names what changed. A widget sends requests by `ask` and is answered in the window's thread, unless it
has been deleted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import shiboken6
from PySide6.QtCore import QObject, Qt, Signal, Slot

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.link.requests import ReplyType, Request
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.link import Arrival, Attached
from sapo_desktop.view.viewmodel import KEPT_ROUNDS, Section, View
from sapo_desktop.worker.control.messages.asking import AskProgressed
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.replies import History, SwarmIs
from sapo_desktop.worker.control.messages.requests import GetHistory, GetSwarm

if TYPE_CHECKING:
    from sapo_desktop.gui.link.attachment import Attachment

FRAME_MS = 40
"""Events within this time are reported together."""
HIDDEN_MS = 500
"""The same if only the tray shows something."""
SWARM_MS = 3000
"""Interval of updates of the links while a window shows them; there is no event for every group."""
Answer: TypeAlias = Callable[[ReplyType], object]
Failure = Callable[[SapoError], None]
Call = Future[Any]
"""A running request. If it is cancelled, the worker is informed, and no callback is called."""


class Bridge(QObject):
    """The worker, as the window's thread sees it.

    Signals:
        changed: the sections of the view that changed (a frozenset).
        said: one sentence in reply to the user's action.
        trouble: one sentence about a failure.
        streamed: AskProgressed of an answer that is being given.
    """

    changed = Signal(object)
    said = Signal(str)
    trouble = Signal(str)
    streamed = Signal(object)
    _arrived = Signal()
    _answered = Signal(object)

    def __init__(self, folder: Path, view: View) -> None:
        super().__init__()
        self.view = view
        self.folder = folder
        self._link: Attachment | None = None
        self._closely = True
        self._lock = threading.Lock()
        self._waiting: list[Arrival] = []
        self._frame = timer(self, FRAME_MS, self._take_all, once=True)
        self._arrived.connect(self._begin_frame, Qt.ConnectionType.QueuedConnection)
        self._answered.connect(self._call_back, Qt.ConnectionType.QueuedConnection)
        self._swarm_timer = timer(self, SWARM_MS, self.look_at_swarm)
        self._looking: Call | None = None

    @property
    def link(self) -> Attachment:
        """The link itself. Its libraries are loaded at first use, after the first frame."""
        if self._link is None:
            from sapo_desktop.gui.link.attachment import Attachment

            self._link = Attachment(self.folder, self._deliver)
            self._link.watch(self._closely)
        return self._link

    def start(self) -> None:
        self.link.start()

    def ask(
        self,
        request: Request[ReplyType],
        then: Answer[ReplyType] | None = None,
        failed: Failure | None = None,
        *,
        of: QObject,
    ) -> Call:
        """Send a request. `then` gets the reply, `failed` the error, in this thread and only while `of` lives.

        Without `then`, a reply's sentence is shown; without `failed`, an error's.
        """
        future = self.link.call(request)
        # The callback runs on the link's thread: it passes the result on, and touches no widget.
        future.add_done_callback(lambda done: self._answered.emit((done, then, failed, of)))
        return future

    def try_again(self) -> None:
        """Start a worker now."""
        self.link.try_again()

    def watch_swarm(self, on: bool) -> None:
        """Whether a window is visible: then events are reported immediately, and links and their traffic, which have
        no events, are requested."""
        self._frame.setInterval(FRAME_MS if on else HIDDEN_MS)
        self._closely = on
        if self._link is not None:
            self._link.watch(on)
        if on and not self._swarm_timer.isActive():
            self.look_at_swarm()
            self._swarm_timer.start()
        elif not on:
            self._swarm_timer.stop()

    @Slot()
    def look_at_swarm(self) -> None:
        if self.view.attached and (self._looking is None or self._looking.done()):
            self._looking = self.ask(GetSwarm(), self._swarm_is, lambda error: None, of=self)

    def _swarm_is(self, reply: SwarmIs) -> None:
        self.changed.emit(self.view.take_swarm(reply.info))

    # -- on the link's thread ------------------------------------------------------------------------------

    def _deliver(self, arrival: Arrival) -> None:
        with self._lock:
            self._waiting.append(arrival)
            first = len(self._waiting) == 1
        if first:
            self._arrived.emit()

    # -- in the window's thread ------------------------------------------------------------------------------

    @Slot()
    def _begin_frame(self) -> None:
        if not self._frame.isActive():
            self._frame.start()

    @Slot()
    def _take_all(self) -> None:
        with self._lock:
            arrivals, self._waiting = self._waiting, []
        changed: set[Section] = set()
        for arrival in arrivals:
            if isinstance(arrival, AskProgressed):
                self.streamed.emit(arrival)
                continue
            changed |= self.view.take(arrival)
        if any(isinstance(arrival, Attached) for arrival in arrivals):
            after = max(0, self.view.curves.last_round - KEPT_ROUNDS)
            self.ask(GetHistory(after=after), self._history_is, lambda error: None, of=self)
        if changed:
            self.changed.emit(frozenset(changed))

    def _history_is(self, reply: History) -> None:
        self.changed.emit(self.view.take_history(reply.rounds))

    @Slot(object)
    def _call_back(self, what: tuple[Call, Answer[Any] | None, Failure | None, QObject]) -> None:
        done, then, failed, of = what
        if done.cancelled() or not shiboken6.isValid(of):
            return
        try:
            reply = done.result()
        except SapoError as error:
            if failed is not None:
                failed(error)
            else:
                self.trouble.emit(in_words(error))
            return
        if then is not None:
            then(reply)
        elif isinstance(reply, Ok) and reply.text:
            self.said.emit(in_words(reply.text))
