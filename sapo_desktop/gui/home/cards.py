"""The small cards of Home: what it could not do and can do now, milestones, its latest answer; and the banner of a
newer version."""

from __future__ import annotations

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sapo_desktop.core.plain_text import clean, one_line, shortened
from sapo_desktop.core.updates.manifest import Standing
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.widgets.buttons import Button, IconButton
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.layout import Card, column, holding, row
from sapo_desktop.gui.widgets.notes import Banner, Picture
from sapo_desktop.gui.widgets.text import Elided, Label, Reading, Tone
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.learning import verdict_icon, verdict_name
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.titles import task_name
from sapo_desktop.view.completion import in_plain_signs, parted
from sapo_desktop.view.learning import milestones
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.events import Answered
from sapo_desktop.worker.control.messages.facts import GetUpdates, UpdatesAre
from sapo_desktop.worker.control.messages.replies import Aha, Ahas
from sapo_desktop.worker.control.messages.requests import GetAhas

_SHOWN = 2
"""Number of milestones, including the newest tasks first solved after learning from a peer."""


class MilestonesCard(Card):
    """Milestones, and the newest tasks first solved here after learning from a peer; a click on one of these shows
    both answers."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__(tr("Milestones"))
        self._view = view
        self._bridge = bridge
        self._list = QVBoxLayout()
        self._list.setSpacing(2)
        self._ahas: list[Aha] = []
        self.add(self._list)
        self._shown: tuple[list[str], list[Aha]] | None = None
        self._asked_at = -1
        self._show()

    def refresh(self) -> None:
        """Ask again if a round has passed since."""
        self._show()
        if self._view.attached and not self._view.silo and self._asked_at != self._view.curves.last_round:
            self._asked_at = self._view.curves.last_round
            self._bridge.ask(GetAhas(), self._take, lambda error: None, of=self)

    def _take(self, reply: Ahas) -> None:
        self._ahas = reply.items
        self._show()

    def _show(self) -> None:
        reached = [in_words(text) for text in milestones(self._view)]
        ahas = [] if self._view.silo else self._ahas[:1]
        reached = reached[len(ahas) - _SHOWN :]
        if (reached, ahas) == self._shown:
            return
        self._shown = reached, ahas
        while (item := self._list.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        for text in reached:
            self._list.addWidget(holding(row(Picture("check", 16, "accent"), (Label(text), 1), spacing=0.75)))
        for aha in ahas:
            self._list.addWidget(_line(self, aha))
        if not reached and not ahas:
            self._list.addWidget(Label(tr("The first one: 10 rounds."), "muted"))


def _line(parent: QWidget, aha: Aha) -> QWidget:
    about = tr(
        "Round {round}, after learning from a peer's answer (which does not prove the cause). Show both answers."
    )
    button = IconButton("chevron-right", about.format(round=numbers.count(aha.round)), lambda: show_aha(parent, aha))
    text = Elided(tr("First solved: {task}").format(task=task_name(aha.task)))
    return holding(row(Picture("spark", 16, "accent"), (text, 1), button, spacing=0.75))


def show_aha(parent: QWidget, aha: Aha) -> None:
    """Both questions and answers. They are strangers' texts, shown as plain text."""
    about = tr(
        "%n answer(s) of your model were wrong. In round {peer_round} it learned from a peer's "
        "answer; in round {round} it found a right one.",
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
        Label(tr("The peer's answer, {peer}").format(peer=aha.peer[:8] or tr("unknown")), "strong"),
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


_LEARNED_QUESTION, _LEARNED_ANSWER = 220, 60
"""Characters shown on the card; the rest is in the dialog."""


class LearnedCard(Card):
    """The newest question that it learned to answer; these are never trained on."""

    def __init__(self, view: View) -> None:
        super().__init__(tr("Could not, now can"))
        self._view = view
        self._question = Label("")
        self._before = _Answered(tr("Before training"), "cross", "danger")
        self._now = _Answered(tr("Now"), "check", "accent")
        self._from = Label("", "caption")
        self._more = IconButton("chevron-right", tr("Show both in full"), self._open)
        answers = row((self._before, 1), (self._now, 1), spacing=2)
        self._full = holding(column(self._question, answers, row((self._from, 1), self._more), spacing=0.75))
        self._empty = Label(
            tr("When your model solves a question that it could not solve at the start, you see it here."), "muted"
        )
        self.add(self._full, self._empty, 1)
        self.refresh()

    def refresh(self) -> None:
        """Show the view's current state."""
        learned = self._view.learned
        self._full.setVisible(learned is not None)
        self._empty.setVisible(learned is None)
        if learned is None:
            return
        self._question.setText(shortened(in_plain_signs(learned.question), _LEARNED_QUESTION))
        self._before.show_answer(learned.before)
        self._now.show_answer(learned.now)
        words = tr("{task}: right after round {round}. Never used for training.").format(
            task=task_name(learned.task), round=numbers.count(learned.round)
        )
        gain = self._view.held_out_gain
        if gain is None or gain.low <= 0:
            words += " " + tr("A single right answer may be chance.")
        self._from.setText(words)

    def _open(self) -> None:
        learned = self._view.learned
        if learned is None:
            return
        sheet = Sheet(self, tr("Could not, now can"), self._from.text())
        for name, text in (
            (tr("Question"), learned.question),
            (tr("Before training"), learned.before),
            (tr("Now"), learned.now),
        ):
            sheet.add(Label(name, "strong"), Reading(name, text, lines=4))
        sheet.add_buttons(Button(tr("Close"), sheet.accept))
        sheet.open()


class _Answered(QWidget):
    """One answer, large, with whether it is right."""

    def __init__(self, name: str, icon: str, tone: Tone) -> None:
        super().__init__()
        self._name = name
        self._answer = Label("", "subtitle", tone)
        self.setLayout(
            column(Label(name, "caption"), row(Picture(icon, 18, tone or "muted"), (self._answer, 1)), spacing=0.25)
        )

    def show_answer(self, completion: str) -> None:
        answer = shortened(in_plain_signs(parted(completion).answer), _LEARNED_ANSWER) or tr("(no answer)")
        self._answer.setText(answer)
        self.setAccessibleName(f"{self._name}: {answer}")


class UpdateBanner(Banner):
    """Visible while there is a newer version."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__(action=tr("What is new"), on_press=self._ask)
        self._view, self._bridge = view, bridge

    def refresh(self) -> None:
        """Show the view's current state."""
        found = self._view.updates
        newer = found is not None and found.state in ("newer", "urgent")
        if found is None or not newer:
            self.say("")
        else:
            self.say(one_line(in_words(found.text)), "danger" if found.state == "urgent" else "plain")

    def _ask(self) -> None:
        self._bridge.ask(GetUpdates(), self._open, of=self)

    def _open(self, reply: UpdatesAre) -> None:
        what_is_new(self, reply.standing).open()


def what_is_new(parent: QWidget, found: Standing) -> Sheet:
    """A version's changelog, and a link to its page if it has one."""
    title = tr("What is new in {version}").format(version=one_line(found.version))
    about = tr("Nothing is installed automatically. You download it from its page.")
    sheet = Sheet(parent, title, about)
    sheet.add(Reading(title, clean(found.changelog), lines=14))
    close = Button(tr("Close"), sheet.accept, kind="primary")
    if found.page.startswith("https://"):
        page = Button(tr("Open its page"), lambda: QDesktopServices.openUrl(QUrl(found.page)), icon="chevron-right")
        sheet.add_buttons(page, close)
    else:
        sheet.add_buttons(close)
    return sheet


class NowCard(Card):
    """The newest of this computer's own answers, updated once a second, which is fast enough to read."""

    def __init__(self, view: View) -> None:
        super().__init__(tr("Just now"))
        self._view = view
        self._shown: Answered | None = None
        self._question = Elided("", "muted")
        self._icon = Picture("check", 18)
        self._answer = Elided("", "subtitle")
        self._mark = Elided("", "caption")
        self._full = holding(column(self._question, row(self._icon, (self._answer, 1), (self._mark, 2)), spacing=0.5))
        self._empty = Label(tr("While a round runs, its answers appear here."), "muted")
        self.add(self._full, self._empty)
        self._full.hide()

    def refresh(self) -> None:
        """Show the newest one."""
        newest = self._view.answers[-1] if self._view.answers else None
        self._full.setVisible(newest is not None)
        self._empty.setVisible(newest is None)
        if newest is None or newest is self._shown:
            return
        self._shown = newest
        verdict = "solved" if newest.solved else "wrong"
        self._question.set_text(in_plain_signs(newest.question))
        answer = in_plain_signs(parted(newest.completion).answer)
        self._answer.set_text(one_line(answer) or tr("(no answer)"))
        self._icon.show_icon(*verdict_icon(verdict))
        self._mark.set_text(f"{verdict_name(verdict)} · {task_name(newest.task)}")
