"""From the link's thread to the window's: in order, together, and never to a deleted object."""

import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from sapo_desktop.core.errors import UsageError
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.events import PhaseChanged, Progressed
from sapo_desktop.worker.control.messages.replies import History
from sapo_desktop.worker.control.messages.requests import GetHistory, Pause
from tests.gui.scenes import NOW, SILO_ROUNDS, a_view, reports, silo_curve


class NoLink:
    """A link whose answers a test gives."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []
        self.asked: list[object] = []

    def call(self, request: object) -> Future[Any]:
        self.asked.append(request)
        self.futures.append(Future())
        return self.futures[-1]


@pytest.fixture
def bridge(qtbot: QtBot, tmp_path: Path) -> Bridge:
    made = Bridge(tmp_path, a_view())
    made._link = NoLink()  # type: ignore[assignment]
    return made


def elsewhere(call: Any, *arguments: Any) -> None:
    thread = threading.Thread(target=call, args=arguments)
    thread.start()
    thread.join()


def test_what_piles_up_is_reported_once_and_in_order(qtbot: QtBot, bridge: Bridge) -> None:
    heard: list[frozenset[str]] = []
    bridge.changed.connect(heard.append)

    def deliver() -> None:
        for at in range(500):
            bridge._deliver(Progressed(round=1, phase="generate", done=at, total=500))
        bridge._deliver(PhaseChanged(round=1, phase="mark"))

    elsewhere(deliver)
    qtbot.waitUntil(lambda: bridge.view.phase == "mark")
    assert heard == [frozenset({"progress"})]


def test_a_node_that_the_window_meets_is_asked_for_its_history(qtbot: QtBot, bridge: Bridge) -> None:
    link = bridge.link
    assert isinstance(link, NoLink)
    elsewhere(bridge._deliver, a_view(silo_curve()).link)
    qtbot.waitUntil(lambda: bool(link.asked))
    assert link.asked == [GetHistory(after=max(0, SILO_ROUNDS - 60))] and not bridge.view.reports
    with qtbot.waitSignal(bridge.changed) as changed:
        elsewhere(link.futures[0].set_result, History(rounds=reports(SILO_ROUNDS, silo=True), more=False))
    assert changed.args == [frozenset({"rounds"})] and bridge.view.reports[-1].round == SILO_ROUNDS


def test_an_answer_comes_back_in_the_windows_thread(qtbot: QtBot, bridge: Bridge) -> None:
    seen: list[tuple[object, int]] = []
    bridge.ask(Pause(), lambda reply: seen.append((reply, threading.get_ident())), of=bridge)
    elsewhere(bridge.link.futures[0].set_result, Ok(text="Paused."))  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: bool(seen))
    assert seen == [(Ok(text="Paused."), threading.get_ident())]


def test_nobody_is_called_back_who_is_gone(qtbot: QtBot, bridge: Bridge) -> None:
    asker = QObject()
    called: list[object] = []
    bridge.ask(Pause(), called.append, called.append, of=asker)
    shiboken6.delete(asker)
    elsewhere(bridge.link.futures[0].set_result, Ok())  # type: ignore[attr-defined]
    qtbot.wait(80)
    assert called == []


def test_without_somebody_to_tell_a_reply_is_said_and_an_error_too(qtbot: QtBot, bridge: Bridge) -> None:
    bridge.ask(Pause(), of=bridge)
    with qtbot.waitSignal(bridge.said) as said:
        elsewhere(bridge.link.futures[0].set_result, Ok(text="Saved."))  # type: ignore[attr-defined]
    bridge.ask(Pause(), of=bridge)
    with qtbot.waitSignal(bridge.trouble) as trouble:
        elsewhere(bridge.link.futures[1].set_exception, UsageError("Not now."))  # type: ignore[attr-defined]
    assert (said.args, trouble.args) == (["Saved."], ["Not now."])


def test_a_cancelled_call_calls_nobody(qtbot: QtBot, bridge: Bridge) -> None:
    called: list[object] = []
    call = bridge.ask(Pause(), called.append, called.append, of=bridge)
    call.cancel()
    qtbot.wait(80)
    assert called == [] and call.done()


def test_a_view_without_a_node_is_not_asked_about_its_swarm(qtbot: QtBot, tmp_path: Path) -> None:
    bridge = Bridge(tmp_path, View(clock=lambda: NOW))
    bridge.look_at_swarm()
    assert bridge._link is None
