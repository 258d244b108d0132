"""The node, ended and started again, so that settings that are read at its start take effect."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.bridge import Asks
from sapo_desktop.gui.link import Attached, Ended, Lost
from sapo_desktop.gui.sentences import in_words
from sapo_desktop.gui.viewmodel import Section, View
from sapo_desktop.worker.messages import Ok, Quit


class Restart(QObject):
    """Ends the node and starts it once it has ended, whichever page is in sight meanwhile.

    Signals:
        changed: one began, or is over.
    """

    changed = Signal()

    def __init__(self, view: View, bridge: Asks, parent: QObject) -> None:
        super().__init__(parent)
        self._view = view
        self._bridge = bridge
        self.under_way = False
        bridge.changed.connect(self._look)

    def begin(self) -> None:
        """End it now. The round in hand is left out: the next start goes on from the last checkpoint."""
        if self.under_way or not self._view.attached:
            return
        self._move(under_way=True)
        self._bridge.ask(Quit(), _ending, self._refused, of=self)

    def _look(self, changed: frozenset[Section]) -> None:
        if not self.under_way or "link" not in changed:
            return
        if isinstance(self._view.link, Ended):
            self._bridge.try_again()
        elif isinstance(self._view.link, Attached | Lost):  # one that is lost is started again by the link itself
            self._move(under_way=False)

    def _refused(self, error: SapoError) -> None:
        # The link may go while the answer is under way: that is what was wanted.
        if self._view.attached:
            self._move(under_way=False)
            self._bridge.trouble.emit(in_words(error))

    def _move(self, *, under_way: bool) -> None:
        self.under_way = under_way
        self.changed.emit()


def _ending(reply: Ok) -> None:
    """The link tells when it has."""
