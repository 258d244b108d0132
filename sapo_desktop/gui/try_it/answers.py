"""Both answers of a try, side by side, while they are written and once they are marked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from sapo_desktop.core.plain_text import clean, one_line
from sapo_desktop.gui.look import theme
from sapo_desktop.gui.look.theme import grid
from sapo_desktop.gui.try_it.trying import Side, Try
from sapo_desktop.gui.try_it.words import EXAMPLE_QUESTIONS, progress
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.folded import Folded
from sapo_desktop.gui.widgets.layout import Card, Columns, Flow, column, holding, row
from sapo_desktop.gui.widgets.notes import Empty, Picture
from sapo_desktop.gui.widgets.text import Elided, Label, set_tooltip
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.learning import mark_words, verdict_icon
from sapo_desktop.view.completion import in_plain_signs, parted, without_tags

_LONGEST_TRUTH = 2000
_LONGEST_ANSWER = 160
"""Characters shown large; all of it is in the steps' place."""


class AnswersCard(Card):
    """The answers to one question, or three questions to begin with.

    Signals:
        example: one of these was chosen.
        task_wanted: a question of a task is to be drawn.
    """

    example = Signal(str)
    task_wanted = Signal()

    def __init__(self) -> None:
        super().__init__(tr("Answers"))
        self._question = Elided("", "muted")
        self._base = Pane(tr("The model as it came"))
        self._last = Pane(tr("The model as it is now"))
        self._truth = Label("", "body", selectable=True)
        self._same = Label(tr("Nothing has been learned here yet: both are the same model."), "caption")
        self._own = Label(
            tr("Nothing marks an answer to a question of your own. The model has practised its tasks: at the rest it "
               "guesses."),
            "caption",
        )  # fmt: skip
        self._propose = Button(tr("Draw a question of a task"), self.task_wanted.emit, kind="quiet", icon="refresh")
        self._full = holding(
            column(
                self._question, Columns(self._base, self._last, narrowest=300, most=2), self._truth, self._own,
                row(self._propose, 1), self._same, spacing=1.5,
            )
        )  # fmt: skip
        self._examples = _examples(self.example.emit)
        self._empty = Empty(
            "try",
            tr("Nothing asked yet"),
            tr("Ask a question above, take one from a task, or begin with one of these."),
        )
        self._nothing = holding(column(self._empty, self._examples, spacing=0))
        self.add(self._full, self._nothing)
        self._full.hide()

    def set_ready(self, ready: bool) -> None:
        """Whether anything can be asked now."""
        self._examples.setEnabled(ready)

    def show_try(self, one: Try, *, learned: bool) -> None:
        self._nothing.hide()
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
            self._truth.setText(tr("Neither answer was marked."))
        else:
            self._truth.setText(tr("The right answer is shown once both have answered."))


class Pane(QWidget):
    """One side: what it wrote, its mark, its figures. Its place is there before its answer is."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._answer = Label("", "display", selectable=True)
        self._steps = Folded(tr("Steps"), lines=5)
        self._steps_of: tuple[str, bool] | None = None
        self._icon = Picture("clock", 16)
        self._mark = Label("", "strong", wrap=False)
        self._progress = Label("", "caption")
        self._icon.hide()
        said = row(self._icon, self._mark, 1, spacing=0.75)
        self.setLayout(column(Label(title, "strong"), self._answer, said, self._progress, self._steps, 1, spacing=0.75))
        self._fit()
        theme.looks().changed.connect(self._fit)

    def show_side(self, side: Side) -> None:
        is_written = side.state not in ("waiting", "asked", "writing")
        answer, steps = parted(side.text) if is_written else ("", without_tags(side.text))
        self._answer.setText(_one_line(in_plain_signs(answer)))
        self._show_steps(steps or ("" if answer == _one_line(answer) else answer), folded=is_written)
        self._icon.setVisible(side.mark is not None)
        if side.mark is not None:
            self._icon.show_icon(*verdict_icon(side.mark.verdict))
        self._mark.setText(mark_words(side.mark) if side.mark else "")
        self._progress.setText(progress(side))
        self._progress.set_tone("danger" if side.state == "failed" else "")
        self.setAccessibleName(f"{self._title}: {self._mark.text()} {self._progress.text()}")

    def _show_steps(self, steps: str, *, folded: bool) -> None:
        """Followed while they are written; once the answer is there, folded until somebody wants them."""
        self._steps.setVisible(bool(steps))
        if (steps, folded) == self._steps_of:
            return
        self._steps_of = (steps, folded)
        self._steps.set_text(steps, tr("Show the steps"), tr("Hide the steps"), fold=folded)
        if not folded:
            self._steps.reading.to_end()

    def _fit(self) -> None:
        # The mark's line is as high without a mark, so that nothing moves when it comes.
        self._mark.setMinimumHeight(theme.pixels("strong") + grid(0.75))
        self._answer.setMinimumHeight(theme.pixels("display") + grid(1.5))


def _one_line(answer: str) -> str:
    """As it is shown large."""
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
