"""The Learning page, driven as a person drives it: what it asks of the worker, shows, and does not let happen."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QLineEdit, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from sapo_desktop.core.errors import NotRunning, SapoError, UsageError
from sapo_desktop.core.why import Paused
from sapo_desktop.gui.learning import answers as learning_answers
from sapo_desktop.gui.learning.page import LearningPage
from sapo_desktop.gui.link.bridge import Answer, Failure
from sapo_desktop.gui.look import theme
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.widgets.table import Table
from sapo_desktop.view.viewmodel import ALL, View
from sapo_desktop.worker.control.messages.events import PhaseChanged, RoundFinished, StateChanged
from sapo_desktop.worker.control.messages.replies import SettingsAre
from sapo_desktop.worker.control.messages.requests import GetHistory, ListTasks, Request, SetSettings
from sapo_desktop.worker.control.messages.rollouts import (
    ExportRollouts,
    GetRefused,
    GetRollouts,
    Refused,
    RefusedGroup,
    Rollouts,
)
from tests.gui import staged_learning as staged
from tests.gui.scenes import a_view, silo_curve, swarm_curve
from tests.gui.stage import StageBridge

PARTS = ("rounds", "mix", "tasks", "answers")


@pytest.fixture(autouse=True)
def _nothing_left_over() -> Iterator[None]:
    """The widgets of a test go with it; without an event loop nothing else deletes them."""
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


class Later(StageBridge):
    """Answers when it is told to, as a busy worker does."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self._held: list[tuple[Request, Answer | None, Failure | None, QObject]] = []

    def ask(self, request: Request, then: Answer | None = None, failed: Failure | None = None, *, of: QObject) -> None:
        self._held.append((request, then, failed, of))

    def deliver(self) -> None:
        held, self._held = self._held, []
        for request, then, failed, of in held:
            super().ask(request, then, failed, of=of)


def a_page(
    qtbot: QtBot,
    view: View,
    stage: Callable[[StageBridge], None] = staged.stage,
    part: str = "rounds",
    bridge: StageBridge | None = None,
) -> LearningPage:
    """The page as a window shows it."""
    bridge = bridge or StageBridge(view)
    stage(bridge)
    page = LearningPage(view, bridge, Actions(view, bridge))  # type: ignore[arg-type]
    qtbot.addWidget(page)
    page.resize(960, 900)
    page.show()
    page.show_part(part)
    page.opened()
    page.refresh(ALL)
    bridge.changed.connect(page.refresh)
    return page


def in_swarm(**settings: Any) -> View:
    view = a_view(swarm_curve(), silo=False, share=True, **settings)
    view.reports.clear()
    view.take_history([staged.report(number) for number in range(861, 901)])
    return view


def bridge_of(page: LearningPage) -> StageBridge:
    assert isinstance(page.bridge, StageBridge)
    return page.bridge


def settings_asked(page: LearningPage) -> list[dict[str, str]]:
    return [request.values for request in bridge_of(page).asked_for(SetSettings)]


def hold(page: LearningPage, **settings: Any) -> None:
    """The worker took these."""
    held = msgspec.structs.replace(page.view.settings, **settings)
    page.view.take_settings(SettingsAre(settings=held, changed=[], overridden=[]))
    page.refresh(frozenset({"settings"}))


def cells(table: Table, column: int) -> list[str]:
    model = table.model()
    return [str(model.index(row, column).data()) for row in range(model.rowCount())]


# -- rounds --------------------------------------------------------------------------------------------------


def test_opening_asks_for_tasks_without_questions_and_for_the_newest_rounds(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm())
    assert bridge_of(page).asked_for(ListTasks)[0] == ListTasks(examples=False)
    assert bridge_of(page).asked_for(GetHistory)[0] == GetHistory(after=0, limit=1000)
    assert not bridge_of(page).asked_for(GetRollouts), "answers are read when one looks at them"


def test_the_round_in_hand_stands_above_the_mean(qtbot: QtBot) -> None:
    view = in_swarm()
    page = a_page(qtbot, view)
    view.take(PhaseChanged(round=901, phase="generate"))
    page.refresh(frozenset({"state"}))
    now, mean = page.rounds.round.bars.bars
    assert now.name == "Round 901, now" and mean.name.startswith("Mean of the last 20")
    assert mean.spent is not None and mean.spent.seconds["generate"] == pytest.approx(2.4, abs=0.3)
    view.take(StateChanged(state="paused", reason="", why=Paused()))
    page.refresh(frozenset({"state"}))
    assert page.rounds.round.bars.bars[0].name == "Round 900, the last one"


def test_a_window_that_begins_here_knows_the_last_rounds_too(qtbot: QtBot) -> None:
    view = a_view(swarm_curve(), silo=False)
    view.reports.clear()
    page = a_page(qtbot, view)
    assert len(view.reports) == 40
    assert page.rounds.round.bars.bars[1].name.startswith("Mean of the last 20")


def test_behind_the_bars_is_a_table(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm())
    page.rounds.round._as_table.setFocus()
    qtbot.keyClick(page.rounds.round._as_table, Qt.Key.Key_Space)
    assert page.rounds.round.table.isVisible() and not page.rounds.round.bars.isVisible()
    assert cells(page.rounds.round.table, 0)[:3] == ["Setting questions", "Answering", "Marking"]
    assert "2.4 s" in cells(page.rounds.round.table, 2)[1] or "2.3 s" in cells(page.rounds.round.table, 2)[1]


def test_a_phase_is_explained_where_one_points(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm())
    page.rounds.round.bars.pointed.emit("share")
    assert page.rounds.round._words.text().startswith("Sharing: ")


def test_progress_is_drawn_by_the_tick_and_not_by_each_event(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    page = a_page(qtbot, in_swarm())
    drawn: list[int] = []
    monkeypatch.setattr(page.rounds.round, "refresh", lambda: drawn.append(1))
    for _ in range(50):
        page.refresh(frozenset({"progress", "answers"}))
    assert not drawn
    page._draw_round()
    assert drawn == [1] and page._tick.interval() >= 250
    page.closed()
    assert not page._tick.isActive()


def test_answers_pass_by_as_they_are_marked(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm())
    for number in range(10):
        page.view.take(staged.answered(number))
    page._stale = True
    page._draw_round()
    assert len(page.rounds.now.table.rows) == 6
    assert page.rounds.now.table.rows[0].question == staged.answered(9).question


def test_a_new_node_says_what_will_stand_here(qtbot: QtBot) -> None:
    page = a_page(qtbot, a_view(state="idle"), staged.stage_nothing)
    assert page.rounds.round._empty.isVisible() and not page.rounds.round.bars.isVisible()
    page.show_part("answers")
    assert page.answers.kept._empty.title.text() == "No answers yet"
    page.answers.show_answers("refused")
    assert "In silo" in page.answers.refused._empty.about.text()


# -- mix and treatment ---------------------------------------------------------------------------------------


def test_keys_move_the_mix_and_it_is_set_when_they_rest(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="mix")
    slider = page.mix.mix.slider
    slider.setFocus()
    assert slider.stop == "4/4"
    qtbot.keyClick(slider, Qt.Key.Key_Left)
    qtbot.keyClick(slider, Qt.Key.Key_Left)
    assert slider.stop == "8/0" and not settings_asked(page), "not while it moves"
    assert page.mix.mix._meaning.text().startswith("Only own answers")
    assert page.mix.mix.picture.accessibleName() == "Of eight questions 8 with own answers, 0 with peers'"
    page.mix.mix.commit()
    assert settings_asked(page) == [{"mix": "8/0"}]


def test_a_drag_is_one_change(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="mix")
    slider = page.mix.mix.slider
    end = slider.rect().topRight()
    qtbot.mousePress(slider, Qt.MouseButton.LeftButton, pos=slider.rect().center())
    qtbot.mouseMove(slider, end)
    page.mix.mix.commit()
    assert not settings_asked(page), "it is still held"
    qtbot.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=end)
    page.mix.mix.commit()
    assert settings_asked(page) == [{"mix": slider.stop}]


def test_a_refused_mix_goes_back_and_says_why(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="mix")
    bridge_of(page).replies[SetSettings] = UsageError("The disk is full.")
    page.mix.mix.slider.setValue(3)
    page.mix.mix._settling.stop()
    page.mix.mix.commit()
    assert page.mix.mix.slider.stop == "4/4"
    assert page.mix.mix.banner.isVisible() and page.mix.mix.banner.accessibleName() == "The disk is full."


def test_adaptive_is_a_switch_and_says_what_is_played_now(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="mix")
    page.mix.mix.adaptive.click()
    assert settings_asked(page) == [{"mix": "adaptive"}]
    hold(page, mix="adaptive")
    assert page.mix.mix.adaptive.isChecked() and not page.mix.mix.slider.isEnabled()
    assert page.mix.mix._meaning.text() == "Now 2/6", "as the last round was played"
    page.mix.mix.adaptive.click()
    assert settings_asked(page)[-1] == {"mix": "2/6"}
    hold(page, mix="adaptive", validate_every=0)
    assert "4/4" in page.mix.mix._meaning.text()


def test_in_silo_there_is_nothing_to_choose_and_it_is_said_why(qtbot: QtBot) -> None:
    page = a_page(qtbot, a_view(silo_curve()), part="mix")
    assert page.mix.alone.isVisible()
    assert not page.mix.mix.slider.isEnabled() and not page.mix.mix.adaptive.isEnabled()
    assert not any(choice.isEnabled() for choice in page.mix.treatment.choices.values())
    hold(page, silo=False)
    assert page.mix.alone.isHidden() and page.mix.mix.slider.isEnabled()


def test_what_each_mix_did_here_is_counted(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="mix")
    assert cells(page.mix.mix.back.table, 0) == ["8/0", "6/2", "4/4", "2/6"]
    assert cells(page.mix.mix.back.table, 1) == ["120", "200", "400", "180"]
    assert page.mix.mix.back.words.text().startswith("In the newest 900 round")
    assert "no experiment" in page.mix.mix.back.words.text()
    assert cells(page.mix.treatment.back.table, 0)[0] == "Guarded"
    page.bridge.changed.disconnect(page.refresh)
    page.view.take(RoundFinished(report=staged.report(901)))
    page.refresh(frozenset({"rounds"}))
    assert cells(page.mix.mix.back.table, 1)[-1] == "181"


def test_one_can_look_further_back(qtbot: QtBot) -> None:
    page = a_page(qtbot, a_view(swarm_curve(2500), silo=False), part="mix")
    assert bridge_of(page).asked_for(GetHistory)[0].after == 1500
    assert page.mix.mix.back.words.text().startswith("In the newest 1000 round")
    page.mix.mix.back.further.click()
    assert bridge_of(page).asked_for(GetHistory)[-1] == GetHistory(after=500, limit=1000)
    assert page.mix.mix.back.words.text().startswith("In the newest 2000 round")
    page.mix.treatment.back.further.click()
    assert page.mix.mix.back.words.text().startswith("In the newest 2500 round")
    assert page.mix.mix.back.further.isHidden()


def test_a_treatment_is_chosen(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="mix")
    assert page.mix.treatment.choices["guarded"].radio.isChecked()
    assert not settings_asked(page), "showing what holds sets nothing"
    page.mix.treatment.choices["paper"].radio.click()
    assert settings_asked(page) == [{"treatment": "paper"}]
    bridge_of(page).replies[SetSettings] = NotRunning("The node is not running just now.")
    page.mix.treatment.choices["shaped"].radio.click()
    assert page.mix.treatment.choices["guarded"].radio.isChecked(), "as it still holds"
    assert page.mix.treatment.banner.isVisible()


# -- tasks ---------------------------------------------------------------------------------------------------


def test_every_family_has_a_row(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="tasks")
    assert len(page.tasks.table.rows) == 22
    assert cells(page.tasks.table, 0)[1] == "Basic arithmetic"
    assert page.tasks.pane.title.text() == "Grid rules in one dimension", "the first one is picked"
    moved = [text for text in cells(page.tasks.table, 3) if text == "up, 400"]
    assert len(moved) == 5


def test_a_family_is_switched_off_and_stays_so_until_it_holds(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="tasks")
    page.tasks.table.select(["gcd"])
    assert page.tasks.pane.title.text() == "Greatest common divisor"
    page.tasks.pane.switch.click()
    asked = settings_asked(page)[-1]["tasks"].split(",")
    assert "gcd" not in asked and len(asked) == 21
    assert not page.tasks.pane.switch.isChecked()
    assert page.tasks.waiting.isVisible(), "the worker takes it once the round in hand is done"
    page.refresh(frozenset({"settings"}))
    assert not page.tasks.pane.switch.isChecked()
    hold(page, tasks=",".join(asked))
    assert page.tasks.waiting.isHidden() and not page.tasks.pane.switch.isChecked()
    assert page.tasks.everything.isVisible()
    page.tasks.everything.click()
    assert settings_asked(page)[-1] == {"tasks": "all"}


def test_a_level_is_switched_on(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(tasks="gcd/easy,lcm"), part="tasks")
    page.tasks.table.select(["gcd"])
    levels = [line.switch for line in page.tasks.pane._lines]
    assert [switch.isChecked() for switch in levels] == [True, False, False]
    levels[2].setFocus()
    qtbot.keyClick(levels[2], Qt.Key.Key_Space)
    assert settings_asked(page) == [{"tasks": "gcd/easy,gcd/hard,lcm"}]


def test_the_last_task_cannot_be_switched_off(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(tasks="gcd/easy"), part="tasks")
    page.tasks.table.select(["gcd"])
    assert not page.tasks.pane.switch.isEnabled() and not page.tasks.pane._lines[0].switch.isEnabled()
    assert page.tasks.pane._lines[1].switch.isEnabled()
    assert page.tasks.pane._last.isVisible()


def test_a_refused_choice_of_tasks_goes_back(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="tasks")
    bridge_of(page).replies[SetSettings] = UsageError("No.")
    page.tasks.pane.switch.click()
    assert page.tasks.pane.switch.isChecked() and page.tasks.banner.isVisible()
    assert page.tasks.waiting.isHidden()


def test_another_choice_that_waits_is_told(qtbot: QtBot) -> None:
    view = in_swarm()
    view.take_settings(SettingsAre(settings=view.settings, changed=[], overridden=[], waiting=["tasks"]))
    page = a_page(qtbot, view, part="tasks")
    assert page.tasks.waiting.isVisible()


def test_the_curriculum_has_a_switch(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="tasks")
    page.tasks.curriculum.click()
    assert settings_asked(page) == [{"curriculum": "false"}]
    hold(page, curriculum=False)
    assert page.tasks._about.text().startswith("Off")


def test_trying_a_question_leads_to_its_page(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="tasks")
    with qtbot.waitSignal(page.wanted) as wanted:
        page.tasks.pane._try.click()
    assert wanted.args == ["try"]


def test_tasks_that_do_not_come_are_said(qtbot: QtBot) -> None:
    def broken(bridge: StageBridge) -> None:
        staged.stage(bridge)
        bridge.replies[ListTasks] = SapoError("The catalogue is broken.")

    page = a_page(qtbot, in_swarm(), broken, part="tasks")
    assert page.tasks.banner.accessibleName() == "The catalogue is broken."
    assert page.tasks._empty.title.text() == "The tasks could not be read"


# -- answers -------------------------------------------------------------------------------------------------


def test_answers_come_newest_first_page_by_page(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="answers")
    assert bridge_of(page).asked_for(GetRollouts) == [GetRollouts(limit=200, newest_first=True)]
    assert len(page.answers.kept.table.rows) == 200 and page.answers.kept.more.isVisible()
    page.answers.kept.more.click()
    assert bridge_of(page).asked_for(GetRollouts)[-1].before == page.answers.kept.table.rows[199].id
    assert len(page.answers.kept.table.rows) == 400
    bar = page.answers.kept.table.verticalScrollBar()
    bar.setValue(bar.maximum())
    assert len(page.answers.kept.table.rows) == 600, "the end of the list brings the next page"
    for _ in range(3):
        page.answers.kept.load_more()
    assert len(page.answers.kept.table.rows) == staged.KEPT and page.answers.kept.more.isHidden()


def test_a_page_more_leaves_the_picked_answer_alone(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="answers")
    picked = page.answers.kept.table.rows[7]
    page.answers.kept.table.select([picked.id])
    page.answers.kept.more.click()
    assert [one.id for one in page.answers.kept.table.selected()] == [picked.id]


def test_filters_are_the_workers(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="answers")
    page.answers.kept.verdict.show_choice("wrong")
    page.answers.kept.verdict.chosen.emit("wrong")
    page.answers.kept.task.show_choice("gcd")
    page.answers.kept.search.setText(" divisor ")
    qtbot.keyClick(page.answers.kept.search, Qt.Key.Key_Return)
    last = bridge_of(page).asked_for(GetRollouts)[-1]
    assert (last.task, last.verdict, last.search, last.before) == ("gcd", "wrong", "divisor", None)
    assert page.answers.kept.table.rows and all(one.verdict == "wrong" for one in page.answers.kept.table.rows)
    page.answers.kept.search.setText("nowhere to be found")
    page.answers.kept.load()
    assert page.answers.kept._empty.title.text() == "None passes the filters"
    assert not page.answers.kept.export.isEnabled()


def test_typing_asks_once(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="answers")
    before = len(bridge_of(page).asked_for(GetRollouts))
    qtbot.keyClicks(page.answers.kept.search, "greatest")
    qtbot.waitUntil(lambda: len(bridge_of(page).asked_for(GetRollouts)) > before, timeout=5000)
    assert len(bridge_of(page).asked_for(GetRollouts)) == before + 1


def test_an_own_answer_is_open_and_a_peers_is_folded(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="answers")
    own = next(one for one in page.answers.kept.table.rows if not one.author)
    theirs = next(one for one in page.answers.kept.table.rows if one.author)
    page.answers.kept.table.select([own.id])
    assert page.answers.kept.pane.answer.reading.toPlainText() == own.completion
    page.answers.kept.table.select([theirs.id])
    assert not page.answers.kept.pane.answer.is_open and page.answers.kept.pane.answer.reading.toPlainText() == ""
    row = [one.id for one in page.answers.kept.table.rows].index(theirs.id)
    assert theirs.completion[:10] not in cells(page.answers.kept.table, 4)[row], "nor does the list show it"
    button = page.answers.kept.pane.answer.button
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Space)
    assert page.answers.kept.pane.answer.reading.toPlainText() == theirs.completion
    page.answers.kept.table.select([own.id])
    page.answers.kept.table.select([theirs.id])
    assert not page.answers.kept.pane.answer.is_open, "folded again"


def test_new_rounds_are_offered_and_do_not_push_what_one_reads(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="answers")
    assert page.answers.kept.fresh.isHidden()
    before = len(bridge_of(page).asked_for(GetRollouts))
    bridge_of(page).tell(RoundFinished(report=staged.report(901)))
    assert page.answers.kept.fresh.isVisible() and len(bridge_of(page).asked_for(GetRollouts)) == before
    page.answers.kept.fresh.click()
    assert len(bridge_of(page).asked_for(GetRollouts)) == before + 1 and page.answers.kept.fresh.isHidden()


def test_answers_that_do_not_come_can_be_asked_for_again(qtbot: QtBot) -> None:
    def broken(bridge: StageBridge) -> None:
        staged.stage(bridge)
        bridge.replies[GetRollouts] = NotRunning("The node is not running just now.")

    page = a_page(qtbot, in_swarm(), broken, part="answers")
    assert page.answers.kept.banner.isVisible() and page.answers.kept._empty.title.text() == "Nothing to show"
    staged.stage(bridge_of(page))
    page.answers.kept.banner.button.click()
    assert page.answers.kept.banner.isHidden() and len(page.answers.kept.table.rows) == 200


def test_ten_thousand_answers_are_no_trouble(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="answers")
    many = [staged.rollout(number) for number in range(10_000, 0, -1)]
    bridge_of(page).replies[GetRollouts] = Rollouts(items=many, more=True)
    page.answers.kept.load()
    assert len(page.answers.kept.table.rows) == 10_000
    assert page.answers.kept.more.isHidden(), "further back the filters and the export reach"


def test_a_reply_after_the_page_was_closed_does_no_harm(qtbot: QtBot) -> None:
    view = in_swarm()
    bridge = Later(view)
    page = a_page(qtbot, view, part="answers", bridge=bridge)
    page.closed()
    bridge.deliver()
    assert len(page.answers.kept.table.rows) == 200
    page.opened()
    page.show_part("tasks")
    assert len(page.tasks.table.rows) == 22


# -- export --------------------------------------------------------------------------------------------------


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """What the user takes in the file dialog; empty where he goes back."""

    def choose(path: str) -> None:
        monkeypatch.setattr(learning_answers, "ask_save_path", lambda *_: path)

    return choose


def test_an_export_says_where_it_went(qtbot: QtBot, tmp_path: Path, chosen: Callable[[str], None]) -> None:
    page = a_page(qtbot, in_swarm(), part="answers")
    page.answers.kept.origin.show_choice("peer")
    page.answers.kept.load()
    to = str(tmp_path / "mine.jsonl")
    chosen(to)
    with qtbot.waitSignal(page.bridge.said) as said:
        page.answers.kept.export.click()
    assert said.args == [f"Exported to {to}"]
    assert bridge_of(page).asked_for(ExportRollouts) == [ExportRollouts(origin="peer", to=to, replace=False)]


def test_a_file_is_replaced_only_where_the_dialog_asked(
    qtbot: QtBot, tmp_path: Path, chosen: Callable[[str], None]
) -> None:
    page = a_page(qtbot, in_swarm(), part="answers")
    there = tmp_path / "there.jsonl"
    there.write_text("mine")
    chosen(str(there))
    page.answers.kept.export.click()
    assert bridge_of(page).asked_for(ExportRollouts)[-1].replace is True


def test_going_back_exports_nothing_and_a_failure_is_said(
    qtbot: QtBot, tmp_path: Path, chosen: Callable[[str], None]
) -> None:
    page = a_page(qtbot, in_swarm(), part="answers")
    chosen("")
    page.answers.kept.export.click()
    assert not bridge_of(page).asked_for(ExportRollouts)
    chosen(str(tmp_path / "x.jsonl"))
    bridge_of(page).replies[ExportRollouts] = SapoError("No space left on device.")
    with qtbot.waitSignal(page.bridge.trouble) as trouble:
        page.answers.kept.export.click()
    assert trouble.args == ["Nothing was exported: No space left on device."]
    assert page.answers.kept.export.isEnabled() and page.answers.kept.export.text() == "Export"


# -- refused -------------------------------------------------------------------------------------------------


def test_refused_groups_are_explained(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="answers")
    assert not bridge_of(page).asked_for(GetRefused)
    page.answers.which._buttons["refused"].click()
    assert len(page.answers.refused.table.rows) == 40
    one = next(group for group in page.answers.refused.table.rows if group.reason == "other_question")
    page.answers.refused.table.select([(one.time, one.author, one.task, one.reason)])
    pane = page.answers.refused.pane
    assert pane.title.text() == "Another question here" and "another version" in pane.words.text()
    assert "nobody is blamed" in pane._kind.text()
    assert not pane.answers.is_open
    pane.answers.button.click()
    assert pane.answers.reading.toPlainText().startswith("<answer>")


def test_refused_groups_that_do_not_come_can_be_asked_for_again(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(), part="answers")
    bridge_of(page).replies[GetRefused] = SapoError("Not now.")
    page.answers.show_answers("refused")
    assert page.answers.refused.banner.isVisible()
    bridge_of(page).replies[GetRefused] = staged.refused()
    page.answers.refused.banner.button.click()
    assert page.answers.refused.banner.isHidden() and page.answers.refused.table.rows


# -- for everyone --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", PARTS)
def test_a_page_without_a_node_stands(qtbot: QtBot, part: str) -> None:
    page = a_page(qtbot, View(), lambda bridge: None, part=part)
    assert not bridge_of(page).asked_for(SetSettings)
    page.show_part("mix")
    page.show_part("tasks")
    assert not page.mix.mix.slider.isEnabled() and not page.tasks.curriculum.isEnabled()


@pytest.mark.parametrize("part", PARTS)
def test_everything_is_reached_by_tab_and_has_a_name(qtbot: QtBot, part: str) -> None:
    page = a_page(qtbot, in_swarm(), part=part)
    wanted = {one for one in _operated(page) if one.isEnabled()}
    assert all(one.accessibleName() or getattr(one, "text", str)() for one in wanted)
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    page.tabs._buttons[part].setFocus()
    reached: set[QWidget] = set()
    for _ in range(80):
        now = QApplication.focusWidget()
        if now is not None:
            reached.add(now)
        page.focusNextChild()
    # Of several that exclude each other Tab reaches one, arrow keys the others.
    missed = {one for one in wanted - reached if not _in_a_group(one)}
    assert not missed


def _operated(page: LearningPage) -> list[QWidget]:
    kinds = (QAbstractButton, QLineEdit, QComboBox, QPlainTextEdit, Table)
    return [
        one
        for kind in kinds
        for one in page.findChildren(kind)
        if one.isVisible() and one.focusPolicy() != Qt.FocusPolicy.NoFocus and one.objectName() != "qt_spinbox_lineedit"
    ]


def _in_a_group(one: QWidget) -> bool:
    return isinstance(one, QAbstractButton) and one.group() is not None


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(("width", "percent"), [(676, 100), (900, 100), (572, 200)])
def test_nothing_is_wider_than_the_page(qtbot: QtBot, part: str, width: int, percent: int) -> None:
    """As in windows of 900 and 1180 pixels, without the list of pages at the left."""
    theme.wear(theme.LIGHT, percent)
    try:
        page = a_page(qtbot, in_swarm(), part=part)
        page.resize(width, 600)
        assert page.widget().minimumSizeHint().width() <= page.viewport().width()
    finally:
        theme.wear(theme.LIGHT)


HOSTILE = (
    "<b>bold</b><img src='file:///etc/passwd'> & <a href='x'>link</a>",
    "\x1b[31mred\x1b[0m \x07 \u202edesrever\u202c \u2066isolated\u2069 a\u0301\u0301\u0301\u0301\u0301\u0301\u0301",
    "line " * 13_000,
    "one\ntwo\r\nthree\u2028four",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_strangers_texts_stay_text(qtbot: QtBot, text: str) -> None:
    def hostile(bridge: StageBridge) -> None:
        staged.stage(bridge)
        one = msgspec.structs.replace(
            staged.rollout(5), task=text, question=text, completion=text, author=text, verdict=text, origin=text
        )
        bridge.replies[GetRollouts] = Rollouts(items=[one], more=False)
        group = RefusedGroup(
            reason=text, kind=text, author=text, task=text, round=1, time=0.0, answers=[text, text]
        )  # fmt: skip
        bridge.replies[GetRefused] = Refused(items=[group])

    view = in_swarm()
    page = a_page(qtbot, view, hostile, part="answers")
    page.answers.kept.pane.answer.button.click()
    _stays_text(page)
    page.answers.show_answers("refused")
    page.answers.refused.pane.answers.button.click()
    _stays_text(page)
    view.take(msgspec.structs.replace(staged.answered(1), task=text, question=text, completion=text))
    page.show_part("rounds")
    _stays_text(page)


def _stays_text(page: LearningPage) -> None:
    shown: list[str] = []
    for label in page.findChildren(QLabel):
        assert label.textFormat() is Qt.TextFormat.PlainText or not label.text()
        shown.append(label.text())
    shown += [edit.toPlainText() for edit in page.findChildren(QPlainTextEdit)]
    shown += [button.text() for button in page.findChildren(QAbstractButton)]
    for table in page.findChildren(Table):
        for column in range(table.model().columnCount()):
            shown += cells(table, column)
    for widget in page.findChildren(QWidget):
        shown += [widget.accessibleName(), widget.accessibleDescription()]
        assert "<img" not in widget.toolTip() and "<b>" not in widget.toolTip()
    for one in shown:
        assert not any(unicodedata.category(sign) in ("Cc", "Cf") for sign in one if sign != "\n")
