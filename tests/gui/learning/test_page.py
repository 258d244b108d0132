"""The Learning page, driven as a person drives it: what it asks of the worker, shows, and does not let happen."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from pytestqt.qtbot import QtBot

from sapo_desktop.core.errors import NotRunning, SapoError, UsageError
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import Paused
from sapo_desktop.gui.learning import answers as learning_answers
from sapo_desktop.gui.learning.page import LearningPage
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.widgets.table import Table
from sapo_desktop.gui.words import numbers
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.events import PhaseChanged, RoundFinished, StateChanged
from sapo_desktop.worker.control.messages.replies import SettingsAre
from sapo_desktop.worker.control.messages.requests import ListTasks, SetSettings
from sapo_desktop.worker.control.messages.rollouts import ExportRollouts, GetRollouts, Rollouts
from tests.gui import staged_learning as staged
from tests.gui.driving import cells, shown
from tests.gui.late import LateBridge
from tests.gui.scenes import a_view, report, silo_curve, swarm_curve
from tests.gui.stage import StageBridge


@pytest.fixture(autouse=True)
def _nothing_left_over() -> Iterator[None]:
    """The widgets of a test go with it; without an event loop nothing else deletes them."""
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def a_page(
    qtbot: QtBot, bridge: StageBridge, part: str = "rounds", stage: Callable[[StageBridge], None] = staged.stage
) -> LearningPage:
    """The page as a window shows it."""
    stage(bridge)
    page = LearningPage(bridge.view, bridge, Actions(bridge.view, bridge))  # type: ignore[arg-type]
    page.show_part(part)
    return shown(qtbot, page, 960, 900)


def column(table: Table, at: int) -> list[str]:
    return [row[at] for row in cells(table)]


def in_swarm(**settings: Any) -> StageBridge:
    return StageBridge(a_view(swarm_curve(), silo=False, share=True, **settings))


def bridge_of(page: LearningPage) -> StageBridge:
    assert isinstance(page.bridge, StageBridge)
    return page.bridge


def settings_asked(page: LearningPage) -> list[dict[str, str]]:
    return [request.values for request in bridge_of(page).asked_for(SetSettings)]


def hold(page: LearningPage, *waiting: str, wanted: Settings | None = None, **settings: Any) -> None:
    """The worker took these; those that wait hold once the current round is done."""
    held = msgspec.structs.replace(page.view.settings, **settings)
    page.view.take_settings(SettingsAre(settings=held, changed=[], overridden=[], waiting=list(waiting), wanted=wanted))
    page.refresh(frozenset({"settings"}))


def await_round(page: LearningPage, tasks: str) -> None:
    """The worker keeps this choice, and takes it up once the current round is done."""
    hold(page, "tasks", wanted=msgspec.structs.replace(page.view.settings, tasks=tasks))


# -- rounds --------------------------------------------------------------------------------------------------


@pytest.fixture
def page(qtbot: QtBot) -> LearningPage:
    return a_page(qtbot, in_swarm())


@pytest.fixture
def tasks(page: LearningPage) -> Any:
    page.show_part("tasks")
    return page.tasks


@pytest.fixture
def answers(page: LearningPage) -> Any:
    page.show_part("answers")
    return page.answers


def test_opening_asks_for_tasks_without_questions_and_for_nothing_else(page: LearningPage) -> None:
    assert {*map(type, bridge_of(page).asked)} == {ListTasks}, "answers are read when one looks at them"
    assert bridge_of(page).asked[0] == ListTasks(examples=False)


def test_the_current_round_stands_above_the_mean(page: LearningPage) -> None:
    round_ = page.rounds.round
    bridge_of(page).tell(PhaseChanged(round=901, phase="generate"))
    assert round_.now.name.text() == "Round 901, now" and round_.mean.name.text().startswith("Mean of the last 20")
    assert round_._words.isVisible()
    bridge_of(page).tell(StateChanged(state="paused", reason="", why=Paused()))
    assert round_.now.name.text() == "Round 900, the latest" and not round_._words.isVisible()


def test_a_bar_and_its_legend_say_the_numbers_in_words(page: LearningPage) -> None:
    round_ = page.rounds.round
    assert "Answering 0.9 s" in round_.mean._bar.accessibleName()
    assert round_._cells["generate"].accessibleName().startswith("Answering: 0.9 s ")


def test_progress_is_drawn_by_the_tick_alone(page: LearningPage, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    monkeypatch.setattr(page.rounds.round, "refresh", lambda: drawn.append(1))
    for _ in range(50):
        page.refresh(frozenset({"progress", "answers"}))
    assert not drawn
    page._draw_round()
    assert drawn == [1] and page._tick.interval() >= 250
    page.closed()
    assert not page._tick.isActive()


def test_answers_pass_by_as_they_are_marked(page: LearningPage) -> None:
    for number in range(10):
        page.view.take(staged.answered(number))
    page._stale = True
    page._draw_round()
    assert len(page.rounds.now.table.rows) == 6
    assert page.rounds.now.table.rows[0].question == staged.answered(9).question


def test_a_new_node_says_what_will_stand_here(qtbot: QtBot) -> None:
    page = a_page(qtbot, StageBridge(a_view(state="idle")), stage=staged.stage_nothing)
    assert page.rounds.round._empty.isVisible() and not page.rounds.round.now.isVisible()
    page.show_part("answers")
    assert page.answers._empty.title.text() == "No answers yet"


# -- mix and weighting ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "value"), [("mix", "8/0"), ("weighting", "paper")])
def test_a_choice_is_set_and_one_that_is_refused_goes_back(qtbot: QtBot, key: str, value: str) -> None:
    page = a_page(qtbot, in_swarm(), "mix")
    assert not settings_asked(page), "showing what holds sets nothing"
    part = page.mix
    choose = part.mix.buttons[value] if key == "mix" else part.weightings[value].radio
    before = part.mix.buttons["4/4"] if key == "mix" else part.weightings["guarded"].radio
    choose.click()
    assert settings_asked(page) == [{key: value}] and choose.isChecked()
    part.refresh()
    bridge_of(page).replies[SetSettings] = UsageError("The disk is full.")
    choose.click()
    assert before.isChecked() and part.banner.isVisible() and part.banner.accessibleName() == "The disk is full."


def test_in_silo_there_is_nothing_to_choose_and_it_is_said_why(qtbot: QtBot) -> None:
    page = a_page(qtbot, StageBridge(a_view(silo_curve())), "mix")
    assert page.mix.alone.isVisible() and not page.mix.mix.isEnabled()
    assert not any(choice.isEnabled() for choice in page.mix.weightings.values())
    hold(page, silo=False)
    assert page.mix.alone.isHidden() and page.mix.mix.isEnabled()


# -- tasks ---------------------------------------------------------------------------------------------------


def test_every_family_has_a_row(page: LearningPage, tasks: Any) -> None:
    assert len(tasks.table.rows) == 22
    assert column(tasks.table, 0)[1] == "Basic arithmetic"
    assert tasks.pane.title.text() == "Grid rules in one dimension", "the first one is picked"


def test_a_family_is_switched_off_and_stays_so_until_it_holds(page: LearningPage, tasks: Any) -> None:
    tasks.table.select(["gcd"])
    assert tasks.pane.title.text() == "Greatest common divisor"
    tasks.pane.switch.click()
    asked = settings_asked(page)[-1]["tasks"].split(",")
    assert "gcd" not in asked and len(asked) == 21
    await_round(page, ",".join(asked))
    assert not tasks.pane.switch.isChecked() and tasks.waiting.isVisible()
    hold(page, tasks=",".join(asked))
    assert tasks.waiting.isHidden() and not tasks.pane.switch.isChecked()
    assert tasks.everything.isVisible()
    tasks.everything.click()
    assert settings_asked(page)[-1] == {"tasks": "all"}


def test_a_choice_that_waited_and_was_taken_back_elsewhere_is_gone(page: LearningPage, tasks: Any) -> None:
    tasks.table.select(["gcd"])
    tasks.pane.switch.click()
    await_round(page, settings_asked(page)[-1]["tasks"])
    hold(page)
    assert tasks.pane.switch.isChecked() and tasks.waiting.isHidden()


def test_a_second_switch_keeps_the_first_that_is_under_way(qtbot: QtBot) -> None:
    bridge = LateBridge(in_swarm().view, SetSettings)
    page = a_page(qtbot, bridge, "tasks")
    for family in ("gcd", "lcm"):
        page.tasks.table.select([family])
        page.tasks.pane.switch.click()
    first, both = (values["tasks"].split(",") for values in settings_asked(page))
    assert "gcd" not in first and not {"gcd", "lcm"} & {*both}
    hold(page, tasks=",".join(first))
    assert not page.tasks.pane.switch.isChecked(), "the second one is still under way"
    bridge.deliver()
    hold(page)
    assert page.tasks.pane.switch.isChecked(), "what the node says counts again"


def test_levels_that_were_never_asked_are_no_row_of_dashes(page: LearningPage, tasks: Any) -> None:
    shares = [row[3] for row in cells(tasks.table)]
    assert all(share == numbers.NOTHING or not share.endswith(numbers.NOTHING) for share in shares)
    assert any(" · " in share for share in shares)


def test_a_level_is_switched_on(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(tasks="gcd/easy,lcm"), "tasks")
    page.tasks.table.select(["gcd"])
    levels = [line.switch for line in page.tasks.pane._lines]
    assert [switch.isChecked() for switch in levels] == [False, True, False, False], "first, easy, middle, hard"
    levels[3].setFocus()
    qtbot.keyClick(levels[3], Qt.Key.Key_Space)
    assert settings_asked(page) == [{"tasks": "gcd/easy,gcd/hard,lcm"}]


def test_the_last_task_cannot_be_switched_off(qtbot: QtBot) -> None:
    page = a_page(qtbot, in_swarm(tasks="gcd/first"), "tasks")
    page.tasks.table.select(["gcd"])
    assert not page.tasks.pane.switch.isEnabled() and not page.tasks.pane._lines[0].switch.isEnabled()
    assert page.tasks.pane._lines[1].switch.isEnabled()
    assert page.tasks.pane._last.isVisible()


def test_a_refused_choice_of_tasks_goes_back(page: LearningPage, tasks: Any) -> None:
    bridge_of(page).replies[SetSettings] = UsageError("No.")
    tasks.pane.switch.click()
    assert tasks.pane.switch.isChecked() and tasks.banner.isVisible()
    assert tasks.waiting.isHidden()


def test_the_curriculum_has_a_switch(page: LearningPage, tasks: Any) -> None:
    tasks.curriculum.click()
    assert settings_asked(page) == [{"curriculum": "false"}]
    hold(page, curriculum=False)
    assert tasks._about.text().startswith("Off")


def test_trying_a_question_leads_to_its_page(qtbot: QtBot, page: LearningPage, tasks: Any) -> None:
    tasks.table.select(["gcd"])
    with qtbot.waitSignal(page.wanted) as wanted:
        tasks.pane._try.click()
    assert wanted.args == ["try/gcd"]


def test_tasks_that_do_not_come_are_said(qtbot: QtBot) -> None:
    bridge = in_swarm()
    bridge.replies[ListTasks] = SapoError("The catalogue is broken.")
    page = a_page(qtbot, bridge, "tasks", lambda bridge: None)
    assert page.tasks.banner.accessibleName() == "The catalogue is broken."
    assert page.tasks._empty.title.text() == "The tasks could not be read"


# -- answers -------------------------------------------------------------------------------------------------


def test_answers_come_newest_first_page_by_page(qtbot: QtBot, page: LearningPage, answers: Any) -> None:
    assert bridge_of(page).asked_for(GetRollouts) == [GetRollouts(limit=200, newest_first=True)]
    assert len(answers.table.rows) == 200 and answers.more.isVisible()
    answers.more.click()
    assert bridge_of(page).asked_for(GetRollouts)[-1].before == answers.table.rows[199].id
    assert len(answers.table.rows) == 400
    bar = answers.table.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 200)  # its end is that of the second page once that is laid out
    bar.setValue(bar.maximum())
    assert len(answers.table.rows) == 600, "the end of the list brings the next page"
    for _ in range(3):
        answers.load_more()
    assert len(answers.table.rows) == staged.KEPT and answers.more.isHidden()


def test_a_page_more_leaves_the_picked_answer_alone(page: LearningPage, answers: Any) -> None:
    picked = answers.table.rows[7]
    answers.table.select([picked.id])
    answers.more.click()
    assert [one.id for one in answers.table.selected()] == [picked.id]


def test_filters_are_the_workers(qtbot: QtBot, page: LearningPage, answers: Any) -> None:
    answers.verdict.show_choice("wrong")
    answers.verdict.chosen.emit("wrong")
    answers.task.show_choice("gcd")
    answers.search.setText(" divisor ")
    qtbot.keyClick(answers.search, Qt.Key.Key_Return)
    last = bridge_of(page).asked_for(GetRollouts)[-1]
    assert (last.task, last.verdict, last.search, last.before) == ("gcd", "wrong", "divisor", None)
    assert answers.table.rows and all(one.verdict == "wrong" for one in answers.table.rows)
    answers.search.setText("nowhere to be found")
    answers.load()
    assert answers._empty.title.text() == "No answer matches the filters"
    assert not answers.export.isEnabled()


def test_typing_asks_once(qtbot: QtBot, page: LearningPage, answers: Any) -> None:
    before = len(bridge_of(page).asked_for(GetRollouts))
    qtbot.keyClicks(answers.search, "greatest")
    qtbot.waitUntil(lambda: len(bridge_of(page).asked_for(GetRollouts)) > before, timeout=5000)
    assert len(bridge_of(page).asked_for(GetRollouts)) == before + 1


def test_an_own_answer_is_open_and_a_peers_is_folded(qtbot: QtBot, page: LearningPage, answers: Any) -> None:
    own = next(one for one in answers.table.rows if not one.author)
    theirs = next(one for one in answers.table.rows if one.author)
    answers.table.select([own.id])
    assert answers.pane.answer.reading.toPlainText() == own.completion
    answers.table.select([theirs.id])
    assert not answers.pane.answer.is_open and answers.pane.answer.reading.toPlainText() == ""
    row = [one.id for one in answers.table.rows].index(theirs.id)
    assert theirs.completion[:10] not in column(answers.table, 4)[row], "nor does the list show it"
    button = answers.pane.answer.button
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Space)
    assert answers.pane.answer.reading.toPlainText() == theirs.completion
    answers.table.select([own.id])
    answers.table.select([theirs.id])
    assert not answers.pane.answer.is_open, "folded again"


def test_new_rounds_are_offered_and_do_not_push_what_one_reads(page: LearningPage, answers: Any) -> None:
    assert answers.fresh.isHidden()
    before = len(bridge_of(page).asked_for(GetRollouts))
    bridge_of(page).tell(RoundFinished(report=report(901)))
    assert answers.fresh.isVisible() and len(bridge_of(page).asked_for(GetRollouts)) == before
    answers.fresh.click()
    assert len(bridge_of(page).asked_for(GetRollouts)) == before + 1 and answers.fresh.isHidden()


def test_a_reply_to_an_earlier_filter_is_not_taken_and_one_page_is_asked_for_at_a_time(qtbot: QtBot) -> None:
    bridge = LateBridge(in_swarm().view, GetRollouts)
    answers = a_page(qtbot, bridge, "answers").answers
    answers.verdict.show_choice("wrong")
    answers.load()
    bridge.replies[GetRollouts] = Rollouts(items=[staged.rollout(7)], more=True)
    bridge.deliver(1)
    assert not answers.table.rows, "that was the page of before"
    bridge.deliver(1)
    assert [one.id for one in answers.table.rows] == [7]
    for _ in range(2):
        answers.load_more()
    assert [one.before for one in bridge.asked_for(GetRollouts)] == [None, None, 7]


def test_answers_that_do_not_come_can_be_asked_for_again(qtbot: QtBot) -> None:
    bridge = in_swarm()
    bridge.replies[GetRollouts] = NotRunning("The node is not running just now.")
    page = a_page(qtbot, bridge, "answers", lambda bridge: None)
    assert page.answers.banner.isVisible() and page.answers._empty.title.text() == "Nothing to show"
    staged.stage(bridge)
    page.answers.banner.button.click()
    assert page.answers.banner.isHidden() and len(page.answers.table.rows) == 200


def test_ten_thousand_answers_are_no_trouble(page: LearningPage, answers: Any) -> None:
    many = [staged.rollout(number) for number in range(10_000, 0, -1)]
    bridge_of(page).replies[GetRollouts] = Rollouts(items=many, more=True)
    answers.load()
    assert len(answers.table.rows) == 10_000
    assert answers.more.isHidden(), "further back the filters and the export reach"


def test_a_reply_after_the_page_was_closed_does_no_harm(qtbot: QtBot) -> None:
    bridge = LateBridge(in_swarm().view)
    page = a_page(qtbot, bridge, "answers")
    page.closed()
    bridge.deliver()
    assert len(page.answers.table.rows) == 200
    page.opened()
    page.show_part("tasks")
    assert len(page.tasks.table.rows) == 22


# -- export --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("there", [False, True])
def test_an_export_says_where_it_went_and_replaces_a_file_only_if_asked(
    qtbot: QtBot, answers: Any, page: LearningPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    to = tmp_path / "mine.jsonl"
    if there:
        to.write_text("mine")
    monkeypatch.setattr(learning_answers, "ask_save_path", lambda *_: str(to))
    answers.origin.show_choice("peer")
    answers.load()
    with qtbot.waitSignal(page.bridge.said) as said:
        answers.export.click()
    assert said.args == [f"Exported to {to}"]
    assert bridge_of(page).asked_for(ExportRollouts) == [ExportRollouts(origin="peer", to=str(to), replace=there)]


def test_cancel_exports_nothing_a_failure_is_said(
    qtbot: QtBot, answers: Any, page: LearningPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning_answers, "ask_save_path", lambda *_: "")
    answers.export.click()
    assert not bridge_of(page).asked_for(ExportRollouts)
    monkeypatch.setattr(learning_answers, "ask_save_path", lambda *_: "/full/x.jsonl")
    bridge_of(page).replies[ExportRollouts] = SapoError("No space left on device.")
    with qtbot.waitSignal(page.bridge.trouble) as trouble:
        answers.export.click()
    assert trouble.args == ["Nothing was exported: No space left on device."]
    assert answers.export.isEnabled() and answers.export.text() == "Export"


# -- for everyone --------------------------------------------------------------------------------------------


def test_a_page_without_a_node_stands(qtbot: QtBot) -> None:
    page = a_page(qtbot, StageBridge(View()), stage=lambda bridge: None)
    for part in ("answers", "mix", "tasks", "rounds"):
        page.show_part(part)
    assert not bridge_of(page).asked_for(SetSettings)
    assert not page.mix.mix.isEnabled() and not page.tasks.curriculum.isEnabled()


def test_what_takes_no_time_is_no_part_of_the_legend(qtbot: QtBot) -> None:
    alone = a_page(qtbot, StageBridge(a_view(silo_curve())))
    legend = alone.rounds.round._cells
    assert legend["generate"].isVisible() and not legend["share"].isVisible() and not legend["draw"].isVisible()
    together = a_page(qtbot, in_swarm())
    assert together.rounds.round._cells["draw"].isVisible()


def test_in_the_first_round_the_legend_says_what_the_bar_shows(qtbot: QtBot) -> None:
    view = a_view()
    now = view.clock()
    view.clock = lambda: now
    page = a_page(qtbot, StageBridge(view))
    for phase, seconds in (("generate", 3.0), ("evaluate", 240.0)):
        view.take(PhaseChanged(round=1, phase=phase))
        now += seconds
    page.rounds.tick()
    cells = page.rounds.round._cells
    assert cells["generate"]._seconds.text() == "3.0 s"
    assert cells["evaluate"].isVisible() and cells["evaluate"]._seconds.text() == numbers.span(240.0)
