"""What the model does just now: a question with its answer, marked."""

from __future__ import annotations

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.widgets.layout import Card, column, holding, row
from sapo_desktop.gui.widgets.notes import Empty, Picture
from sapo_desktop.gui.widgets.text import Elided, Label
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.learning import verdict_icon, verdict_name
from sapo_desktop.gui.words.tasks import task_name
from sapo_desktop.view.completion import in_plain_signs, parted
from sapo_desktop.view.viewmodel import AnswerShown, View

_QUESTION, _ANSWER = 160, 60
"""Characters shown; Learning has all of it."""


class NowCard(Card):
    """The newest of this computer's own answers, looked for once a second: faster nobody reads."""

    def __init__(self, view: View) -> None:
        super().__init__(tr("Just now"))
        self._view = view
        self._shown: AnswerShown | None = None
        self._question = Label("", "muted")
        self._icon = Picture("check", 18)
        self._answer = Label("", "subtitle")
        self._mark = Elided("", "caption")
        self._full = holding(column(self._question, row(self._icon, (self._answer, 1)), self._mark, spacing=0.75))
        self._empty = Empty("learning", tr("None yet"), tr("While a round runs, its answers pass by here."))
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
        self._question.setText(one_line(in_plain_signs(newest.question), _QUESTION))
        answer = in_plain_signs(parted(newest.completion).answer)
        self._answer.setText(one_line(answer, _ANSWER) or tr("(no answer)"))
        self._icon.show_icon(*verdict_icon(verdict))
        self._mark.set_text(f"{verdict_name(verdict)} · {task_name(newest.task)}")
