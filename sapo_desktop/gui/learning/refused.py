"""Groups of peers that were not taken: why, whose, and, when one asks for it, what was in them."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedWidget, QWidget

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.link.bridge import Asks
from sapo_desktop.gui.look.theme import grid
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.folded import Folded
from sapo_desktop.gui.widgets.layout import Card, column, holding, row
from sapo_desktop.gui.widgets.notes import Banner, Empty
from sapo_desktop.gui.widgets.split import Split
from sapo_desktop.gui.widgets.table import Heading, Table
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.learning import short_key
from sapo_desktop.gui.words.refusals import kind_meaning, kind_name, refusal_meaning, refusal_name
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.tasks import task_name
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.rollouts import GetRefused, Refused, RefusedGroup

MOST = 300
_ICONS = {"invalid": ("warning", "danger"), "unverifiable": ("warning", "warning")}


class RefusedGroups(QWidget):
    """The newest refused groups, and the picked one."""

    def __init__(self, view: View, bridge: Asks) -> None:
        super().__init__()
        self._view, self._bridge = view, bridge
        self._loaded = False
        self.banner = Banner(tone="danger", action=tr("Try again"), on_press=self.load)
        self.banner.hide()
        about = Label(
            tr("Peers are strangers: what breaks the rules, cannot be checked or is not of use is left out."),
            "muted",
        )
        self.again = Button(tr("Look again"), self.load, icon="refresh")
        self.table = Table(tr("Refused groups"), self._headings(), rows_shown=8, same=_name_of)
        self.table.pointed.connect(self._show_picked)
        self.pane = RefusedPane()
        self._empty = Empty("peers", tr("One moment"), tr("The refused groups are being read."))
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(holding(column(self.table, self.pane, spacing=1.5)))
        top = row(spacing=2)
        top.addWidget(about, 1)
        top.addWidget(self.again)
        self.setLayout(column(self.banner, top, self._stack, spacing=1.5))

    def _headings(self) -> list[Heading]:
        return [
            Heading(tr("When"), lambda one: numbers.day_and_clock(one.time), lambda one: one.time),
            Heading(tr("From"), lambda one: short_key(one.author)),
            Heading(tr("Task"), lambda one: task_name(one.task), stretch=True),
            Heading(
                tr("Why"),
                lambda one: refusal_name(one.reason),
                icon=_icon,
                stretch=True,
            ),
            Heading(tr("Kind"), lambda one: kind_name(one.kind)),
        ]

    def open(self) -> None:
        """It came into sight."""
        self.load()

    def refresh(self) -> None:
        """The link changed."""
        self.again.setEnabled(self._view.attached)
        if not self._loaded:
            self._say_nothing()

    def load(self) -> None:
        """Ask for the newest ones."""
        self._bridge.ask(GetRefused(limit=MOST), self._show, self._failed, of=self)

    def _show(self, reply: Refused) -> None:
        self._loaded = True
        self.banner.say("")
        first = not self.table.rows
        if reply.items != self.table.rows:
            self.table.set_rows(reply.items)
        if first and reply.items:
            self.table.select([_name_of(reply.items[0])])
        self._stack.setCurrentIndex(1 if reply.items else 0)
        self._say_nothing()
        self._show_picked()

    def _failed(self, error: SapoError) -> None:
        self.banner.say(tr("The refused groups could not be read: {reason}").format(reason=in_words(error)), "danger")
        self._say_nothing()

    def _say_nothing(self) -> None:
        if not self._loaded and not self._view.attached:
            title, about = tr("Nothing to show"), tr("Refused groups stand here when the node runs.")
        elif self._view.silo:
            title, about = tr("None refused"), tr("In silo nothing comes in, so there is nothing to refuse.")
        else:
            title, about = tr("None refused"), tr("A group of a peer that is not taken stands here with the reason.")
        self._empty.title.setText(title)
        self._empty.about.setText(about)

    def _show_picked(self) -> None:
        picked: list[RefusedGroup] = self.table.selected()
        self.pane.show_group(picked[0] if picked else None)


class RefusedPane(Card):
    """The picked group: the reason in words, and its texts when one asks for them."""

    def __init__(self) -> None:
        super().__init__(role="well")
        self.body.setContentsMargins(grid(2), grid(1.5), grid(2), grid(2))
        self._shown: object = None
        self._nothing = Label(tr("Pick a group to see why."), "muted")
        self.title = Label("", "subtitle")
        self._where = Label("", "caption")
        self.words = Label("")
        self._kind = Label("", "muted")
        self.answers = Folded(tr("Answers of the refused group"), lines=8)
        why = column(
            column(self.title, self._where, spacing=0.5), column(self.words, self._kind, spacing=1), 1, spacing=1.5
        )
        self._count = Label("", "caption")
        text = holding(column(self._count, self.answers, spacing=0.5))
        self._parts = Split(holding(why), text, narrowest=540, shares=(1, 1), gap=3)
        self.add(self._nothing, self._parts)
        self.show_group(None)

    def show_group(self, shown: RefusedGroup | None) -> None:
        """Another group; the same one stays unfolded."""
        self._nothing.setVisible(shown is None)
        self._parts.setVisible(shown is not None)
        name = None if shown is None else _name_of(shown)
        if shown is None or name == self._shown:
            self._shown = name
            return
        self._shown = name
        self.title.setText(_sentence_case(refusal_name(shown.reason)))
        self._where.setText(
            tr("{task}, from {peer}, {time}").format(
                task=task_name(shown.task), peer=short_key(shown.author), time=numbers.stamp(shown.time)
            )
        )
        self.words.setText(refusal_meaning(shown.reason))
        self._kind.setText(f"{kind_name(shown.kind)}. {kind_meaning(shown.kind)}")
        self.answers.set_text(
            "\n\n".join(shown.answers),
            tr("Show the peer's text"),
            tr("Hide the peer's text"),
        )
        self.answers.setVisible(bool(shown.answers))
        self._count.setText(
            tr("%n answer(s) in it", None, len(shown.answers))
            if shown.answers
            else tr("Its texts were not kept: it could not be read that far.")
        )


def _name_of(group: RefusedGroup) -> tuple[float, str, str, str]:
    return group.time, group.author, group.task, group.reason


def _icon(group: RefusedGroup) -> tuple[str, str]:
    return _ICONS.get(group.kind, ("info", "muted"))


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]
