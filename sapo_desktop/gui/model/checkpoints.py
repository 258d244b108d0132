"""Checkpoints: base, best and last with their held-out scores; score one, return to one, export one."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Signal

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.records import EvalReport, Gain
from sapo_desktop.gui.link.bridge import Bridge, Call
from sapo_desktop.gui.link.inquiry import Inquiry
from sapo_desktop.gui.model.export import ExportSheet, item_name
from sapo_desktop.gui.widgets.bars import Progress
from sapo_desktop.gui.widgets.buttons import Button, Segments
from sapo_desktop.gui.widgets.dialog import confirm
from sapo_desktop.gui.widgets.layout import Card, Flow, holding, row
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.table import Heading, Table, number
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words import models as model_words
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.titles import model_title, task_name
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.replies import CheckpointInfo, Compared, Comparison, EvalPoint, Evaluated
from sapo_desktop.worker.control.messages.requests import Evaluate, GetComparisons, ListCheckpoints, RollBack


class CheckpointsCard(Card):
    """The list, and the actions on the selected one."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__(
            tr("Checkpoints"),
            tr(
                "Saved states of your model. A score is the share of held-out questions solved; these are "
                "never used for training."
            ),
        )
        self._view, self._bridge = view, bridge
        self.table = Table(tr("Checkpoints"), self._headings(), rows_shown=5, same=lambda item: item.number)
        self.table.pointed.connect(self._choose)
        self.score = Button(tr("Evaluate now"), self._score_selected, icon="chart")
        self.back = Button(tr("Go back to this"), self._go_back, icon="reset")
        self.export = Button(tr("Export"), self._export, icon="upload")
        self.scoring = ScoreBox(view, bridge)
        self.scoring.moved.connect(self._choose)
        self.inquiry = Inquiry(bridge, ListCheckpoints, self, self._show)
        self._before = Label("", "caption")
        self.comparisons = Inquiry(bridge, GetComparisons, self, self._show)
        self.add(
            self.inquiry.trouble,
            self._before,
            self.table,
            holding(Flow(self.score, self.back, self.export)),
            self.scoring,
        )
        self._choose()

    def refresh(self) -> None:
        """The round advanced, or the node appeared or ended."""
        self.scoring.refresh()
        self._choose()

    @property
    def learned(self) -> bool:
        """Whether anything belongs to the current model."""
        if self.inquiry.reply is None:
            return self._view.round > 0
        return any(item.number and not item.other_model for item in self.inquiry.reply.items)

    def _show(self) -> None:
        self._before.setText(self._others())
        self._before.setVisible(bool(self._before.text()))
        if self.inquiry.reply is not None:
            newest_first = sorted(self.inquiry.reply.items, key=lambda item: -item.number)
            self.table.set_rows(newest_first)
            if newest_first and not self.table.selected():
                self.table.select([newest_first[0].number])
        self._choose()

    def _others(self) -> str:
        """The results of former models: compared with the current one on common questions if there are any, otherwise
        in one line, `Starter: 10% → 40%, kept`."""
        kept = {item.model for item in self.inquiry.reply.items} if self.inquiry.reply is not None else set()
        compared: list[Comparison] = self.comparisons.reply.items if self.comparisons.reply is not None else []
        words, shown = [], {one.other.hash for one in compared}
        for one in self._view.curves.results_before():
            if one.model in shown:
                continue
            values = {
                "model": model_title(one.name),
                "base": numbers.percent(one.base),
                "now": numbers.percent(one.now),
            }
            form = tr("{model}: {base} → {now}, saved") if one.model in kept else tr("{model}: {base} → {now}")
            words.append(form.format(**values))
        return "\n".join([*map(_comparison_words, compared), *([" · ".join(words)] if words else [])])

    def _headings(self) -> list[Heading]:
        return [
            Heading(
                tr("Checkpoint"),
                lambda item: tr("Base") if item.number == 0 else numbers.count(item.number),
                lambda item: item.number,
            ),
            Heading(
                tr("Role"),
                model_words.checkpoint_badges,
                icon=lambda item: ("flag", "accent") if item.best else ("clock", "muted") if item.last else None,
                spare=1,
            ),
            number(tr("Round"), lambda item: item.round, spare=4),
            Heading(
                tr("Held-out score"),
                self._score_words,
                lambda item: item.validation,
                right=True,
                about=tr("Share of the held-out questions solved, with the 95% interval"),
            ),
            Heading(
                tr("Size"),
                lambda item: numbers.size(item.bytes) if item.number else numbers.NOTHING,
                lambda item: item.bytes,
                right=True,
                spare=3,
            ),
            Heading(
                tr("Written"),
                lambda item: numbers.stamp(item.created) if item.number else tr("before training"),
                lambda item: item.created,
                spare=2,
            ),
        ]

    def _score_words(self, item: CheckpointInfo) -> str:
        if item.validation is None:
            return numbers.NOTHING
        point = _interval(self._view.curves.evals, item)
        score = numbers.percent(item.validation)
        if point is None:
            return score
        return tr("{score} ({low} to {high})").format(
            score=score, low=numbers.percent(point.low), high=numbers.percent(point.high)
        )

    @property
    def chosen(self) -> CheckpointInfo | None:
        selected: list[CheckpointInfo] = self.table.selected()
        return selected[0] if len(selected) == 1 else None

    def _choose(self) -> None:
        one = self.chosen is not None and not self.chosen.other_model and self._view.attached
        self.score.setEnabled(one and not self.scoring.busy)
        self.export.setEnabled(one)
        # It is at its last checkpoint already, and an unchanged base cannot be restored.
        self.back.setEnabled(one and self.learned and self.chosen is not None and not self.chosen.last)

    def _score_selected(self) -> None:
        if self.chosen is not None:
            self.scoring.choose(self.chosen)

    def _go_back(self) -> None:
        item = self.chosen
        if item is None:
            return
        name = model_words.checkpoint_words(item.number)
        about = tr(
            "Everything learned since then is discarded, including the current round. Round numbers "
            "continue, and the other checkpoints stay for now."
        )
        if confirm(self, tr("Go back to {name}?").format(name=name), about, tr("Go back"), kind="danger"):

            def done(reply: object) -> None:
                self._bridge.said.emit(tr("Went back to {name}.").format(name=name))
                self.inquiry.ask()

            self._bridge.ask(RollBack(to=item_name(item.number)), done, self._failed, of=self)

    def _failed(self, error: SapoError) -> None:
        self._bridge.trouble.emit(in_words(error))

    def _export(self) -> None:
        if self.chosen is not None:
            ExportSheet(self, self._bridge, self.chosen).open()


def _comparison_words(one: Comparison) -> str:
    """`The same 120 questions: SmolLM2 3% → 22%, Starter 10% → 40%. Starter leads by +10 to +26 points.`"""

    def came(model: Compared) -> str:
        base, now = numbers.percent(model.base), numbers.percent(model.now)
        return tr("{model} {base} → {now}").format(model=model_title(model.name), base=base, now=now)

    said = tr("The same %n held-out questions: {ours}, {other}.", None, one.questions).format(
        ours=came(one.ours), other=came(one.other)
    )
    ahead, gain = (one.ours, one.difference) if one.difference.value >= 0 else (one.other, _turned(one.difference))
    if gain.low <= 0:
        return said + " " + tr("The difference may be chance.")
    words = tr("{model} leads by {points}.").format(
        model=model_title(ahead.name), points=numbers.points(gain.low, gain.high)
    )
    return f"{said} {words}"


def _turned(gain: Gain) -> Gain:
    return Gain(value=-gain.value, low=-gain.high, high=-gain.low)


class ScoreBox(Card):
    """Scores one checkpoint on a held-out set. This takes minutes, and continues on other pages.

    Signals:
        moved: it started, or ended.
    """

    moved = Signal()

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__()
        self._view, self._bridge = view, bridge
        self._item: CheckpointInfo | None = None
        self._call: Call | None = None
        self.busy = False
        self._title = Label("", "strong")
        self._which = Segments(
            tr("Held-out questions"),
            [("validation", tr("This computer's")), ("test", tr("Everyone's"))],
            "validation",
        )
        self._which.hint(
            "validation", tr("From this computer's own secret. The best checkpoint and the guard use this score.")
        )
        self._which.hint("test", tr("The same questions for everyone, to compare with other computers"))
        self.begin = Button(tr("Start"), self._begin, kind="primary")
        self.close_button = Button(tr("Close"), self._close)
        self._choice = holding(row(self._which, 1, self.close_button, self.begin))
        self._bar = Progress()
        self._words = Label("", "caption")
        self.cancel = Button(tr("Cancel"), self._cancel, icon="cross")
        self._progress = holding(row(self._bar, self._words, self.cancel, spacing=1.5))
        self._result = Label("")
        self._trouble = Banner(tone="danger")
        self._tasks = Table(tr("Score by task"), _task_headings(), rows_shown=6)
        self.add(self._title, self._choice, self._progress, self._trouble, self._result, self._tasks)
        self.hide()

    def choose(self, item: CheckpointInfo) -> None:
        """Offer to score this one."""
        if self.busy:
            return
        self._item = item
        self._title.setText(tr("{name}: held-out score").format(name=model_words.checkpoint_words(item.number)))
        self._show(choice=True)
        self.show()
        self.begin.setFocus()

    def refresh(self) -> None:
        if not self.busy:
            return
        view = self._view
        scoring = view.phase == "evaluate" and view.total > 0
        self._bar.show_done(view.done, view.total if scoring else 0)
        self._words.setText(
            tr("{done} of {total} questions").format(done=numbers.count(view.done), total=numbers.count(view.total))
            if scoring
            else tr("Waiting for the model")
        )
        self._bar.setAccessibleName(self._words.text())

    def _begin(self) -> None:
        if self._item is None:
            return
        which: Literal["validation", "test"] = "test" if self._which.current == "test" else "validation"
        self.busy = True
        self._trouble.say("")
        self._show(progress=True)
        self.refresh()
        request = Evaluate(checkpoint=item_name(self._item.number), which=which)
        self.moved.emit()
        self._call = self._bridge.ask(request, self._scored, self._failed, of=self)

    def _cancel(self) -> None:
        if self._call is not None:
            self._call.cancel()
        self._over()
        self._show(choice=True)

    def _scored(self, reply: Evaluated) -> None:
        self._over()
        self._result.setText(_report_words(reply.report))
        self._tasks.set_rows(reply.report.tasks)
        self._show(choice=True, result=True)

    def _failed(self, error: SapoError) -> None:
        self._over()
        self._trouble.say(in_words(error))
        self._show(choice=True)

    def _over(self) -> None:
        self.busy, self._call = False, None
        self.moved.emit()

    def _close(self) -> None:
        self.hide()

    def _show(self, *, choice: bool = False, progress: bool = False, result: bool = False) -> None:
        self._choice.setVisible(choice)
        self._progress.setVisible(progress)
        self._result.setVisible(result)
        self._tasks.setVisible(result)


def _interval(evals: list[EvalPoint], item: CheckpointInfo) -> EvalPoint | None:
    """The newest validation of this checkpoint, if the window knows it."""
    name = item_name(item.number)
    found = (point for point in reversed(evals) if point.which == "validation" and point.checkpoint == name)
    return next((point for point in found if point.score == item.validation), None)


def _task_headings() -> list[Heading]:
    return [
        Heading(tr("Task"), lambda mark: task_name(mark.task), stretch=True),
        number(tr("Answers"), lambda mark: mark.answers),
        number(tr("Solved"), lambda mark: mark.solved, numbers.percent),
        number(tr("Partly"), lambda mark: mark.partial, numbers.percent),
    ]


def _report_words(report: EvalReport) -> str:
    words = tr("Solved {score} of %n questions ({low} to {high}), in {span}.", None, report.questions).format(
        score=numbers.percent(report.score),
        low=numbers.percent(report.low),
        high=numbers.percent(report.high),
        span=numbers.span(report.seconds),
    )
    if report.too_long:
        words += " " + tr("%n question(s) are too long for this model and count as not solved.", None, report.too_long)
    return words
