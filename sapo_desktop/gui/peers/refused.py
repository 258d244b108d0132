"""What was not taken from peers, and why, in plain words."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QStackedWidget

from sapo_desktop.gui.peers.refused_rows import Refusal, refusals
from sapo_desktop.gui.widgets.layout import Card
from sapo_desktop.gui.widgets.notes import Empty
from sapo_desktop.gui.widgets.table import Heading, Table
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.refusals import kind_name, refusal_meaning
from sapo_desktop.worker.control.messages.swarm import SwarmInfo

_ICONS = {"invalid": ("cross", "danger"), "unverifiable": ("eye", "warning"), "ignored": ("dash", "muted")}


class RefusedTable(Table):
    """Kind, reason and count."""

    def __init__(self, rows_shown: int = 5) -> None:
        super().__init__(
            tr("Not taken"),
            [
                Heading(
                    tr("Kind"),
                    lambda row: kind_name(row.kind),
                    lambda row: row.order,
                    icon=lambda row: _ICONS.get(row.kind),
                ),
                Heading(tr("Count"), lambda row: numbers.count(row.count), lambda row: row.count, right=True),
                Heading(tr("Reason"), lambda row: refusal_meaning(row.reason), stretch=True),
            ],
            rows_shown=rows_shown,
            same=lambda row: (row.kind, row.reason),
        )


class RefusedCard(Card):
    """Over all links since the node joined."""

    def __init__(self) -> None:
        super().__init__(
            tr("Not taken"),
            tr(
                "Everything is checked here. What is invalid counts against its sender. What is unverifiable may be "
                "our own version's fault, and what is ignored is nobody's."
            ),
        )
        self.table = RefusedTable()
        self._none = Empty("check", tr("Nothing was refused"), tr("Since this node joined the swarm."))
        self._stack = QStackedWidget()
        self._stack.addWidget(self._none)
        self._stack.addWidget(self.table)
        self._words = Label("", "caption")
        self._words.hide()
        self._versions = Label("", "caption")
        self._versions.hide()
        self.add(self._stack, self._words, self._versions)
        self.table.pointed.connect(self._explain)
        self._rows: list[Refusal] = []

    def show_swarm(self, swarm: SwarmInfo) -> None:
        rows = refusals(swarm.refused)
        if rows != self._rows:
            self._rows = rows
            self.table.set_rows(rows)
        self._stack.setCurrentWidget(self.table if rows else self._none)
        text = _other_questions(swarm.other_questions)
        self._versions.setText(text)
        self._versions.setVisible(bool(text))

    def _explain(self) -> None:
        """The whole sentence of the selected row, which a narrow table cuts."""
        selected = self.table.selected()
        self._words.setText(refusal_meaning(selected[0].reason) if len(selected) == 1 else "")
        self._words.setVisible(bool(self._words.text()))


def _other_questions(counts: Mapping[str, int]) -> str:
    """Whose questions came out differently, by the version of their tasks."""
    if not counts:
        return ""
    said = [
        tr("{count} from version {name}").format(
            count=numbers.count(count), name=name[:8] or tr("that was not named", "version")
        )
        for name, count in sorted(counts.items(), key=lambda item: -item[1])[:5]
    ]
    return tr("Questions that came out differently here: {list}.").format(list=", ".join(said))
