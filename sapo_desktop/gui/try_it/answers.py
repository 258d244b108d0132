"""Both answers of a try, side by side, while they are written and once they are scored, and below them the earlier
turns of the same chat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from sapo_desktop.core.plain_text import clean, one_line
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.look import theme
from sapo_desktop.gui.look.theme import grid
from sapo_desktop.gui.try_it.trying import Side, Try
from sapo_desktop.gui.try_it.words import EXAMPLE_QUESTIONS, chat_words, progress
from sapo_desktop.gui.widgets.buttons import Button, IconButton
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.forms import copy_text
from sapo_desktop.gui.widgets.layout import Card, Columns, Flow, column, holding, row, rule
from sapo_desktop.gui.widgets.notes import Empty, Picture
from sapo_desktop.gui.widgets.text import Elided, Label, Reading, set_tooltip
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.learning import mark_words, verdict_icon
from sapo_desktop.view.completion import in_plain_signs, parted, without_tags

_LONGEST_TRUTH = 2000
_LONGEST_TURN = 1000
_LONGEST_ANSWER = 160
"""Characters shown large; the whole answer is in the place of the steps."""


class AnswersCard(Card):
    """The answers to one question, or three questions to start with.

    Signals:
        example: one of these was chosen.
        task_wanted: a question of a task is to be drawn.
        new_chat: the next question starts a new chat.
    """

    example = Signal(str)
    task_wanted = Signal()
    new_chat = Signal()

    def __init__(self, bridge: Bridge) -> None:
        super().__init__(tr("Answers"))
        self._question = Elided("", "muted")
        self._base = Pane(bridge, tr("The model before training"))
        self._last = Pane(bridge, tr("The model now"))
        self._chat = Label("", "caption")
        self._new_chat = Button(tr("New chat"), self.new_chat.emit, icon="plus")
        self._earlier = EarlierTurns()
        self._truth = Label("", "body", selectable=True)
        self._same = Label(tr("Nothing has been learned here yet, so both are the same model."), "caption")
        self._own = Label(
            tr("Answers to your own questions are not scored. The model has practised its tasks; it can "
               "only guess at anything else."),
            "caption",
        )  # fmt: skip
        self._propose = Button(
            tr("Pick a random question from a task"), self.task_wanted.emit, kind="quiet", icon="refresh"
        )
        self._full = holding(
            column(
                self._question, Columns(self._base, self._last, narrowest=300, most=2), self._truth, self._own,
                self._chat, holding(Flow(self._new_chat, self._propose)), self._same, self._earlier, spacing=1.5,
            )
        )  # fmt: skip
        self._examples = _examples(self.example.emit)
        self._empty = Empty(
            "try",
            tr("Nothing asked yet"),
            tr("Ask a question above, pick one from a task, or start with one of these."),
        )
        self._nothing = holding(column(self._empty, self._examples, spacing=0))
        self.add(self._full, self._nothing)
        self._full.hide()

    def set_ready(self, ready: bool) -> None:
        """Whether a question can be asked now."""
        self._examples.setEnabled(ready)

    def show_try(self, one: Try, chat: Sequence[Try], *, learned: bool) -> None:
        """`chat`: the chat that the next question continues."""
        self._nothing.hide()
        self._chat.setText(chat_words(chat) if chat else tr("The next question begins a new chat."))
        self._new_chat.setEnabled(bool(chat))
        self._earlier.show_turns([turn for turn in chat if turn is not one] if one in chat else [])
        self._full.show()
        self._question.set_text(one.draft.question)
        self._base.show_side(one.sides[0])
        self._last.show_side(one.sides[1])
        self._same.setVisible(not learned)
        self._truth.setVisible(bool(one.draft.task))
        for part in (self._own, self._propose):
            part.setVisible(not one.draft.task and one.over and one.draft.question not in EXAMPLE_QUESTIONS)
        if one.over and one.truth:
            self._truth.setText(tr("The right answer: {answer}").format(answer=clean(one.truth[:_LONGEST_TRUTH])))
        elif one.over:
            self._truth.setText(tr("Neither answer was scored."))
        else:
            self._truth.setText(tr("The right answer appears once both have answered."))


class Pane(QWidget):
    """One side: its text, score and figures. Its place exists before its answer does."""

    def __init__(self, bridge: Bridge, title: str) -> None:
        super().__init__()
        self._title = title
        self._side: Side | None = None
        copy = partial(self._copy, bridge)
        self.copy_answer = IconButton("copy", tr("Copy this answer"), copy)
        self.copy_answer.setEnabled(False)
        self.show_prompt = IconButton("log", tr("Show what the model was given"), partial(self._show_prompt, bridge))
        self.show_prompt.setEnabled(False)
        self._answer = Label("", "display", selectable=True)
        self._steps = Reading(tr("Steps"), lines=5)
        self._icon = Picture("clock", 16)
        self._mark = Label("", "strong", wrap=False)
        self._progress = Label("", "caption")
        self._icon.hide()
        said = row(self._icon, self._mark, 1, spacing=0.75)
        head = row((Label(title, "strong"), 1), self.copy_answer, self.show_prompt, spacing=0)
        self.setLayout(column(head, self._answer, said, self._progress, self._steps, 1, spacing=0.75))
        self._fit()
        theme.looks().changed.connect(self._fit)

    def show_side(self, side: Side) -> None:
        self._side = side
        self.copy_answer.setEnabled(bool(side.text))
        self.show_prompt.setEnabled(bool(side.prompt))
        is_written = side.state not in ("waiting", "asked", "writing")
        answer, steps = parted(side.text) if is_written else ("", without_tags(side.text))
        self._answer.setText(_one_line(in_plain_signs(answer)))
        steps = steps or ("" if answer == _one_line(answer) else answer)
        if steps != self._steps.toPlainText():
            self._steps.set_text(steps)
            self._steps.to_end()
        self._steps.setVisible(bool(steps))
        self._icon.setVisible(side.mark is not None)
        if side.mark is not None:
            self._icon.show_icon(*verdict_icon(side.mark.verdict))
        self._mark.setText(mark_words(side.mark) if side.mark else "")
        self._progress.setText(progress(side))
        self._progress.set_tone("danger" if side.state == "failed" else "")
        self.setAccessibleName(f"{self._title}: {self._mark.text()} {self._progress.text()}")

    def _copy(self, bridge: Bridge) -> None:
        copy_text(bridge, self._side.text if self._side else "")

    def _show_prompt(self, bridge: Bridge) -> None:
        PromptSheet(self, bridge, self._side.prompt if self._side else "").open()

    def _fit(self) -> None:
        # The score's line keeps its height, so that nothing moves when it appears.
        self._mark.setMinimumHeight(theme.pixels("strong") + grid(0.75))
        self._answer.setMinimumHeight(theme.pixels("display") + grid(1.5))


class PromptSheet(Sheet):
    """The whole prompt of an answer, in the model's template."""

    def __init__(self, parent: QWidget, bridge: Bridge, prompt: str) -> None:
        super().__init__(
            parent,
            tr("What the model was given"),
            tr("Instructions, worked examples, this chat and the question, in the model's own template."),
        )
        self.add(Reading(tr("What the model was given"), clean(prompt), lines=16))
        copy = Button(tr("Copy"), lambda: copy_text(bridge, prompt), icon="copy")
        self.add_buttons(copy, Button(tr("Close"), self.accept, kind="primary"))


class EarlierTurns(QWidget):
    """The earlier turns of this chat, newest first."""

    def __init__(self) -> None:
        super().__init__()
        self._box = column(spacing=1.5)
        self.setLayout(self._box)
        self._shown: list[Try] = []
        self.hide()

    def show_turns(self, turns: Sequence[Try]) -> None:
        """These, oldest first."""
        if len(turns) == len(self._shown) and all(a is b for a, b in zip(turns, self._shown, strict=True)):
            return
        self._shown = list(turns)
        while (item := self._box.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for turn in reversed(turns):
            self._box.addWidget(_earlier(turn))
        self.setVisible(bool(turns))


def _earlier(turn: Try) -> QWidget:
    """A finished turn. The words are a person's or a model's."""
    said = [Label(_cut(_words(side)), selectable=True) for side in turn.sides]
    for label in said:
        label.setAlignment(Qt.AlignmentFlag.AlignTop)
    question = Label(_cut(turn.draft.question), "strong", selectable=True)
    return holding(column(rule(), question, Columns(*said, narrowest=300, most=2), spacing=0.75))


def _cut(text: str) -> str:
    return clean(text if len(text) <= _LONGEST_TURN else f"{text[:_LONGEST_TURN]}…")


def _words(side: Side) -> str:
    return without_tags(side.text) if side.state == "done" else progress(side)


def _one_line(answer: str) -> str:
    """The text as shown large."""
    return one_line(answer, _LONGEST_ANSWER)


def _examples(chosen: Callable[[str], object]) -> QWidget:
    buttons = []
    titles = (tr("A sum"), tr("A word spelled backward"), tr("Bits of a number"))
    for title, question in zip(titles, EXAMPLE_QUESTIONS, strict=True):
        button = Button(title, partial(chosen, question), icon="send")
        button.setAccessibleDescription(question)
        set_tooltip(button, question)
        buttons.append(button)
    return holding(Flow(*buttons, centred=True))
