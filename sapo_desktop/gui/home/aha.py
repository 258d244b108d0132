"""The aha list: tasks first solved here after a peer's answer had been learned from. After, not because of."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from sapo_desktop.gui.link.bridge import Asks
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.layout import Card, row
from sapo_desktop.gui.widgets.notes import Empty
from sapo_desktop.gui.widgets.text import Label, Reading
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.tasks import task_name
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.replies import Aha, Ahas
from sapo_desktop.worker.control.messages.requests import GetAhas

_SHOWN = 4


class AhaCard(Card):
    """The newest few; a click shows both answers."""

    def __init__(self, view: View, bridge: Asks) -> None:
        super().__init__(
            tr("Aha"),
            tr(
                "Tasks never solved here before, first solved after a peer's answer had been learned from: "
                "after, not because of."
            ),
        )
        self._view = view
        self._bridge = bridge
        self._list = QVBoxLayout()
        self._empty = Empty("spark", tr("None yet"), tr("It takes 64 unsolved tries, and a peer who can do it."))
        self.add(self._list, self._empty, 1)
        self._items: list[Aha] | None = None
        self._asked_at = -1

    def refresh(self) -> None:
        """Ask again where a round has passed since."""
        if self._view.attached and self._asked_at != self._view.curves.last_round:
            self._asked_at = self._view.curves.last_round
            self._bridge.ask(GetAhas(), self._show, lambda error: None, of=self)

    def _show(self, reply: Ahas) -> None:
        if reply.items == self._items:
            return
        self._items = reply.items
        while (item := self._list.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        self._empty.setVisible(not reply.items)
        for aha in reply.items[:_SHOWN]:
            self._list.addWidget(_line(self, aha))
        if len(reply.items) > _SHOWN:
            self._list.addWidget(Label(tr("and %n earlier", None, len(reply.items) - _SHOWN), "caption"))


def _line(parent: QWidget, aha: Aha) -> QWidget:
    text = tr("{task}, round {round}").format(task=task_name(aha.task), round=numbers.count(aha.round))
    button = Button(text, lambda: show_aha(parent, aha), kind="quiet", icon="spark")
    button.setAccessibleDescription(tr("Show both answers"))
    return button


def show_aha(parent: QWidget, aha: Aha) -> None:
    """Both questions and answers. They are strangers' texts: shown as they are, plain."""
    about = tr(
        "%n own answers were wrong. In round {peer_round} a peer's answer was learned from; "
        "in round {round} an own one was right.",
        None,
        aha.tries,
    ).format(peer_round=numbers.count(aha.peer_round), round=numbers.count(aha.round))
    sheet = Sheet(parent, task_name(aha.task), about)
    mine = [
        Label(tr("Mine, round {round}").format(round=numbers.count(aha.round)), "strong"),
        Reading(tr("My question"), aha.question, lines=4),
        Reading(tr("My answer"), aha.answer or tr("(not kept)"), lines=4),
    ]
    theirs = [
        Label(tr("The peer's, {peer}").format(peer=aha.peer[:8] or tr("unknown")), "strong"),
        Reading(tr("The peer's question"), aha.peer_question, lines=4),
        Reading(tr("The peer's answer"), aha.peer_answer, lines=4),
    ]
    left, right = QVBoxLayout(), QVBoxLayout()
    for box, parts in ((left, theirs), (right, mine)):
        for part in parts:
            box.addWidget(part)
    sheet.add(row(left, right, spacing=2))
    sheet.add_buttons(Button(tr("Close"), sheet.accept))
    sheet.open()
