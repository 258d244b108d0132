"""Home in each state of the node: the button, the sentence, the bar, the cards."""

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.why import NotKept, Paused, Ready, Starting, Training
from sapo_desktop.gui.home.page import HomePage
from sapo_desktop.gui.shell.window import MainWindow
from sapo_desktop.gui.widgets.buttons import IconButton
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.layout import Figure
from sapo_desktop.gui.widgets.text import Elided, Reading
from sapo_desktop.view.link import Connecting, Lost, Remedy
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.events import (
    Answered,
    PhaseChanged,
    Progressed,
    StateChanged,
)
from sapo_desktop.worker.control.messages.replies import Aha, Ahas
from sapo_desktop.worker.control.messages.requests import (
    Finish,
    GetAhas,
    Pause,
    Resume,
    StartRounds,
)
from tests.gui.driving import a_window
from tests.gui.scenes import NOW, SILO_ROUNDS, a_view, silo_curve, swarm_curve


def home(window: MainWindow) -> HomePage:
    assert isinstance(window.page, HomePage)
    return window.page


def test_the_large_button_starts_pauses_and_goes_on(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, a_view(state="idle"))
    button = home(window)._hero._button
    assert button.text() == "Learn alone"
    button.click()
    bridge.tell(StateChanged(state="working", reason="", why=Training(round=1)))
    assert button.text() == "Pause"
    button.click()
    bridge.tell(StateChanged(state="paused", reason="", why=Paused()))
    assert button.text() == "Continue"
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
    assert not hero._pauses.isVisible(), "there is nothing to pause"
    bridge.tell(StateChanged(state="idle", reason="", why=Ready()))
    assert not hero._pauses.isVisible()


def test_the_bar_is_never_empty_while_something_happens(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, View(clock=lambda: NOW))
    hero = home(window)._hero
    unknown = lambda: hero._bar.isVisible() and hero._bar.maximum() == 0  # noqa: E731
    assert unknown(), "the node is started"
    view = a_view(silo_curve())
    window, bridge = a_window(qtbot, view)
    hero = home(window)._hero
    assert (hero._bar.value(), hero._bar.maximum()) == (37, 64)
    bridge.tell(PhaseChanged(round=SILO_ROUNDS + 1, phase="train"))
    assert unknown(), "how far a step is nobody knows"
    bridge.tell(PhaseChanged(round=SILO_ROUNDS + 1, phase="waiting"))
    assert unknown()
    bridge.tell(Progressed(round=SILO_ROUNDS + 1, phase="generate", done=0, total=64))
    assert unknown(), "none of it is done yet"
    bridge.tell(StateChanged(state="paused", reason="", why=Paused()))
    assert not hero._bar.isVisible()


def test_an_answer_of_the_current_round_is_shown_as_it_was_marked(qtbot: QtBot) -> None:
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
    ("remedy", "button", "where"),
    [
        ("model", "Choose another model", "model"),
        ("pack", "Get the engine pack", "model"),
        ("settings", "Open the settings", "settings"),
    ],
)
def test_the_remedy_of_a_failed_start_is_a_click_away(qtbot: QtBot, remedy: Remedy, button: str, where: str) -> None:
    window, bridge = a_window(qtbot, a_view(silo_curve()))
    bridge.tell(Lost(reason="There is no model 'gone'", remedy=remedy))
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


def test_home_counts_the_peers_once(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, a_view(swarm_curve(40), silo=False))
    hero = home(window)._hero
    assert f"{hero._sentence.text()} {hero._phase.text()}".count("3 peers") == 1
    bridge.tell(StateChanged(state="paused", reason="", why=Paused(until=None)))
    assert f"{hero._sentence.text()} {hero._phase.text()}".count("3 peers") == 1


def test_a_full_disk_is_one_line_at_the_side(qtbot: QtBot) -> None:
    window, bridge = a_window(qtbot, a_view(silo_curve()))
    text = "The disk of history.sqlite is full: free some space, and it continues by itself. " * 5
    bridge.tell(StateChanged(state="paused", reason=text, why=NotKept(text=text)))
    assert window._side._state.text() == "Waiting for free space"
    assert text.strip() in home(window)._hero._sentence.text(), "Home has all of it"


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
