"""Own questions in the window: a file is chosen, shown, added and removed; what is wrong with one is said."""

from typing import Any

import pytest
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from sapo_desktop.core.errors import TaskError
from sapo_desktop.gui.learning import own_tasks
from sapo_desktop.gui.learning.own_tasks import AddSheet
from sapo_desktop.gui.learning.page import LearningPage
from sapo_desktop.gui.learning.task_choice import OwnFamily, own_families
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.view.viewmodel import ALL
from sapo_desktop.worker.control.messages.replies import Ok, Tasks
from sapo_desktop.worker.control.messages.requests import AddTasks, ListTasks, ReadTasks, RemoveTasks
from tests.gui import staged_learning as staged
from tests.gui.driving import all_texts, button, press, shown
from tests.gui.scenes import a_view, silo_curve
from tests.gui.stage import StageBridge

PATH = "/home/me/roman_numbers.csv"


@pytest.fixture
def page(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> LearningPage:
    """The tasks, where somebody takes PATH in the file dialog and says yes to every question."""
    monkeypatch.setattr(own_tasks, "ask_open_path", lambda *_: PATH)
    monkeypatch.setattr(own_tasks, "confirm", lambda *_, **__: True)
    view = a_view(silo_curve())
    bridge = StageBridge(view)
    staged.stage(bridge)
    bridge.replies |= {AddTasks: Ok(text="Taken up."), RemoveTasks: Ok(text="Removed.")}
    page = LearningPage(view, bridge, Actions(view, bridge))  # type: ignore[arg-type]
    page.show_part("tasks")
    return shown(qtbot, page)


def sheet(page: LearningPage) -> Any:
    return next((one for one in page.findChildren(AddSheet) if one.isVisible()), None)


def has(page: LearningPage, *items: Any) -> None:
    """The node has these own tasks now: it was put together anew, and no round is done yet."""
    there = staged.tasks()
    page.bridge.replies[ListTasks] = Tasks(items=[*there.items, *items])  # type: ignore[attr-defined]
    page.refresh(frozenset({"state"}))


def test_a_file_is_looked_at_and_added(page: LearningPage) -> None:
    bridge: Any = page.bridge
    press(page.tasks.own, "Add own questions")
    assert bridge.asked_for(ReadTasks) == [ReadTasks(path=PATH)] and not bridge.asked_for(AddTasks)
    said = all_texts(sheet(page))
    assert "150 questions." in said and "Which number is III in Roman numerals?\n→ 3" in said
    assert "in silo and in private swarms" in said and "takes its place" not in said
    press(sheet(page), "Add")
    assert bridge.asked_for(AddTasks) == [AddTasks(path=PATH)]
    assert sheet(page) is None and "Taken up." in all_texts(page.tasks.own)
    has(page, staged.own_task(), staged.own_task("middle", 30))
    assert "Taken up." not in all_texts(page.tasks.own) and "80 questions" in all_texts(page.tasks.own)
    assert page.tasks.table.rows[-1].title == "Roman numbers"


def test_what_is_wrong_with_a_file_is_said_and_nothing_is_added(page: LearningPage) -> None:
    bridge: Any = page.bridge
    bridge.replies[ReadTasks] = TaskError("roman_numbers.csv, line 7: the answer must have 1 to 200 characters.")
    press(page.tasks.own, "Add own questions")
    assert sheet(page) is None and "line 7" in all_texts(page.tasks.own)
    assert button(page.tasks.own, "Add own questions").isEnabled()


def test_one_that_takes_the_place_of_another_and_one_that_is_refused(
    page: LearningPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    bridge: Any = page.bridge
    monkeypatch.setattr(own_tasks, "ask_open_path", lambda *_: "/again.csv")
    bridge.replies[AddTasks] = TaskError("The disk is full.")
    press(page.tasks.own, "Add own questions")
    assert "takes its place" in all_texts(sheet(page))
    press(sheet(page), "Add")
    assert sheet(page) is None and "The disk is full." in all_texts(page.tasks.own)
    assert button(page.tasks.own, "Add own questions").isEnabled()


def test_an_own_family_is_removed_and_the_products_are_not(page: LearningPage) -> None:
    has(page, staged.own_task())
    page.refresh(ALL)
    removes = [one for one in page.tasks.own.findChildren(QAbstractButton) if one.text() == "Remove"]
    assert [one.accessibleName() for one in removes] == ["Remove Roman numbers"]
    press(removes[0])
    bridge: Any = page.bridge
    assert bridge.asked_for(RemoveTasks) == [RemoveTasks(name="roman_numbers")]
    has(page)
    assert "Roman numbers" not in all_texts(page.tasks.own)


def test_files_that_cannot_be_used_are_said(page: LearningPage) -> None:
    bridge: Any = page.bridge
    bridge.replies[ListTasks] = Tasks(items=staged.tasks().items, left_out=["bad.csv: it is no UTF-8."])
    page.refresh(ALL)
    assert page.tasks.own.left_out.isVisible() and "no UTF-8" in all_texts(page.tasks.own)


def test_own_families_are_counted_over_their_levels() -> None:
    items = [*staged.tasks().items, staged.own_task(), staged.own_task("hard", 16)]
    assert own_families(items) == [OwnFamily("roman_numbers", "Roman numbers", 66)]
