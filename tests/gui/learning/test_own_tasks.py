"""Own questions in the window: a file is chosen, shown, added and removed; its faults are reported."""

from typing import Any

import msgspec
import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.why import Paused
from sapo_desktop.gui.learning import own_tasks
from sapo_desktop.gui.learning.own_tasks import AddSheet, ChoiceSheet
from sapo_desktop.gui.learning.page import LearningPage
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.view.viewmodel import ALL
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.events import StateChanged
from sapo_desktop.worker.control.messages.replies import Tasks
from sapo_desktop.worker.control.messages.requests import AddTasks, ListTasks, ReadTasks, RemoveTasks
from tests.gui import staged_learning as staged
from tests.gui.driving import all_texts, button, press, shown
from tests.gui.late import LateBridge
from tests.gui.scenes import a_view, silo_curve
from tests.gui.stage import StageBridge

PATH = "/home/me/roman_numbers.csv"


@pytest.fixture(autouse=True)
def _somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes PATH in the file dialog and says yes to every question."""
    monkeypatch.setattr(own_tasks, "ask_open_path", lambda *_: PATH)
    monkeypatch.setattr(own_tasks, "confirm", lambda *_, **__: True)


@pytest.fixture
def page(qtbot: QtBot) -> LearningPage:
    return tasks_page(qtbot, StageBridge(a_view(silo_curve())))


def tasks_page(qtbot: QtBot, bridge: StageBridge) -> LearningPage:
    """The tasks, of a node that takes what it is given."""
    staged.stage(bridge)
    bridge.replies |= {AddTasks: Ok(text="Taken up."), RemoveTasks: Ok(text="Removed.")}
    page = LearningPage(bridge.view, bridge, Actions(bridge.view, bridge))  # type: ignore[arg-type]
    page.show_part("tasks")
    return shown(qtbot, page)


def sheet(page: LearningPage) -> Any:
    return next((one for one in page.findChildren(AddSheet) if one.isVisible()), None)


def knows(page: LearningPage, *items: Any) -> None:
    """The node has these own tasks, and does not say so."""
    page.bridge.replies[ListTasks] = Tasks(items=[*staged.tasks().items, *items])  # type: ignore[attr-defined]


def has(page: LearningPage, *items: Any) -> None:
    """The node has these own tasks now."""
    knows(page, *items)
    page.refresh(ALL)


def renewed(page: LearningPage) -> None:
    """Another node took the place of the one that was paused; its state is all that it says of itself."""
    page.bridge.tell(StateChanged(state="paused", reason="", why=Paused()))  # type: ignore[attr-defined]


def add(page: LearningPage) -> None:
    press(page.tasks.own, "Add your own questions")
    press(sheet(page), "Add")


def test_a_file_is_looked_at_and_added(page: LearningPage) -> None:
    bridge: Any = page.bridge
    press(page.tasks.own, "Add your own questions")
    assert bridge.asked_for(ReadTasks) == [ReadTasks(path=PATH)] and not bridge.asked_for(AddTasks)
    said = all_texts(sheet(page))
    assert "150 questions." in said and "Which number is III in Roman numerals?\n→ 3" in said
    assert "in silo and in private swarms" in said and "A family with this name exists already" not in said
    press(sheet(page), "Add")
    assert bridge.asked_for(AddTasks) == [AddTasks(path=PATH)]
    assert sheet(page) is None and "Taken up." in all_texts(page.tasks.own)
    has(page, staged.own_task(), staged.own_task("middle", 30))
    assert "Taken up." not in all_texts(page.tasks.own) and "80 questions" in all_texts(page.tasks.own)
    assert page.tasks.table.rows[-1].title == "Roman numbers"


def test_a_file_that_can_be_read_in_two_ways_is_asked_about(page: LearningPage) -> None:
    bridge: Any = page.bridge
    bridge.replies[ReadTasks] = staged.read_once_chosen
    press(page.tasks.own, "Add your own questions")
    (choice,) = [one for one in page.findChildren(ChoiceSheet) if one.isVisible()]
    assert "1,125 → 1125" in all_texts(choice)
    assert not choice.ok.isEnabled(), "neither is taken by itself"
    button(choice, "a number with a decimal comma, like -1,5").click()
    press(choice, "Continue")
    assert bridge.asked_for(ReadTasks)[-1] == ReadTasks(path=PATH, answers="decimal-comma")
    press(sheet(page), "Add")
    assert bridge.asked_for(AddTasks) == [AddTasks(path=PATH, answers="decimal-comma")]


def test_a_choice_that_is_left_adds_nothing(page: LearningPage) -> None:
    bridge: Any = page.bridge
    bridge.replies[ReadTasks] = staged.read_once_chosen
    press(page.tasks.own, "Add your own questions")
    press(next(one for one in page.findChildren(ChoiceSheet) if one.isVisible()), "Cancel")
    assert len(bridge.asked_for(ReadTasks)) == 1 and sheet(page) is None
    assert button(page.tasks.own, "Add your own questions").isEnabled()


def test_what_is_wrong_with_a_file_is_said_and_nothing_is_added(page: LearningPage) -> None:
    bridge: Any = page.bridge
    bridge.replies[ReadTasks] = TaskError("roman_numbers.csv, line 7: the answer must have 1 to 200 characters.")
    press(page.tasks.own, "Add your own questions")
    assert sheet(page) is None and "line 7" in all_texts(page.tasks.own)
    assert button(page.tasks.own, "Add your own questions").isEnabled()


def test_one_that_takes_the_place_of_another_and_one_that_is_refused(
    page: LearningPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    bridge: Any = page.bridge
    monkeypatch.setattr(own_tasks, "ask_open_path", lambda *_: "/again.csv")
    bridge.replies[AddTasks] = TaskError("The disk is full.")
    press(page.tasks.own, "Add your own questions")
    assert "A family with this name exists already" in all_texts(sheet(page))
    press(sheet(page), "Add")
    assert "The disk is full." in all_texts(sheet(page)) and sheet(page).ok.isEnabled()


def test_an_own_family_is_removed_and_the_products_are_not(page: LearningPage) -> None:
    has(page, staged.own_task())
    removes = [one for one in page.tasks.own.findChildren(QAbstractButton) if one.text() == "Remove"]
    assert [one.accessibleName() for one in removes] == ["Remove Roman numbers"]
    press(removes[0])
    bridge: Any = page.bridge
    assert bridge.asked_for(RemoveTasks) == [RemoveTasks(name="roman_numbers")]
    has(page)
    assert "Roman numbers" not in all_texts(page.tasks.own)


def test_a_paused_node_takes_up_what_was_added_and_removed(page: LearningPage) -> None:
    add(page)
    assert "Taken up." in all_texts(page.tasks.own)
    knows(page, staged.own_task())
    renewed(page)
    assert "Taken up." not in all_texts(page.tasks.own) and "50 questions" in all_texts(page.tasks.own)
    press(page.tasks.own, "Remove Roman numbers")
    assert "Removed." in all_texts(page.tasks.own)
    knows(page)
    renewed(page)
    said = all_texts(page.tasks.own)
    assert "Removed." not in said and "Roman numbers" not in said


def test_a_file_that_is_taken_up_at_once_and_another_with_as_many_questions_are_seen(page: LearningPage) -> None:
    knows(page, staged.own_task())
    add(page)
    assert "50 questions" in all_texts(page.tasks.own) and "Taken up." not in all_texts(page.tasks.own)
    add(page)
    assert "Taken up." in all_texts(page.tasks.own)
    knows(page, msgspec.structs.replace(staged.own_task(), config={"rows": 50, "sha256": "cd" * 32}))
    renewed(page)
    assert "Taken up." not in all_texts(page.tasks.own)


def test_a_node_is_asked_by_its_state_only_while_something_is_to_be_taken_up(page: LearningPage) -> None:
    before = page.bridge.asked_for(ListTasks)  # type: ignore[attr-defined]
    renewed(page)
    assert page.bridge.asked_for(ListTasks) == before  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("reply", "said"), [(Ok(text="Taken up."), "Taken up."), (TaskError("The disk is full."), "The disk is full.")]
)
def test_what_came_of_an_add_is_said_though_its_sheet_was_closed(qtbot: QtBot, reply: Any, said: str) -> None:
    bridge = LateBridge(a_view(silo_curve()), AddTasks)
    page = tasks_page(qtbot, bridge)
    bridge.replies[AddTasks] = reply
    add(page)
    press(sheet(page), "Close")
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not page.findChildren(AddSheet)
    bridge.deliver()
    assert said in all_texts(page.tasks.own)


def test_files_that_cannot_be_used_are_said(page: LearningPage) -> None:
    bridge: Any = page.bridge
    bridge.replies[ListTasks] = Tasks(items=staged.tasks().items, left_out=["bad.csv: it is no UTF-8."])
    page.refresh(ALL)
    assert page.tasks.own.left_out.isVisible() and "no UTF-8" in all_texts(page.tasks.own)
