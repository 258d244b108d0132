"""One kept answer: the question, the text, why it got its mark, and what learning did with it."""

from __future__ import annotations

from sapo_desktop.gui.look.theme import grid
from sapo_desktop.gui.widgets.folded import Folded
from sapo_desktop.gui.widgets.layout import Card, Columns, column, holding, row
from sapo_desktop.gui.widgets.notes import Picture
from sapo_desktop.gui.widgets.text import Elided, Label, Reading
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.learning import (
    effect_words,
    verdict_icon,
    verdict_meaning,
    verdict_name,
    who_words,
)
from sapo_desktop.gui.words.tasks import task_name
from sapo_desktop.worker.control.messages.rollouts import Rollout


class AnswerPane(Card):
    """The picked answer. A peer's text is shown when one asks for it."""

    def __init__(self) -> None:
        super().__init__(role="well")
        self.body.setContentsMargins(grid(2), grid(1.5), grid(2), grid(2))
        self._shown: int | None = None
        self._nothing = Label(tr("Pick an answer to read it."), "muted")
        self.title = Label("", "subtitle")
        self._icon = Picture("check", 18)
        self._mark = Label("", "strong", wrap=False)
        self._where = Elided("", "caption")
        self.words = Label("")
        self._effect = Label("", "muted")
        self.question = Reading(tr("Question"), lines=4)
        self._length = Label("", "caption")
        self.answer = Folded(tr("Answer"), lines=9)
        why = column(
            self.title,
            row(self._icon, self._mark, self._where, spacing=1),
            column(self.words, self._effect, spacing=0.5),
            column(Label(tr("Question"), "caption"), self.question, spacing=0.5),
            spacing=1.5,
        )
        text = holding(column(self._length, self.answer, spacing=0.5))
        self._parts = Columns(holding(why), text, narrowest=270, most=2)
        self.add(self._nothing, self._parts)
        self.show_answer(None)

    def show_answer(self, shown: Rollout | None) -> None:
        """Another answer; the same one stays unfolded."""
        self._nothing.setVisible(shown is None)
        self._parts.setVisible(shown is not None)
        if shown is None:
            self._shown = None
            return
        self.title.setText(task_name(shown.task))
        if shown.id == self._shown:
            return
        self._shown = shown.id
        self._icon.show_icon(*verdict_icon(shown.verdict))
        self._mark.setText(verdict_name(shown.verdict))
        self._where.set_text(tr("round {round}, {who}").format(round=numbers.count(shown.round), who=who_words(shown)))
        self.words.setText(verdict_meaning(shown))
        self._effect.setText(effect_words(shown))
        self.question.set_text(shown.question)
        self._length.setText(tr("Answer, %n character(s)", None, len(shown.completion)))
        self.answer.set_text(
            shown.completion,
            tr("Show the peer's text"),
            tr("Hide the peer's text"),
            fold=bool(shown.author),
        )
