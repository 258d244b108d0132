"""What was refused from peers, and why, in plain words: by kind, the most frequent first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sapo_desktop.gui.widgets.layout import Card
from sapo_desktop.gui.widgets.notes import Empty, Filled
from sapo_desktop.gui.widgets.table import Heading, Table, number
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.peers import kind_name, refusal_meaning
from sapo_desktop.worker.control.messages.swarm import SwarmInfo

KINDS = ("invalid", "unverifiable", "ignored")
"""From breaking the rules to nobody's fault."""


@dataclass(frozen=True)
class Refusal:
    """The number of refusals for one reason."""

    kind: str
    reason: str
    count: int

    @property
    def order(self) -> int:
        """The rank by how much it counts against the peer; kinds from a newer worker come last."""
        return KINDS.index(self.kind) if self.kind in KINDS else len(KINDS)


def refusals(refused: Mapping[str, Mapping[str, int]]) -> list[Refusal]:
    """Kind -> reason -> count, as rows, without reasons that never occurred."""
    rows = [Refusal(kind, reason, count) for kind, reasons in refused.items() for reason, count in reasons.items()]
    return sorted((row for row in rows if row.count), key=lambda row: (row.order, -row.count, row.reason))


_ICONS = {"invalid": ("cross", "danger"), "unverifiable": ("eye", "warning"), "ignored": ("dash", "muted")}


class RefusedTable(Table):
    """Kind, reason and count."""

    def __init__(self, rows_shown: int = 5) -> None:
        super().__init__(
            tr("Refused"),
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
    """Over all links since the node joined."""

    def __init__(self) -> None:
        super().__init__(
            tr("Refused"),
            tr(
                'Everything is checked here. "Invalid" means the sender broke a rule. "Unverifiable" may '
                'come from different program versions. "Ignored" is nobody\'s fault.'
            ),
        )
        self.table = RefusedTable()
        self._stack = Filled(
            Empty("check", tr("Nothing was refused"), tr("Since this node joined the swarm.")), self.table
        )
        self._versions = Label("", "caption")
        self.add(self._stack, self._versions)

    def show_swarm(self, swarm: SwarmInfo) -> None:
        rows = refusals(swarm.refused)
        self.table.set_rows(rows)
        self._stack.fill(bool(rows))
        text = _other_questions(swarm.other_questions)
        self._versions.setText(text)
        self._versions.setVisible(bool(text))


def _other_questions(counts: Mapping[str, int]) -> str:
    """Peers whose questions differed, by the version of their tasks."""
    if not counts:
        return ""
    said = [
        tr("{count} from version {name}").format(
            count=numbers.count(count), name=name[:8] or tr("not named", "version")
        )
        for name, count in sorted(counts.items(), key=lambda item: -item[1])[:5]
    ]
    return tr("Questions that were different here: {list}.").format(list=", ".join(said))
