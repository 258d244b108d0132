"""The user's orders to the node, from the window, the tray or the keyboard: one method each."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.link.requests import Request
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.requests import Finish, Pause, Quit, Resume, SetSilo, StartRounds


class Actions(QObject):
    """The user's orders. The view shows their effect; refusals are reported by the bridge's `trouble`.

    Signals:
        erase: quit, and delete this kind of stored data (system/erasing.py).
    """

    erase = Signal(str)

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__(bridge)
        self._view = view
        self._bridge = bridge
        self.quits_after_round = False
        """Whether the window should close when the worker has ended."""

    def _order(self, request: Request[Ok]) -> None:
        if not isinstance(request, SetSilo):  # any other order cancels the planned end
            self.quits_after_round = isinstance(request, Quit)
        # The changed state shows the effect, not the reply.
        self._bridge.ask(request, lambda reply: None, partial(self._refused, request), of=self)

    def _refused(self, request: Request[Ok], error: SapoError) -> None:
        """It is reported, and every switch shows the current state again."""
        if isinstance(request, Quit):
            self.quits_after_round = False
        self._bridge.trouble.emit(in_words(error))
        self._bridge.changed.emit(frozenset({"settings", "state"}))

    def main(self) -> None:
        """The large button."""
        match self._view.main_action:
            case "contribute":
                self._order(StartRounds())
            case "resume" | "anyway":
                self._order(Resume())
            case "pause":
                self.pause(None)
            case "try again" if self._view.attached:
                self._order(StartRounds())
            case "try again":
                self._bridge.try_again()
            case "wait":
                pass

    def pause(self, seconds: float | None) -> None:
        """Stop computing now; with `seconds`, for that long. A node that is not working has nothing to pause."""
        if self._view.state in ("working", "finishing", "paused"):
            self._order(Pause(seconds=seconds))
        else:
            self._bridge.said.emit(tr("Nothing is being computed."))

    def pause_until_tomorrow(self) -> None:
        self.pause(seconds_until_tomorrow(datetime.now()))

    def finish(self) -> None:
        """Finish this round, then pause."""
        self._order(Finish())

    def finish_and_quit(self) -> None:
        """Finish this round, then end the worker; the window closes, too."""
        self._order(Quit(finish_round=True))

    def silo(self, on: bool) -> None:
        """No network at all, or the swarm."""
        self._order(SetSilo(on=on))


def add_pauses(menu: QMenu, actions: Actions) -> None:
    """The durations of a pause that tray and Home offer."""
    for seconds, name in ((900.0, tr("15 minutes")), (3600.0, tr("1 hour")), (10800.0, tr("3 hours"))):
        menu.addAction(name).triggered.connect(partial(actions.pause, seconds))
    menu.addAction(tr("Until tomorrow")).triggered.connect(actions.pause_until_tomorrow)


def seconds_until_tomorrow(now: datetime) -> float:
    """The next local midnight, also in a night in which clocks change."""
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return max(1.0, midnight.astimezone().timestamp() - now.astimezone().timestamp())
