"""Home's chart: what the model can do, or its success in training next to its peers; also as a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from sapo_desktop.gui.home.saving import SavedRounds
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.look import theme
from sapo_desktop.gui.widgets.bars import legend
from sapo_desktop.gui.widgets.buttons import IconButton, Segments
from sapo_desktop.gui.widgets.charts import CurveChart, LineSample, played_in_both, words_at
from sapo_desktop.gui.widgets.files import ask_save_path
from sapo_desktop.gui.widgets.layout import Card, Flow, row
from sapo_desktop.gui.widgets.notes import Empty
from sapo_desktop.gui.widgets.table import Heading, Table
from sapo_desktop.gui.widgets.text import Label, set_tooltip
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.view.curves import RECENT_ROUNDS
from sapo_desktop.view.viewmodel import View

_TABLE_ROWS = 2000
_LOWEST, _HIGHEST = 190, 640
"""Height of the chart."""
_OF_THE_SWARM = range(2, 7)
"""Columns of the rounds' table that are empty unless a swarm was measured."""


class ChartCard(Card):
    """See the module."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__()
        self.setAccessibleName(tr("Does it learn?"))
        self._view, self._bridge = view, bridge
        self.chart = CurveChart(view.curves, tr("Chart of the share of questions solved: held-out or in training"))
        self.shown = Segments(
            tr("What the chart shows"), [("skill", tr("New questions")), ("training", tr("In training"))], "skill"
        )
        self.shown.hint(
            "skill", tr("Share of held-out questions solved. The band shows the uncertainty of the improvement.")
        )
        self.shown.hint(
            "training",
            tr(
                "Share of the same kinds of question solved in the same rounds: here, and by the median "
                "peer. Training picks questions that are solved only sometimes, so this stays low."
            ),
        )
        self.shown.chosen.connect(self._choose_kind)
        self._chosen = False
        self._range = Segments(tr("Rounds shown"), [("all", tr("All rounds")), ("500", "500"), ("100", "100")], "all")
        self._range.chosen.connect(self._show_range)
        self._as_table = IconButton("table", tr("Show as a table"), self._switch, checkable=True)
        self._save = IconButton("download", tr("Save all rounds as CSV or JSON"), self._ask_where)
        self._words = Label("", "caption", lines=3)  # the words change with the point under the pointer
        self._words.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._tables = {
            "skill": Table(tr("Held-out scores"), _score_headings(view), rows_shown=9),
            "training": Table(tr("Rounds"), _headings(view), rows_shown=9),
        }
        self._empty = Empty(
            "learning",
            tr("No round finished yet"),
            tr("The first point appears after the first round, usually within a minute."),
        )
        self._unknown = Empty("learning", tr("Shown after the start"), "")
        self._stack = QStackedWidget()
        parts: list[QWidget] = [self._empty, self._unknown, self.chart, *self._tables.values()]
        for part in parts:
            self._stack.addWidget(part)
        self._stack.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self._fit()
        theme.looks().changed.connect(self._fit)
        self._legends = self._make_legends()
        lines = Flow(*(one for of_kind in self._legends.values() for one in of_kind), spacing=18)
        self._about = Label("", "caption")
        controls = Flow(self.shown, self._range, self._as_table, spacing=4)
        self.add(controls, lines, (self._stack, 1), row((self._words, 1), self._save), self._about)
        set_tooltip(self._as_table, tr("The same numbers as a table, for keyboard, screen reader or clipboard"))
        self.chart.row_pointed.connect(self._point)
        self._point(None)

    def _fit(self) -> None:
        """The chart uses the page's free height, within bounds that grow with the text."""
        self._stack.setMinimumHeight(theme.scaled(_LOWEST))
        self._stack.setMaximumHeight(theme.scaled(_HIGHEST))

    def _make_legends(self) -> dict[str, list[QWidget]]:
        solid, dashes = Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine
        here = tr("solved here, mean of %n rounds", None, RECENT_ROUNDS)
        self._swarm_legend = legend(LineSample("chart_swarm", dashes), tr("the median peer, with 95% interval"))
        self._silo_legend = legend(LineSample("silo", solid, "area"), tr("in silo"))
        return {
            "skill": [
                legend(LineSample("chart_held_out", solid, "diamond"), tr("held-out score with 95% interval")),
                legend(LineSample("chart_base", Qt.PenStyle.DashDotLine), tr("the model before training")),
            ],
            "training": [
                legend(LineSample("chart_me", solid), here),
                legend(LineSample("chart_me", solid, "faint"), tr("single rounds")),
                self._swarm_legend,
                self._silo_legend,
            ],
        }

    def refresh(self) -> None:
        if self._chosen:
            self._show_legends()
        else:
            self._show_kind("skill" if self._view.settings.validate_every else "training")
        self._save.setVisible(self._view.attached and len(self._view.curves) > 0)
        if not len(self._view.curves):
            self._stack.setCurrentWidget(self._unknown if self._view.status is None else self._empty)
            return
        self._switch()
        self.chart.follow()
        self._point(self.chart.row_under_pointer)

    def _ask_where(self) -> None:
        kinds = "CSV (*.csv);;" + tr("JSON, one round per line") + " (*.jsonl)"
        if to := ask_save_path(self, tr("Save all rounds"), "rounds.csv", kinds):
            self._save.setEnabled(False)
            SavedRounds(self, self._bridge, Path(to), lambda: self._save.setEnabled(True)).start()

    def _switch(self) -> None:
        if not len(self._view.curves):
            return
        if self._as_table.isChecked():
            shown, curves = self.shown.current, self._view.curves
            table = self._tables[shown]
            table.set_rows(_newest_rows(len(curves) if shown == "training" else len(curves.held_out().rounds)))
            self._stack.setCurrentWidget(table)
        else:
            self._stack.setCurrentWidget(self.chart)

    def _choose_kind(self, which: str) -> None:
        self._chosen = True
        self._show_kind(which)

    def _show_kind(self, which: str) -> None:
        self.shown.show_choice(which)
        self.chart.show_skill(which == "skill")
        self._show_legends()
        self._switch()

    def _show_legends(self) -> None:
        now = self.shown.current
        for kind, legends in self._legends.items():
            for one in legends:
                one.setVisible(kind == now)
        measured = bool((self._view.curves.column("swarm_peers") > 0).any())
        self._swarm_legend.setVisible(now == "training" and measured)
        self._silo_legend.setVisible(now == "training" and played_in_both(self._view.curves))
        for at in _OF_THE_SWARM:
            self._tables["training"].setColumnHidden(at, not measured)
        level = self._level_words() if now == "skill" else ""
        self._about.setText(level)
        self._about.setVisible(bool(level))

    def _level_words(self) -> str:
        """If the score no longer rises: what would help."""
        since = self._view.curves.held_out().level_since(self._view.settings.validate_every)
        if since is None:
            return ""
        return tr(
            "The score has hardly risen since round {round}. This model may have learned what it can "
            "here. A larger one can learn more (page Model)."
        ).format(round=numbers.count(since))

    def _show_range(self, which: str) -> None:
        if which == "all":
            self.chart.show_all()
        else:
            self.chart.show_last(int(which))

    def _point(self, at: int | None) -> None:
        curves = self._view.curves
        if not len(curves):
            self._words.setText("")
        else:
            self._words.setText(words_at(curves, len(curves) - 1 if at is None else min(at, len(curves) - 1)))


def _headings(view: View) -> list[Heading]:
    def value(name: str) -> Heading:
        titles = {
            "solved": tr("Solved"),
            "swarm_mine": tr("Same kinds of question: here"),
            "swarm_reward": tr("median peer"),
            "swarm_low": tr("from"),
            "swarm_high": tr("to"),
        }
        column = view.curves.column
        return Heading(
            titles[name],
            lambda at: numbers.percent(float(column(name)[at])),
            lambda at: float(column(name)[at]),
            right=True,
        )

    def peers(at: int) -> str:
        found = view.curves.column("swarm_peers")[at]
        return numbers.NOTHING if found != found else numbers.count(int(found))

    def where(at: int) -> str:
        silo = view.curves.column("silo")[at]
        return numbers.NOTHING if silo != silo else tr("silo") if silo else tr("swarm")

    return [
        Heading(tr("Round"), lambda at: numbers.count(int(view.curves.column("round")[at])), lambda at: at, right=True),
        *(value(name) for name in ("solved", "swarm_mine", "swarm_reward", "swarm_low", "swarm_high")),
        Heading(tr("Peers"), peers, right=True),
        Heading(tr("Mode"), where),
    ]


def _score_headings(view: View) -> list[Heading]:
    def column(name: str, title: str, words: Callable[[float], str] = numbers.percent) -> Heading:
        def value(at: int) -> float:
            return float(getattr(view.curves.held_out(), name)[at])

        return Heading(title, lambda at: words(value(at)), value, right=True)

    return [
        column("rounds", tr("Round"), lambda value: numbers.count(int(value))),
        column("scores", tr("Held-out score")),
        column("low", tr("from")),
        column("high", tr("to")),
    ]


def _newest_rows(count: int) -> list[int]:
    """The newest of so many rows, newest first: more than anybody reads."""
    return list(range(count - 1, max(-1, count - 1 - _TABLE_ROWS), -1))
