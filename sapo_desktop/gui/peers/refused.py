"""What was not taken from peers, and why, in plain words: by kind, the most frequent first; of groups also what was in
them, when one asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.widgets.folded import Folded
from sapo_desktop.gui.widgets.layout import Card
from sapo_desktop.gui.widgets.notes import Empty, Filled
from sapo_desktop.gui.widgets.table import Heading, Table, number
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.peers import kind_name, refusal_meaning, short_key
from sapo_desktop.gui.words.titles import task_name
from sapo_desktop.worker.control.messages.rollouts import GetRefused, Refused, RefusedGroup
from sapo_desktop.worker.control.messages.swarm import SwarmInfo

KINDS = ("invalid", "unverifiable", "ignored")
"""From what breaks the rules to what is nobody's fault."""


@dataclass(frozen=True)
class Refusal:
    """So many were refused for this reason."""

    kind: str
    reason: str
    count: int

    @property
    def order(self) -> int:
        """By how much it says against the peer; kinds of a newer worker come last."""
        return KINDS.index(self.kind) if self.kind in KINDS else len(KINDS)


def refusals(refused: Mapping[str, Mapping[str, int]]) -> list[Refusal]:
    """Kind -> reason -> count, as rows; reasons that never came up are left out."""
    rows = [Refusal(kind, reason, count) for kind, reasons in refused.items() for reason, count in reasons.items()]
    return sorted((row for row in rows if row.count), key=lambda row: (row.order, -row.count, row.reason))


MOST = 300
"""Groups that are asked for, newest first."""
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
                number(tr("Count"), lambda row: row.count),
                Heading(tr("Reason"), lambda row: refusal_meaning(row.reason), stretch=True),
            ],
            rows_shown=rows_shown,
            same=lambda row: (row.kind, row.reason),
        )


class RefusedCard(Card):
    """Over all links since the node joined. A row that is picked shows the newest group that was refused so."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__(
            tr("Not taken"),
            tr(
                "Everything is checked here. Invalid groups count against their sender. Unverifiable ones "
                "may come from a difference between program versions, and ignored ones are nobody's fault."
            ),
        )
        self._bridge = bridge
        self.table = RefusedTable()
        self._none = Empty("check", tr("Nothing was refused"), tr("Since this node joined the swarm."))
        self._stack = Filled(self._none, self.table)
        self._words = Label("")
        self._where = Label("", "caption")
        self.answers = Folded(tr("Answers of the refused group"), lines=8)
        self._versions = Label("", "caption")
        self.add(self._stack, self._words, self._where, self.answers, self._versions)
        self.table.pointed.connect(self._explain)
        self._rows: list[Refusal] = []
        self._explain()

    def show_swarm(self, swarm: SwarmInfo) -> None:
        rows = refusals(swarm.refused)
        if rows != self._rows:
            self._rows = rows
            self.table.set_rows(rows)
        self._stack.fill(bool(rows))
        text = _other_questions(swarm.other_questions)
        self._versions.setText(text)
        self._versions.setVisible(bool(text))

    @property
    def _picked(self) -> str:
        """The reason of the selected row; of several or none, nothing."""
        selected = self.table.selected()
        return selected[0].reason if len(selected) == 1 else ""

    def _explain(self) -> None:
        """The whole sentence of the selected row, which a narrow table cuts, and a group that was refused so."""
        reason = self._picked
        self._words.setText(refusal_meaning(reason) if reason else "")
        self._words.setVisible(bool(reason))
        self._show_group(None)
        if reason:
            self._bridge.ask(GetRefused(limit=MOST), partial(self._groups_are, reason), lambda error: None, of=self)

    def _groups_are(self, reason: str, reply: Refused) -> None:
        if reason == self._picked:
            self._show_group(next((group for group in reply.items if group.reason == reason), None))

    def _show_group(self, group: RefusedGroup | None) -> None:
        self._where.setVisible(group is not None)
        self.answers.setVisible(group is not None and bool(group.answers))
        if group is not None:
            self._where.setText(
                tr("The newest: {task}, from {peer}, {time}").format(
                    task=task_name(group.task), peer=short_key(group.author), time=numbers.stamp(group.time)
                )
            )
            self.answers.set_text("\n\n".join(group.answers), tr("Show the peer's text"), tr("Hide the peer's text"))


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
