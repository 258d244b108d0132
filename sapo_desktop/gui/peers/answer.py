"""A person answers one question. Where the text goes is shown before, and its result afterwards."""

from __future__ import annotations

from PySide6.QtWidgets import QPlainTextEdit, QWidget

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.forms import labelled, line
from sapo_desktop.gui.widgets.layout import Card, column, holding, row
from sapo_desktop.gui.widgets.notes import Banner, Picture
from sapo_desktop.gui.widgets.text import Label, Reading
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words import peers as peer_words
from sapo_desktop.gui.words.language import catalogued, tr
from sapo_desktop.gui.words.learning import mark_words, verdict_icon
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.titles import task_name
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.replies import HumanMarked, PosedQuestion
from sapo_desktop.worker.control.messages.requests import AskForQuestion, GiveAnswer

_LINES = 5


class AnswerCard(Card):
    """The button that opens the questions."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__(
            tr("Answer a question"),
            tr(
                "Your answer is scored like the model's, and the model learns from it. Before you send it, "
                "you see where it goes."
            ),
        )
        self._view, self._bridge = view, bridge
        self.ask = Button(tr("Ask me a question"), self.open, icon="try")
        self.add(1, self.ask)

    def refresh(self) -> None:
        self.ask.setEnabled(self._view.attached)

    def open(self) -> None:
        AnswerSheet(self, self._view, self._bridge).open()


class AnswerSheet(Sheet):
    """One question after another, until the person stops."""

    def __init__(self, parent: QWidget, view: View, bridge: Bridge) -> None:
        super().__init__(parent, tr("Answer a question yourself"))
        self._view, self._bridge = view, bridge
        self._posed: PosedQuestion | None = None
        self._until = 0.0
        self._task = Label(tr("Getting a question"), "caption")
        self._question = Reading(tr("The question"), "", lines=_LINES)
        self._trouble = Banner(tone="danger")
        self._where = Banner()
        self._form = Label("", "caption")
        self._answer = line(longest=4000)
        self._answer.setAccessibleName(tr("Your answer"))
        self._answer.textChanged.connect(self._typed)
        self._reasoning = QPlainTextEdit()
        self._reasoning.setTabChangesFocus(True)
        self._reasoning.setFixedHeight(3 * self.fontMetrics().lineSpacing() + 24)
        self._typing = holding(
            column(
                self._where,
                labelled(tr("Your reasoning (optional)"), self._reasoning),
                labelled(tr("Your answer"), self._answer),
                self._form,
            )
        )
        self._result = Result()
        self.another = Button(tr("Another question"), self._pose, icon="refresh")
        self.give = Button(tr("Submit answer"), self._give, kind="primary")
        self.add(self._task, self._question, self._trouble, self._typing, self._result)
        self.add_buttons(self.another, Button(tr("Close"), self.reject), self.give)
        self._clock = timer(self, 1000, self._tick)
        self._pose()

    def _pose(self) -> None:
        self._posed = None
        self._clock.stop()
        self._trouble.say("")
        self._result.hide()
        self._typing.show()
        self.give.show()
        self._typing.setEnabled(False)
        self._question.set_text("")
        self._answer.clear()
        self._reasoning.clear()
        self._where.say(tr("One moment"), "plain")
        self._task.setText(tr("Getting a question"))
        self.another.setEnabled(False)
        self.give.setEnabled(False)
        self._bridge.ask(AskForQuestion(), self._is_posed, self._failed, of=self)

    def _is_posed(self, posed: PosedQuestion) -> None:
        self._posed = posed
        self._until = self._view.clock() + posed.seconds
        self._question.set_text(posed.question)
        self._form.setText(tr("Form of the answer: {form}.").format(form=one_line(in_words(posed.form), 200)))
        words = peer_words.destination(posed, silo=self._view.silo, share=self._view.settings.share)
        self._where.say(words, "warning" if posed.shared else "plain")
        self.give.set_text(tr("Publish the answer") if posed.shared else tr("Submit answer"))
        self._typing.setEnabled(True)
        self.another.setEnabled(True)
        self._typed()
        self._tick()
        self._clock.start()
        self._answer.setFocus()

    def _tick(self) -> None:
        if self._posed is None:
            return
        left = self._until - self._view.clock()
        task = one_line(catalogued(self._posed.title), 80) or self._posed.task
        if left > 0:
            self._task.setText(tr("{task}, {time} left").format(task=task, time=numbers.countdown(left)))
            return
        self._clock.stop()
        self._task.setText(task)
        self._typing.setEnabled(False)
        self.give.setEnabled(False)
        self._trouble.say(tr("Time is up for this question. Ask for another one."), "warning")

    def _typed(self) -> None:
        self.give.setEnabled(self._posed is not None and bool(self._answer.text().strip()))

    def _give(self) -> None:
        if self._posed is None or not self._answer.text().strip():
            return
        self._clock.stop()
        self._typing.setEnabled(False)
        self.give.setEnabled(False)
        self.another.setEnabled(False)
        self._task.setText(tr("Scoring, while the model answers too"))
        request = GiveAnswer(
            id=self._posed.id, answer=self._answer.text(), reasoning=self._reasoning.toPlainText().strip()
        )
        self._bridge.ask(request, self._marked, self._failed, of=self)

    def _marked(self, marked: HumanMarked) -> None:
        self._posed = None
        self._trouble.say("")
        self._task.setText(task_name(marked.task))
        self._typing.hide()
        self.give.hide()
        self._result.show_marked(marked)
        self.another.setEnabled(True)
        self.another.setFocus()

    def _failed(self, error: SapoError) -> None:
        self._trouble.say(in_words(error), "danger")
        self.another.setEnabled(True)
        if self._posed is None:
            self._where.say("")
            self._task.setText("")
            return
        self._typing.setEnabled(True)
        self._clock.start()
        self._typed()
        self._tick()
        self._answer.setFocus()


class Result(QWidget):
    """The score, the right answer, the model's answers, and what happens next."""

    def __init__(self) -> None:
        super().__init__()
        self._picture = Picture("check", 24, "accent")
        self._verdict = Label("", "subtitle")
        self._mine = Reading(tr("Your answer"), "", lines=2)
        self._truth = Reading(tr("The right answer"), "", lines=2)
        self._model = Label("")
        self._rest = Label("", "muted")
        self.setLayout(
            column(
                row(self._picture, (self._verdict, 1)),
                labelled(tr("Your answer"), self._mine),
                labelled(tr("The right answer"), self._truth),
                self._model,
                self._rest,
            )
        )
        self.hide()

    def show_marked(self, marked: HumanMarked) -> None:
        mark = marked.mark
        self._picture.show_icon(*verdict_icon(mark.verdict))
        self._verdict.setText(mark_words(mark))
        self._mine.set_text(marked.completion)
        self._truth.set_text(marked.truth or numbers.NOTHING)
        self._model.setText(_model_words(marked))
        said = [tr("It was published.") if marked.shared else tr("It was not published.")]
        if marked.learned:
            said.append(tr("The model will learn from it in one of the next rounds."))
        if marked.note:
            said.append(one_line(in_words(marked.note)))
        self._rest.setText(" ".join(said))
        self.show()


def _model_words(marked: HumanMarked) -> str:
    if not marked.model_answers:
        return tr("The model did not answer this question.")
    return tr("The model answered too: {right} of %n right.", None, marked.model_answers).format(
        right=numbers.count(marked.model_solved)
    )
