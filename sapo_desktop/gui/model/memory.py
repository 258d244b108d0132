"""What fits into this computer's memory: a row for each way to run the largest model."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtWidgets import QWidget

from sapo_desktop.core.fitting import Fit, Way
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.link.inquiry import Inquiry
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.layout import Card, column, holding
from sapo_desktop.gui.widgets.table import Heading, Table, number
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words import models as model_words
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.titles import model_title
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.models import FitIs, GetFit

_A_MINUTE = 60


class MemoryCard(Card):
    """See the module."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__(tr("What fits here"), " ")
        self._view = view
        self._ways = WaysTable()
        self._notes = Label("", "caption")
        self._why = Button(tr("Why nothing bigger"), self._turn, icon="chevron-right")
        self._unfolded = False
        self._bigger = QWidget()
        self._bigger.hide()
        self._why.hide()
        self.inquiry = Inquiry(bridge, GetFit, self, self._show)
        self.add(self.inquiry.trouble, self._ways, self._notes, self._why, self._bigger)
        self.about.setText(tr("Checking the memory"))

    @property
    def chosen(self) -> Way | None:
        """The recommended way for this computer."""
        reply: FitIs | None = self.inquiry.reply
        return reply.fit.chosen if reply is not None and reply.fit.chosen.fits else None

    def _show(self) -> None:
        reply: FitIs | None = self.inquiry.reply
        if reply is None or self.inquiry.error:
            return
        fit = reply.fit
        self.about.setText(_about(fit, self._view.settings.round_most))
        self._ways.show_fit(fit)
        self._notes.setText("\n".join(_notes(fit)))
        bigger = holding(column(*(Label(one_line(in_words(text)), "caption") for text in fit.bigger), spacing=0.5))
        self.body.replaceWidget(self._bigger, bigger)
        self._bigger.hide()
        self._bigger.deleteLater()
        self._bigger = bigger
        self._why.setVisible(bool(fit.bigger))
        self._unfold()

    def _turn(self) -> None:
        self._unfolded = not self._unfolded
        self._unfold()

    def _unfold(self) -> None:
        self._bigger.setVisible(self._unfolded)
        self._why.set_icon("chevron-down" if self._unfolded else "chevron-right")


def _about(fit: Fit, most: int) -> str:
    here = fit.available
    said = tr("This computer has {memory} of memory, of which {free} are free for a model.").format(
        memory=numbers.size(here.memory), free=numbers.size(here.memory_free)
    )
    if here.device == "cuda":
        card = tr("{card} with {memory}, {free} free now.").format(
            card=one_line(here.device_name, 80),
            memory=numbers.size(here.device_memory),
            free=numbers.size(here.device_memory_free),
        )
        said = f"{said} {card}"
    chosen = fit.chosen
    if not chosen.fits:
        nothing = tr("Nothing fits: {reason}").format(reason=one_line(in_words(chosen.refusal)))
        return f"{said} {nothing}"
    title = model_title(chosen.model)
    if chosen.trainer != "torch":
        answers = tr("No model can learn here, but {model} can answer.").format(model=title)
        return f"{said} {answers}"
    if chosen.round_seconds > most:
        slow = tr("{model} learns fastest here: a round takes about {span}.")
        return f"{said} {slow.format(model=title, span=numbers.span(chosen.round_seconds))}"
    largest = tr(
        "The largest model with rounds of at most {most} here is {model}. It needs {size} of memory, "
        "and a round takes about {span}."
    ).format(
        most=tr("a minute") if most == _A_MINUTE else numbers.span(most),
        model=title,
        size=numbers.size(chosen.estimate),
        span=numbers.span(chosen.round_seconds),
    )
    return f"{said} {largest}"


def _notes(fit: Fit) -> list[str]:
    notes = [one_line(in_words(note)) for note in fit.available.notes]
    if any(way.unmeasured for way in fit.ways):
        notes.append(
            tr(
                "These numbers are estimates; no computer like this one was measured. If memory runs out, "
                "choose a smaller model."
            )
        )
    return notes


class Need(NamedTuple):
    """A way's need in one memory, and the result."""

    way: Way
    on_card: bool
    takes: int
    free: int
    best: bool

    @property
    def verdict(self) -> str:
        if self.best:
            return tr("Best mode")
        return tr("Fits") if self.way.fits else tr("Too big")


def needs(fit: Fit) -> list[Need]:
    """Every considered way, from small to large; two rows if a card has its own memory."""
    here, rows = fit.available, []
    for way in fit.ways:
        best = way == fit.chosen and way.fits
        if way.device_memory.total:
            rows.append(Need(way, True, way.device_memory.total, here.device_memory_free, best))
        rows.append(Need(way, False, way.memory.total, here.memory_free, best))
    return rows


class WaysTable(Table):
    """How the largest model could run here."""

    def __init__(self) -> None:
        super().__init__(
            tr("What fits here"),
            [
                Heading(tr("How it runs"), lambda row: model_words.way_words(row.way), stretch=True),
                Heading(tr("Memory"), lambda row: tr("card") if row.on_card else tr("computer"), spare=1),
                number(tr("Needs"), lambda row: row.takes, numbers.size),
                number(tr("Free"), lambda row: row.free, numbers.size),
                Heading("", lambda row: row.verdict),
            ],
            rows_shown=4,
            same=lambda row: (row.way.generator, row.way.trainer, row.on_card),
        )

    def show_fit(self, fit: Fit) -> None:
        self.set_rows(needs(fit))
