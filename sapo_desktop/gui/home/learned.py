"""What it could not do and can do now: one real question with both answers."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.layout import Card, column, holding, row
from sapo_desktop.gui.widgets.notes import Empty, Picture
from sapo_desktop.gui.widgets.text import Label, Reading, Tone
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.tasks import task_name
from sapo_desktop.view.completion import in_plain_signs, parted
from sapo_desktop.view.viewmodel import View

_QUESTION, _ANSWER = 220, 60
"""Characters shown on the card; the rest is in the dialog."""


class LearnedCard(Card):
    """The newest of the questions that it learned to answer. They are never trained on."""

    def __init__(self, view: View) -> None:
        super().__init__(tr("Could not, now can"))
        self._view = view
        self._question = Label("")
        self._before = _Answered(tr("As it came"), "cross", "danger")
        self._now = _Answered(tr("Now"), "check", "accent")
        self._from = Label("", "caption")
        self._more = Button(tr("Show both in full"), self._open, kind="quiet", icon="chevron-right")
        self._full = holding(
            column(self._question, self._before, self._now, self._from, row(self._more, 1), spacing=1.25)
        )
        self._empty = Empty(
            "spark",
            tr("Nothing yet"),
            tr("The first question stands here that the model could not answer when it came, and now can."),
        )
        self.add(self._full, self._empty, 1)
        self.refresh()

    def refresh(self) -> None:
        """Show what the view has."""
        learned = self._view.learned
        self._full.setVisible(learned is not None)
        self._empty.setVisible(learned is None)
        if learned is None:
            return
        self._question.setText(one_line(in_plain_signs(learned.question), _QUESTION))
        self._before.show_answer(learned.before)
        self._now.show_answer(learned.now)
        self._from.setText(
            tr("{task}: first right after round {round}. It is never trained on this question.").format(
                task=task_name(learned.task), round=numbers.count(learned.round)
            )
        )

    def _open(self) -> None:
        learned = self._view.learned
        if learned is None:
            return
        sheet = Sheet(self, tr("Could not, now can"), self._from.text())
        for name, text in (
            (tr("Question"), learned.question),
            (tr("As it came"), learned.before),
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
        self._answer = Label("", "title", tone)
        self.setLayout(
            column(Label(name, "caption"), row(Picture(icon, 20, tone or "muted"), (self._answer, 1)), spacing=0.25)
        )

    def show_answer(self, completion: str) -> None:
        answer = one_line(in_plain_signs(parted(completion).answer), _ANSWER) or tr("(no answer)")
        self._answer.setText(answer)
        self.setAccessibleName(f"{self._name}: {answer}")
