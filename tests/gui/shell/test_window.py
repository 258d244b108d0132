"""Window, Home, tray and wizard, driven without a worker."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAccessible, QAction
from PySide6.QtWidgets import QApplication, QLabel, QSystemTrayIcon, QWidget
from pytestqt.qtbot import QtBot

from sapo_desktop import __version__
from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.records import Gain
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.why import NotKept, Paused, Ready, Starting, Training
from sapo_desktop.gui.first_run.wizard import Wizard
from sapo_desktop.gui.home.page import ChartCard, HomePage
from sapo_desktop.gui.peers.join import JoinSheet
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.app import Desktop
from sapo_desktop.gui.shell.help import HelpSheet, what_it_is
from sapo_desktop.gui.shell.tray import Tray
from sapo_desktop.gui.shell.window import AwaySheet, MainWindow
from sapo_desktop.gui.try_it.page import TryPage
from sapo_desktop.gui.widgets.buttons import IconButton
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.layers import Line
from sapo_desktop.gui.widgets.layout import Figure
from sapo_desktop.gui.widgets.text import Elided, Reading
from sapo_desktop.system.desktop import notification
from sapo_desktop.view.link import Connecting, Ended, LastKnown, Lost, Mend
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.asking import EnvelopePreview, PreviewEnvelope
from sapo_desktop.worker.control.messages.events import (
    Answered,
    EvalFinished,
    PhaseChanged,
    Progressed,
    RoundFinished,
    StateChanged,
)
from sapo_desktop.worker.control.messages.replies import Aha, Ahas, EvalPoint, ModelRun
from sapo_desktop.worker.control.messages.requests import (
    Finish,
    GetAhas,
    JoinSwarm,
    ListTasks,
    Pause,
    Quit,
    Resume,
    SetSettings,
    SetSilo,
    StartRounds,
)
from tests.builders import eval_report, round_report
from tests.gui import staged_try
from tests.gui.driving import all_texts, press
from tests.gui.late import LateBridge
from tests.gui.scenes import LEARNED, NOW, SILO_ROUNDS, a_view, curve, silo_curve, swarm_curve
from tests.gui.stage import StageBridge


def a_window(qtbot: QtBot, view: View, replies: dict[type, Any] | None = None) -> tuple[MainWindow, StageBridge]:
    bridge = StageBridge(view)
    bridge.replies |= replies or {}
    window = MainWindow(view, bridge, Actions(view, bridge))
    qtbot.addWidget(window)
    window.show()
    return window, bridge


def home(window: MainWindow) -> HomePage:
    assert isinstance(window.page, HomePage)
    return window.page


def scores_drawn(card: ChartCard) -> list[float]:
    return [score for line in drawn(card, "chart_held_out") for score in line.y]


def drawn(card: ChartCard, colour: str) -> list[Line]:
    """The lines of this colour, as they are painted."""
    return [layer for layer in card.chart.layers() if isinstance(layer, Line) and layer.colour == colour]


def test_the_large_button_starts_pauses_and_goes_on(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, a_view(state="idle"))
    button = home(window)._hero._button
    assert button.text() == "Learn alone"
    button.click()
    bridge.tell(StateChanged(state="working", reason="", why=Training(round=1)))
    assert button.text() == "Pause"
    button.click()
    bridge.tell(StateChanged(state="paused", reason="", why=Paused()))
    assert button.text() == "Go on"
    button.click()
    kinds = [type(request) for request in bridge.asked if isinstance(request, StartRounds | Pause | Resume)]
    assert kinds == [StartRounds, Pause, Resume]


def test_the_state_is_one_sentence_with_its_reason_everywhere(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, a_view(silo_curve()))
    assert home(window)._hero._sentence.text() == f"Training round {SILO_ROUNDS + 1}, alone"
    bridge.tell(StateChanged(state="paused", reason="", why=Paused(until=NOW + 600), resume_at=NOW + 600))
    sentence = home(window)._hero._sentence.text()
    assert sentence.startswith("Paused by you until ") and sentence.endswith(", 10 min left")
    assert window._side._state.text().startswith("Paused by you until ")


def test_silo_is_shown_so_that_nobody_can_miss_it(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, a_view(peers="wss://relay.example:8765"))
    chip = window._side.silo
    assert chip.isChecked() and chip.text() == "Silo: offline"
    window._side.silo.click()
    assert bridge.asked_for(SetSilo) == [SetSilo(on=False)]


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


def test_what_it_learned_stands_beside_the_chart_with_both_answers(qtbot: QtBot) -> None:
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


def test_a_start_says_where_it_is(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, View(clock=lambda: NOW))
    bridge.tell(Connecting(why=Starting(step=sentence("reading the model {model}, step 3 of 4", model="starter"))))
    said = home(window)._hero._sentence.text()
    assert said == "Starting: reading the model Starter, step 3 of 4" == home(window)._hero._bar.accessibleName()
    assert not window._side.silo.isChecked(), "nobody has said yet whether it is in silo"
    bridge.tell(Connecting(why=Starting(step="step 3 of 4", busy="The computer is busy.", silo=True)))
    assert home(window)._hero._sentence.text() == "Starting: step 3 of 4. The computer is busy."
    assert window._side.silo.isChecked() and not window._side.silo.isEnabled()
    figures = home(window)._counts.findChildren(Figure)
    assert figures and all("shown after the start" in figure.accessibleName() for figure in figures)
    bridge.tell(Connecting(why=Starting(step="step 4 of 4", silo=False)))
    assert not window._side.silo.isChecked()


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


def test_nothing_moves_while_a_node_starts_works_and_is_slowed_down(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, View(clock=lambda: NOW))
    window.resize(1280, 800)
    page = home(window)
    heights = {}
    for name, arrival in (
        ("starts", Connecting()),
        ("works", a_view(silo_curve()).link),
        ("slow", StateChanged(state="working", reason="", why=Training(round=2, busy="The computer is busy."))),
        ("pauses", StateChanged(state="paused", reason="", why=Paused())),
    ):
        bridge.tell(arrival)
        QApplication.processEvents()
        heights[name] = (page._hero.height(), page._hero._progress.y(), page._counts.height())
    assert len(set(heights.values())) == 1, heights


def test_pauses_are_in_the_window_too(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, a_view(silo_curve()))
    hero = home(window)._hero
    heading, *actions = hero._pauses.menu().actions()
    assert heading.text() == "Pause for" and not heading.isEnabled()
    for action in actions:
        action.trigger()
    assert [pause.seconds for pause in bridge.asked_for(Pause)][:3] == [900.0, 3600.0, 10800.0]
    assert len(bridge.asked_for(Pause)) == 4 and bridge.asked_for(Finish)
    bridge.tell(StateChanged(state="paused", reason="", why=Paused(until=NOW + 900), resume_at=NOW + 900))
    assert hero._sentence.text().endswith(", 15 min left")
    assert not hero._pauses.isVisible(), "beside Go on there is nothing to pause"
    bridge.tell(StateChanged(state="idle", reason="", why=Ready()))
    assert not hero._pauses.isVisible()


def test_the_bar_is_never_empty_while_something_happens(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, View(clock=lambda: NOW))
    hero = home(window)._hero
    moves = lambda: hero._bar.isVisible() and hero._bar.maximum() == 0  # noqa: E731
    assert moves(), "the node is started"
    view = a_view(silo_curve())
    window, bridge = a_window(qtbot, view)
    hero = home(window)._hero
    assert (hero._bar.value(), hero._bar.maximum()) == (37, 64)
    bridge.tell(PhaseChanged(round=SILO_ROUNDS + 1, phase="train"))
    assert moves(), "how far a step is nobody knows"
    bridge.tell(PhaseChanged(round=SILO_ROUNDS + 1, phase="waiting"))
    assert moves()
    bridge.tell(Progressed(round=SILO_ROUNDS + 1, phase="generate", done=0, total=64))
    assert moves(), "none of it is done yet"
    bridge.tell(StateChanged(state="paused", reason="", why=Paused()))
    assert not hero._bar.isVisible()


def test_an_answer_of_the_round_in_hand_is_shown_as_it_was_marked(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, a_view(silo_curve()))
    card = home(window)._now
    bridge.tell(
        Answered(
            round=SILO_ROUNDS + 1,
            task="gcd/easy",
            question="<i>6, 4</i>",
            completion="x <answer>2</answer>",
            solved=True,
        )
    )
    home(window)._tick()
    assert (
        card._question.text() == "<i>6, 4</i>"
        and card._answer.text() == "2"
        and card._mark.text().startswith("Right · ")
    )


def test_an_aha_shows_both_answers_as_plain_text(qtbot: QtBot) -> None:
    view = a_view(swarm_curve(100), silo=False)
    aha = Aha(
        task="gcd/easy", round=90, tries=70, question="q", answer="<b>mine</b>", peer_round=80, peer="ab" * 32,
        peer_question="pq", peer_answer="<img src=x>",
    )  # fmt: skip
    window, _ = a_window(qtbot, view, {GetAhas: Ahas(items=[aha])})
    card = home(window)._milestones
    assert "First solved: Greatest common divisor, easy" in {one.text() for one in card.findChildren(Elided)}
    (button,) = card.findChildren(IconButton)
    button.click()
    sheet = card.findChild(Sheet)
    shown = {reading.accessibleName(): reading.toPlainText() for reading in sheet.findChildren(Reading)}
    assert shown["My answer"] == "<b>mine</b>" and shown["The peer's answer"] == "<img src=x>"
    sheet.reject()


def test_a_lost_worker_is_said_and_can_be_started_from_the_button(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, a_view(silo_curve()))
    bridge.tell(Lost(reason="Killed by the system"))
    page = home(window)
    assert page._hero._sentence.text() == "The node stopped: Killed by the system. It restarts automatically."
    assert page._banner.isVisible()
    page._hero._button.click()
    assert bridge.tries == 1


@pytest.mark.parametrize(
    ("mend", "button", "where"),
    [
        ("model", "Choose another model", "model"),
        ("pack", "Get the engine pack", "model"),
        ("settings", "Open the settings", "settings"),
    ],
)
def test_what_keeps_the_node_from_starting_is_a_click_away(qtbot: QtBot, mend: Mend, button: str, where: str) -> None:
    window, bridge = a_window(qtbot, a_view(silo_curve()))
    bridge.tell(Lost(reason="There is no model 'gone'", mend=mend))
    page = home(window)
    assert page._hero._sentence.text() == "The node cannot start: There is no model 'gone'."
    assert page._banner.button.isVisible() and page._banner.button.text() == button
    wanted: list[str] = []
    page.wanted.connect(wanted.append)
    page._banner.button.click()
    assert wanted == [where]


def test_a_hidden_window_draws_nothing(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    window, bridge = a_window(qtbot, a_view(silo_curve()))
    window.hide()
    page = home(window)
    drawn: list[object] = []
    monkeypatch.setattr(page, "refresh", drawn.append)
    bridge.tell(Progressed(round=SILO_ROUNDS + 1, phase="generate", done=3, total=9))
    assert drawn == [] and not page._clock.isActive()


INVITES = tuple(f"sapo://join?swarm={key * 32}&peer=wss://relay.example:8765" for key in ("ab", "cd"))


def open_ones(window: MainWindow) -> list[JoinSheet]:
    return [sheet for sheet in window.findChildren(JoinSheet) if sheet.isVisible()]


@pytest.mark.parametrize("by_hand", [False, True])
def test_an_invite_is_asked_about_and_not_followed_and_another_in_the_dialog_that_is_open(
    qtbot: QtBot, by_hand: bool
) -> None:
    window, bridge = a_window(qtbot, a_view())
    window.join_others("" if by_hand else INVITES[0])
    (sheet,) = open_ones(window)
    assert window.page.name == "peers" and sheet.link == ("" if by_hand else INVITES[0])
    assert sheet.ok.text() == "Join" and not bridge.asked_for(JoinSwarm)
    if by_hand:
        sheet._way.buttons["lan"].click()
    window.join_others(INVITES[1])
    assert open_ones(window) == [sheet]
    assert sheet.link == INVITES[1] and sheet._way.current == "address" and "cdcdcdcd" in all_texts(sheet)


def test_an_invite_that_comes_while_another_is_followed_waits_for_its_end(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, a_view())
    first, second = INVITES
    window.join_others(first)
    (sheet,) = open_ones(window)
    sheet.ok.click()
    window.join_others(second)
    assert open_ones(window) == [sheet] and sheet.link == first
    sheet.cancel.click()
    (after,) = open_ones(window)
    assert after is not sheet and after.link == second
    assert [one.link for one in bridge.asked_for(JoinSwarm)] == [first]


def test_closing_asks_whoever_has_the_tray(qtbot: QtBot) -> None:
    window, _ = a_window(qtbot, a_view())
    with qtbot.waitSignal(window.closing):
        window.close()
    assert window.isVisible()


# -- tray ----------------------------------------------------------------------------------------------------


@pytest.fixture
def a_tray(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the desktop has a tray; a test changes it."""
    there = [True]
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", staticmethod(lambda: there[0]))
    return there


TrayOf = Callable[[View], tuple[Tray, StageBridge]]


@pytest.fixture
def tray_of(qtbot: QtBot, a_tray: list[bool]) -> Iterator[TrayOf]:
    """Makes trays, and takes them away at the end."""
    made: list[Tray] = []

    def make(view: View) -> tuple[Tray, StageBridge]:
        bridge = StageBridge(view)
        made.append(Tray(view, bridge, Actions(view, bridge)))
        return made[-1], bridge

    yield make
    for tray in made:
        tray.close()


def entry(tray: Tray, text: str) -> QAction:
    menus = [tray._menu, tray._pauses]
    return next(action for menu in menus for action in menu.actions() if action.text() == text)


def test_the_tray_pauses_finishes_and_goes_silo(qtbot: QtBot, tray_of: TrayOf) -> None:
    tray, bridge = tray_of(a_view(silo_curve()))
    texts = ("15 minutes", "1 hour", "3 hours", "Until tomorrow", "Finish this round, then pause")
    for text in (*texts, "Finish this round, then quit"):
        entry(tray, text).trigger()
    entry(tray, "Silo: no network at all").trigger()
    paused = [request.seconds for request in bridge.asked_for(Pause)]
    assert paused[:3] == [900, 3600, 10800] and 0 < paused[3] <= 86400
    assert bridge.asked_for(Finish) and bridge.asked_for(SetSilo) == [SetSilo(on=False)]
    assert bridge.asked_for(Quit) == [Quit(finish_round=True)]


def test_the_tray_shows_each_state_and_its_reason(qtbot: QtBot, tray_of: TrayOf) -> None:
    tray, bridge = tray_of(a_view(silo_curve()))
    assert tray._face == "silo" and tray._icon is not None
    assert tray._icon.toolTip() == f"SAPO Desktop, in silo\nTraining round {SILO_ROUNDS + 1}, alone"
    bridge.tell(StateChanged(state="paused", reason="", why=Paused(until=NOW + 60), resume_at=NOW + 60))
    assert tray._face == "paused" and tray._icon.toolTip().endswith(", 1 min left")
    assert tray._clock.isActive(), "a countdown runs"
    bridge.tell(Lost(reason="Gone"))
    assert tray._face == "attention"


def test_a_tray_that_comes_late_or_again_gets_its_icon(qtbot: QtBot, tray_of: TrayOf, a_tray: list[bool]) -> None:
    a_tray[0] = False
    tray, _ = tray_of(a_view())
    assert not tray.there
    a_tray[0] = True
    tray.look()
    assert tray.there
    a_tray[0] = False
    with qtbot.waitSignal(tray.went):
        tray.look()
    assert not tray.there
    a_tray[0] = True
    tray.look()
    assert tray.there


@pytest.mark.parametrize(("platform", "opens"), [("linux", True), ("win32", True), ("darwin", False)])
def test_a_click_on_its_icon_opens_the_window_where_it_opens_no_menu(
    tray_of: TrayOf, monkeypatch: pytest.MonkeyPatch, platform: str, opens: bool
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    tray, _ = tray_of(a_view())
    wanted: list[bool] = []
    tray.open_wanted.connect(lambda: wanted.append(True))
    assert tray._icon is not None
    tray._icon.activated.emit(QSystemTrayIcon.ActivationReason.Trigger)
    assert bool(wanted) is opens


def test_a_refused_switch_shows_what_holds(qtbot: QtBot, tray_of: TrayOf) -> None:
    tray, bridge = tray_of(a_view(silo=False))
    bridge.replies[SetSilo] = UsageError("A remote server answers: that is no silo.")
    silo = entry(tray, "Silo: no network at all")
    with qtbot.waitSignal(bridge.trouble):
        silo.trigger()
    assert not silo.isChecked()


# -- the first run -------------------------------------------------------------------------------------------


@pytest.fixture
def idle(qapp: object) -> StageBridge:
    """To a node that has not begun."""
    bridge = StageBridge(a_view(state="idle"))
    bridge.replies[PreviewEnvelope] = EnvelopePreview(text='{"a": "<b>"}', bytes=742, signed=False, task="gcd/easy")
    return bridge


AT_WORK = StateChanged(state="working", reason="", why=Training(round=1))


@pytest.fixture
def wizard(qtbot: QtBot, idle: StageBridge) -> Wizard:
    wizard = Wizard(idle.view, idle)
    qtbot.addWidget(wizard)
    wizard.show()
    return wizard


def go_on(wizard: Wizard, steps: int) -> None:
    for _ in range(steps):
        wizard._go_on()


def test_the_first_run_by_keyboard_ends_with_a_node_at_work(qtbot: QtBot, wizard: Wizard, idle: StageBridge) -> None:
    for _ in range(3):
        qtbot.keyClick(wizard._next, Qt.Key.Key_Return)
    assert wizard._next.text() == "Start learning"
    ended: list[bool] = []
    wizard.finished_well.connect(ended.append)
    qtbot.keyClick(wizard._next, Qt.Key.Key_Return)
    assert idle.asked_for(StartRounds) and ended == [], "the window would say that nothing was begun"
    idle.tell(AT_WORK)
    idle.tell(AT_WORK)
    assert ended == [False]
    (asked,) = idle.asked_for(SetSettings)
    settings = asked.values
    assert asked.for_good and (settings["silo"], settings["share"], settings["threads"]) == ("on", "off", "0")


def test_who_closes_the_questions_after_the_order_has_answered_them(wizard: Wizard, idle: StageBridge) -> None:
    ended: list[str] = []
    wizard.finished_well.connect(lambda others: ended.append("well"))
    wizard.left.connect(lambda: ended.append("left"))
    go_on(wizard, 4)
    wizard.close()
    assert not wizard.isVisible() and not ended
    idle.tell(AT_WORK)
    assert ended == ["well"]


def test_an_order_that_is_refused_after_the_questions_were_closed_has_left_them(qtbot: QtBot) -> None:
    bridge = LateBridge(a_view(state="idle"), SetSettings)
    wizard = Wizard(bridge.view, bridge)
    qtbot.addWidget(wizard)
    wizard.show()
    go_on(wizard, 4)
    wizard.close()
    bridge.replies[SetSettings] = UsageError("The disk is full.")
    with qtbot.waitSignals([wizard.left, bridge.trouble]):
        bridge.deliver()


def test_what_leaves_is_shown_with_a_real_message(wizard: Wizard) -> None:
    wizard._go_on()
    message = wizard.step._message  # type: ignore[attr-defined]
    assert not message.reading.isVisible(), "first what it means, then the message"
    message.button.click()
    shown = message.reading.toPlainText()
    assert "742 B" in shown and '{"a": "<b>"}' in shown and "thrown away" in shown


def test_whom_to_join_is_asked_after_the_first_run_and_until_then_it_is_silo(
    qtbot: QtBot, wizard: Wizard, idle: StageBridge
) -> None:
    go_on(wizard, 3)
    wizard.step._swarm.click()  # type: ignore[attr-defined]
    assert wizard._next.text() == "Start, then join others"
    with qtbot.waitSignal(wizard.finished_well) as finished:
        wizard._go_on()
        idle.tell(AT_WORK)
    assert finished.args == [True]
    (asked,) = idle.asked_for(SetSettings)
    assert (asked.values["silo"], asked.values["share"]) == ("on", "off")


@pytest.mark.parametrize(
    ("link", "reason", "last"),
    [
        (Lost(reason="There is no model.", mend="model"), "There is no model", "The node cannot start"),
        (Lost(reason="It was killed."), "It was killed", "The node is not running"),
        (Ended(), "The node is switched off", "The node is not running"),
    ],
)
def test_why_there_is_no_node_stands_on_every_step_of_the_first_run(
    wizard: Wizard, idle: StageBridge, link: Lost | Ended, reason: str, last: str
) -> None:
    idle.tell(link)
    for _ in range(3):
        wizard._go_on()
        assert wizard._trouble.isVisible() and reason in wizard._trouble._text.text()
        assert wizard._trouble.button.isVisible()
    assert wizard._next.text() == last and not wizard._next.isEnabled()
    wizard._trouble.button.click()
    assert idle.tries == 1
    idle.tell(Connecting(again=True))
    assert wizard._next.text() == "The node is starting" and not wizard._trouble.isVisible()


def test_a_refusal_is_said_and_nothing_is_lost(wizard: Wizard, idle: StageBridge) -> None:
    idle.replies[SetSettings] = UsageError("The disk is full.")
    go_on(wizard, 4)
    assert wizard._trouble.isVisible() and wizard._next.isEnabled()
    assert not idle.asked_for(StartRounds)


def test_leaving_the_first_run_changes_nothing(qtbot: QtBot, wizard: Wizard, idle: StageBridge) -> None:
    with qtbot.waitSignal(wizard.left):
        qtbot.keyClick(wizard, Qt.Key.Key_Escape)
    assert not idle.asked_for(SetSettings)


def test_a_page_is_told_what_to_show_of_it(qtbot: QtBot) -> None:
    window, _ = a_window(qtbot, a_view(), {ListTasks: staged_try.tasks()})
    window.go("try/gcd")
    page = window.page
    assert isinstance(page, TryPage) and page._question._task._family.current == "gcd"


def test_the_focus_follows_to_another_page(qtbot: QtBot) -> None:
    window, _ = a_window(qtbot, a_view(silo_curve()))
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window._side._buttons["home"].setFocus()
    window.go("log")
    assert window._side._buttons["log"].hasFocus()
    window.page.setFocus()
    window.go("home")
    assert not window._side._buttons["home"].hasFocus(), "what somebody types elsewhere stays where it is"


# -- a desktop without a tray ----------------------------------------------------------------------------------


def test_a_window_that_was_put_away_is_seen_by_nobody_until_it_is_back(qtbot: QtBot) -> None:
    window, _ = a_window(qtbot, a_view())
    assert window.seen
    window.put_away()
    window.setWindowState(Qt.WindowState.WindowNoState)  # as Wayland has it: minimised, and nobody is told
    assert not window.seen
    window.present()
    assert window.seen


def test_where_it_goes_is_said_with_the_way_to_quit(qtbot: QtBot) -> None:
    window, _ = a_window(qtbot, a_view())
    sheet = AwaySheet(window)
    sheet.open()
    assert "no tray" in all_texts(sheet) and "Ctrl+Q quits" in all_texts(sheet)
    with qtbot.waitSignal(sheet.quit_wanted):
        sheet.quit_button.click()
    assert not sheet.isVisible()


def test_ctrl_q_quits(qtbot: QtBot) -> None:
    window, _ = a_window(qtbot, a_view())
    with qtbot.waitActive(window):
        window.activateWindow()
    with qtbot.waitSignal(window.quitting):
        qtbot.keyClick(window, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)


def test_what_a_notification_offered_is_done_only_while_it_still_means_that(qtbot: QtBot, tray_of: TrayOf) -> None:
    tray, bridge = tray_of(a_view(silo_curve()))
    tray._act("pause")
    assert bridge.asked_for(Pause)
    bridge.tell(StateChanged(state="paused", reason="", why=Paused(until=None)))
    with qtbot.waitSignal(tray.open_wanted):
        tray._act("pause")
    assert not bridge.asked_for(Resume)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere notifications come from the icon")
@pytest.mark.allowed_skip("elsewhere notifications come from the icon")
def test_where_there_is_no_tray_notifications_offer_what_its_menu_would(
    qtbot: QtBot, tray_of: TrayOf, a_tray: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: list[dict[str, str]] = []
    monkeypatch.setattr(notification, "show", lambda title, text, actions: offered.append(actions) or "quit")
    tray, _ = tray_of(a_view(silo_curve()))
    tray.tell("With a tray", "")
    qtbot.waitUntil(lambda: len(offered) == 1)
    assert offered.pop() == {"default": "Open SAPO Desktop", "pause": "Pause"}
    a_tray[0] = False
    tray.look()
    with qtbot.waitSignal(tray.quit_wanted):
        tray.tell("Without one", "")
    assert offered == [{"default": "Open SAPO Desktop", "pause": "Pause", "quit": "Quit"}]


def test_what_takes_long_to_change_shows_a_wait_cursor_first(qtbot: QtBot) -> None:
    seen: list[bool] = []
    Desktop._soon(QObject(QApplication.instance()), lambda: seen.append(QApplication.overrideCursor() is not None))  # type: ignore[arg-type]
    assert not seen and QApplication.overrideCursor() is not None
    qtbot.waitUntil(lambda: bool(seen))
    assert seen == [True] and QApplication.overrideCursor() is None


@pytest.mark.parametrize(
    ("page", "made"), [("log", ["log"]), ("", ["home"]), ("The worker is from another release", ["home"])]
)
def test_a_window_makes_the_page_that_it_begins_with_and_no_other(qtbot: QtBot, page: str, made: list[str]) -> None:
    view = a_view(silo=True)
    bridge = StageBridge(view)
    window = MainWindow(view, bridge, Actions(view, bridge), page)
    qtbot.addWidget(window)
    assert window.focusWidget() is window._side._buttons[made[0]]
    window.look_as({"page": page})
    assert list(window._pages) == made


def test_home_counts_the_peers_once(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, a_view(swarm_curve(40), silo=False))
    hero = home(window)._hero
    assert f"{hero._sentence.text()} {hero._phase.text()}".count("3 peers") == 1
    bridge.tell(StateChanged(state="paused", reason="", why=Paused(until=None)))
    assert f"{hero._sentence.text()} {hero._phase.text()}".count("3 peers") == 1


def test_a_round_that_is_pointed_at_stays_the_one_that_is_told_of(qtbot: QtBot) -> None:
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


def test_a_full_disk_is_one_line_at_the_side(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, a_view(silo_curve()))
    text = "The disk of history.sqlite is full: free some space, and it continues by itself. " * 5
    bridge.tell(StateChanged(state="paused", reason=text, why=NotKept(text=text)))
    assert window._side._state.text() == "Waiting for free space"
    assert text.strip() in home(window)._hero._sentence.text(), "Home has all of it"


def test_a_screen_reader_is_told_no_markup_and_pages_are_no_check_boxes(qtbot: QtBot) -> None:
    window, _ = a_window(qtbot, a_view(silo_curve()))
    for widget in window.findChildren(QWidget):
        told = QAccessible.queryAccessibleInterface(widget)
        for kind in (QAccessible.Text.Name, QAccessible.Text.Description):
            assert told is None or "<span" not in told.text(kind), widget
    roles = {QAccessible.queryAccessibleInterface(button).role() for button in window._side._buttons.values()}
    assert roles == {QAccessible.Role.RadioButton}


def test_what_hides_when_it_is_pressed_leaves_the_focus_next_to_it(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, a_view(silo_curve()))
    with qtbot.waitActive(window):
        window.activateWindow()
    hero = home(window)._hero
    hero._pauses.setFocus()
    assert QApplication.focusWidget() is hero._pauses
    bridge.tell(StateChanged(state="paused", reason="", why=Paused()))
    assert not hero._pauses.isVisible() and QApplication.focusWidget() is hero._button
    assert home(window).verticalScrollBar().value() == 0


@pytest.mark.parametrize("peers", ["", "wss://relay.example:8765"])
def test_leaving_silo_asks_whom_to_join_where_there_is_nobody(qtbot: QtBot, peers: str) -> None:
    window, bridge = a_window(qtbot, a_view(silo_curve(), peers=peers))
    window._side.silo.click()
    asks = [sheet for sheet in window.findChildren(Sheet) if sheet.isVisible()]
    assert bool(asks) == (not peers) and bridge.asked_for(SetSilo) == [SetSilo(on=False)] * bool(peers)
    assert window._side.silo.isChecked() or peers, "the switch shows what holds"
    for sheet in asks:
        sheet.reject()


def test_help_lists_the_licences_of_the_libraries(qtbot: QtBot) -> None:
    window, _ = a_window(qtbot, a_view(silo_curve()))
    window.help()
    press(window.findChild(HelpSheet), "Licences")
    said = all_texts(window.findChild(HelpSheet))
    assert "msgspec" in said and "BSD-3-Clause" in said


def test_help_says_what_each_page_is_and_leads_to_the_log(qtbot: QtBot) -> None:
    window, _ = a_window(qtbot, a_view(silo_curve()))
    said = set()
    for name in window._entries:
        window.go(name)
        window.help()
        sheet = window.findChildren(HelpSheet)[-1]
        words = what_it_is(name)
        assert words in all_texts(sheet) and __version__ in all_texts(sheet) and words.count(".") == 2
        said.add(words)
        sheet._go()
        assert window.page.name == "log"
    assert len(said) == len(window._entries)
