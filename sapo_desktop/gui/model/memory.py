"""What the memory of this computer is enough for: a bar for each way to run the strongest model, and the numbers."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from sapo_desktop.core.fitting import Fit, Way
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.link.inquiry import Inquiry
from sapo_desktop.gui.look import theme
from sapo_desktop.gui.model.memory_parts import Bar, bars, scale
from sapo_desktop.gui.widgets.bars import StackedBar, Stretch, Swatch, legend
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.layout import Card, Flow, column, holding, row
from sapo_desktop.gui.widgets.notes import chip
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words import models as model_words
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.titles import model_title
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.models import FitIs, GetFit

_COLOURS = {
    "weights": "chart_me",
    "learning": "chart_swarm",
    "work": "silo",
    "answers": "chart_held_out",
    "program": "chart_base",
    "reserve": "edge",
}


_A_MINUTE = 60


class MemoryCard(Card):
    """See the module."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__(tr("What fits here"), " ")
        self._view = view
        self._bars = QWidget()
        self._bars.setMinimumHeight(180)
        self._bars.setLayout(QVBoxLayout())
        self._why = Button(tr("Why nothing bigger"), self._turn, icon="chevron-right")
        self._unfolded = False
        self._bigger = QWidget()
        self._bigger.hide()
        self._why.hide()
        self.inquiry = Inquiry(bridge, GetFit, self, self._show)
        self.add(self.inquiry.trouble, self._bars, self._why, self._bigger)
        self.about.setText(tr("Looking at the memory"))

    @property
    def chosen(self) -> Way | None:
        """The way that this computer was found to be good for."""
        reply: FitIs | None = self.inquiry.reply
        return reply.fit.chosen if reply is not None and reply.fit.chosen.fits else None

    def _show(self) -> None:
        reply: FitIs | None = self.inquiry.reply
        if reply is None or self.inquiry.error:
            self._bars.setMinimumHeight(0)
            return
        fit = reply.fit
        self.about.setText(_about(fit, self._view.settings.round_most))
        drawn = _drawn(fit)
        bigger = holding(column(*(Label(one_line(in_words(text)), "caption") for text in fit.bigger), spacing=0.5))
        for old, new in ((self._bars, drawn), (self._bigger, bigger)):
            self.body.replaceWidget(old, new)
            old.hide()
            old.deleteLater()
        self._bars, self._bigger = drawn, bigger
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
    said = tr("This computer has {memory} of memory; {free} of it are free for a model.").format(
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
        slow = tr("{model} learns fastest here, in rounds of about {span}.")
        return f"{said} {slow.format(model=title, span=numbers.span(chosen.round_seconds))}"
    largest = tr(
        "The largest model whose round takes at most {most} here is {model}. It takes {size} of memory, and a round "
        "about {span}."
    ).format(
        most=tr("a minute") if most == _A_MINUTE else numbers.span(most),
        model=title,
        size=numbers.size(chosen.estimate),
        span=numbers.span(chosen.round_seconds),
    )
    return f"{said} {largest}"


def _drawn(fit: Fit) -> QWidget:
    shown = bars(fit)
    names = {name for bar in shown for name in bar.pieces}
    swatches = [
        legend(Swatch(colour, hatched=name == "reserve"), model_words.piece_words(name))
        for name, colour in _COLOURS.items()
        if name in names
    ]
    # The bars end at one place, whatever stands beside them.
    metrics = QFontMetrics(theme.font("caption"))
    ruler = _Ruler(scale(shown), max((metrics.horizontalAdvance(_takes(fit, bar)) for bar in shown), default=0) + 4)
    lines = [_way(fit, way, [bar for bar in shown if bar.way is way], ruler) for way in fit.ways]
    notes = [one_line(in_words(note)) for note in fit.available.notes]
    if any(way.unmeasured for way in fit.ways):
        notes.append(
            tr(
                "These numbers are computed; nobody has measured a computer like this one. If memory runs out, choose "
                "a smaller model."
            )
        )
    captions = [Label(note, "caption") for note in notes]
    name = Label(tr("How {model} could run here:").format(model=model_title(fit.chosen.model)), "strong")
    return holding(column(name, holding(Flow(*swatches, spacing=16)), *lines, *captions, spacing=1.5))


class _Ruler(NamedTuple):
    """What all bars have in common."""

    bytes: int
    """That the whole width stands for."""
    number_width: int
    """Pixels for the number beside a bar."""


def _takes(fit: Fit, bar: Bar) -> str:
    takes = tr("takes {takes}; {free} are free").format(takes=numbers.size(bar.takes), free=numbers.size(bar.free))
    if not fit.available.device_memory:
        return takes
    where = tr("card") if bar.on_card else tr("computer")
    return f"{where}: {takes}"


def _way(fit: Fit, way: Way, own: list[Bar], ruler: _Ruler) -> QWidget:
    """A way's name and what came of it, and a bar for each memory that it takes."""
    name = model_words.way_words(way)
    chips = [chip(tr("Best way"))] if way == fit.chosen and way.fits else []
    chips.append(chip(tr("Fits"), "accent") if way.fits else chip(tr("Too big"), "danger"))
    head = row((Label(name, "strong"), 1), *chips)
    lines = [_line(f"{name}: {_takes(fit, bar)}", _takes(fit, bar), bar, ruler) for bar in own]
    about = [Label(one_line(in_words(way.why_not)), "caption")] if way.why_not else []
    return holding(column(head, *lines, *about, spacing=0.25))


def _line(title: str, takes: str, bar: Bar, ruler: _Ruler) -> QHBoxLayout:
    parts = [
        Stretch(size / ruler.bytes, _COLOURS[name], hatched=name == "reserve") for name, size in bar.pieces.items()
    ]
    said = ", ".join(f"{model_words.piece_words(name)} {numbers.size(size)}" for name, size in bar.pieces.items())
    room = Label(takes, "caption", wrap=False)
    room.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    room.setFixedWidth(ruler.number_width)
    return row((StackedBar(f"{title}. {said}", parts, bar.free / ruler.bytes), 1), room)
