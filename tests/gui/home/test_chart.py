"""Home's chart: what is drawn, pointed at and shown as a table."""

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from sapo_desktop.core.records import Gain
from sapo_desktop.gui.home.page import ChartCard, HomePage
from sapo_desktop.gui.shell.window import MainWindow
from sapo_desktop.gui.widgets.layers import Line
from sapo_desktop.gui.widgets.layout import Figure
from sapo_desktop.view.link import LastKnown
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.events import (
    EvalFinished,
    RoundFinished,
)
from sapo_desktop.worker.control.messages.replies import EvalPoint, ModelRun
from tests.builders import eval_report, round_report
from tests.gui.driving import a_window
from tests.gui.scenes import LEARNED, NOW, SILO_ROUNDS, a_view, curve, silo_curve, swarm_curve


def home(window: MainWindow) -> HomePage:
    assert isinstance(window.page, HomePage)
    return window.page


def scores_drawn(card: ChartCard) -> list[float]:
    return [score for line in drawn(card, "chart_held_out") for score in line.y]


def drawn(card: ChartCard, colour: str) -> list[Line]:
    """The lines of this colour, as they are painted."""
    return [layer for layer in card.chart.layers() if isinstance(layer, Line) and layer.colour == colour]


def test_the_first_point_is_drawn(qtbot: QtBot) -> None:
    view = a_view()
    window, bridge = a_window(qtbot, view)
    card = home(window)._chart
    assert card._stack.currentWidget() is card._empty
    base = EvalPoint(round=0, which="validation", checkpoint="base", score=0.5, low=0.4, high=0.6)
    view.curves.load(curve([0.4], [base]))
    bridge.changed.emit(frozenset({"curves", "rounds"}))
    assert card._stack.currentWidget() is card.chart
    qtbot.waitUntil(lambda: scores_drawn(card) == [0.5])
    card.shown.buttons["training"].click()
    qtbot.waitUntil(lambda: [len(line.x) for line in drawn(card, "chart_me") if line.mark == "dot"] == [1])


def test_what_it_can_do_stands_before_training_where_it_is_measured(qtbot: QtBot) -> None:
    view = a_view(silo_curve())
    window, bridge = a_window(qtbot, view)
    card = home(window)._chart
    assert card.shown.current == "skill" and drawn(card, "chart_held_out") and not drawn(card, "chart_me")
    scale = card.chart.scale()
    assert scale.point(0, scale.y[0]).x() - scale.frame.left() >= 5, "the first point is not cut off"
    hidden = [at for at in range(8) if card._tables["training"].isColumnHidden(at)]
    assert hidden == [2, 3, 4, 5, 6], "no empty columns of a swarm that was never measured"
    view.settings = msgspec.structs.replace(view.settings, validate_every=0)
    bridge.changed.emit(frozenset({"curves", "settings"}))
    assert card.shown.current == "training" and drawn(card, "chart_me") and not drawn(card, "chart_held_out")


def test_pointing_tells_the_values_and_a_table_lies_behind(qtbot: QtBot) -> None:
    window, _ = a_window(qtbot, a_view(swarm_curve(200), silo=False))
    card = home(window)._chart
    card.chart.pointed.emit(150.3)
    words = card._words.text()
    assert words.startswith("Round 150 · solved here: 6") and "median of 11 peer" in words
    card._as_table.click()
    table = card._tables["skill"]
    assert card._stack.currentWidget() is table, "the chart's own numbers"
    assert [table.model().headerData(at, Qt.Orientation.Horizontal) for at in range(2)] == ["Round", "Held-out score"]
    assert table.model().index(0, 1).data().endswith("%")
    card.shown.buttons["training"].click()
    table = card._tables["training"]
    assert card._stack.currentWidget() is table and not table.isColumnHidden(2)
    assert table.model().rowCount() == 200
    assert table.model().index(0, 0).data() == "200"


def test_the_thin_line_shows_the_rounds_where_they_are(qtbot: QtBot) -> None:
    rounds = silo_curve()
    window, _ = a_window(qtbot, a_view(rounds))
    window.resize(1180, 800)
    card = home(window)._chart
    card.chart.show_skill(False)
    for shown in (100, 300):
        card.chart.show_last(shown)
        (thin,) = [line for line in drawn(card, "chart_me") if line.width == 1]
        assert [rounds.reward[int(number) - 1] for number in thin.x] == pytest.approx(list(thin.y))
    long_one, _ = a_window(qtbot, a_view(swarm_curve(5000)))
    card = home(long_one)._chart
    card.chart.show_skill(False)
    card.chart.show_all()
    thin_ones = [line for line in drawn(card, "chart_me") if line.width == 1]
    assert not thin_ones, "closer than pixels they are a block of colour"


def test_what_it_learned_stands_next_to_the_chart_with_both_answers(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, a_view())
    card = home(window)._learned
    assert not card._full.isVisible() and card._empty.isVisible()
    learned = msgspec.structs.replace(LEARNED, question="<b>1 + 1</b>?", before="<answer>\u202e3</answer>", now="So 2")
    bridge.tell(EvalFinished(report=eval_report("40", 0.3, learned=learned)))
    said = {label.text() for label in card.findChildren(QLabel) if label.isVisible()}
    assert {"<b>1 + 1</b>?", "3", "So 2"} <= said and "may be chance" in card._from.text()
    sure = Gain(value=0.1, low=0.02, high=0.18)
    bridge.tell(EvalFinished(report=eval_report("45", 0.3, gain=sure)))
    assert card._full.isVisible(), "it stays until there is a newer one"
    assert "may be chance" not in card._from.text()


def test_a_start_shows_the_last_known_rounds(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, View(clock=lambda: NOW))
    known = msgspec.structs.replace(silo_curve(), models=[ModelRun(hash="", name="starter")])
    bridge.tell(LastKnown(curve=known))
    card, hero = home(window)._chart, home(window)._hero
    assert card._stack.currentWidget() is card.chart and drawn(card, "chart_held_out")
    assert hero._learns.text().startswith("Yes: ") and hero._time.text() == "Starter · as of the last run"
    figures = {figure.accessibleName() for figure in home(window)._counts.findChildren(Figure)}
    assert any(f"Rounds: {SILO_ROUNDS}" in name for name in figures)
    assert any("Answers given: – shown after the start" in name for name in figures), "no count stands for it"


def test_a_round_that_is_pointed_at_stays_the_one_that_is_shown(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, a_view(silo_curve()))
    card = home(window)._chart
    card.chart.pointed.emit(150.3)
    bridge.tell(RoundFinished(report=round_report(SILO_ROUNDS + 1, solved=0.9)))
    assert card._words.text().startswith("Round 150 · ")
    card.chart.pointed.emit(None)
    assert card._words.text().startswith(f"Round {SILO_ROUNDS + 1} · ")


def test_the_reward_chart_clips_no_round_and_names_its_lines_and_axes(qtbot: QtBot) -> None:
    rounds = curve([0.2] * 30 + [0.95] + [0.2] * 30)
    window, _ = a_window(qtbot, a_view(rounds))
    card = home(window)._chart
    card.shown.buttons["training"].click()
    low, high = card.chart.scale().y
    assert low <= 0.2 and high >= 0.95, "a single round is seen whole"
    assert {"single rounds", "solved here, mean of 20 rounds"} <= {
        label.text() for label in card.findChildren(QLabel) if label.isVisible()
    }
    assert any(number.text.endswith("%") for number in card.chart.numbers(card.chart.scale()))
