"""The log: what is asked, what is shown, filtered, found and copied, and the file for a bug report."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from sapo_desktop.core.errors import NotRunning, SapoError
from sapo_desktop.gui.link.attachment import Lost
from sapo_desktop.gui.log.page import LogPage, ReportSheet
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.words.language import tr
from sapo_desktop.worker.control.messages.facts import Diagnose, Diagnosis, GetLog, GetNotices, LogIs, Notice, Notices
from tests.gui import scenes, staged_log
from tests.gui.driving import cells as rows
from tests.gui.driving import press, shown, texts
from tests.gui.stage import StageBridge
from tests.gui.staged_log import REPORT, SAID
from tests.gui.words.test_language import texts as translated


def a_page(qtbot: QtBot, bridge: StageBridge) -> LogPage:
    return shown(qtbot, LogPage(bridge.view, bridge, Actions(bridge.view, bridge)), 900, 800)


def cells(page: LogPage, column: int) -> list[str]:
    return [row[column] for row in rows(page._notices._table)]


@pytest.fixture
def bridge(qapp: object) -> StageBridge:
    bridge = StageBridge(scenes.a_view())
    staged_log.stage(bridge)
    return bridge


@pytest.fixture
def page(qtbot: QtBot, bridge: StageBridge) -> LogPage:
    return a_page(qtbot, bridge)


def test_notices_from_before_and_since_stand_newest_first(bridge: StageBridge, qtbot: QtBot) -> None:
    bridge.view.take(Notice(level="error", text="It stopped.", time=scenes.NOW))
    page = a_page(qtbot, bridge)
    assert bridge.asked == [GetNotices()]
    assert cells(page, 2)[0] == "It stopped." and len(cells(page, 2)) == 41
    assert cells(page, 0)[0] == "Error"
    bridge.tell(Notice(level="warning", text="New.", time=scenes.NOW + 1))
    assert cells(page, 2)[0] == "New."


def test_levels_and_search_narrow_it_down(page: LogPage) -> None:
    press(page, "Levels shown: Warnings")
    assert set(cells(page, 0)) == {"Warning", "Error"}
    press(page, "Levels shown: Errors")
    assert set(cells(page, 0)) == {"Error"}
    page._search.setFocus()
    QTest.keyClicks(page._search, "threads")
    assert cells(page, 2) == [] and "Nothing found" in texts(page)
    press(page, "Levels shown: All")
    assert set(cells(page, 2)) == {"From now on the node computes with at most 2 threads."}
    assert tr("%n notice(s)", None, 6) in texts(page)


def test_a_line_is_read_in_whole_and_copied(bridge: StageBridge, qtbot: QtBot) -> None:
    bridge.replies[GetNotices] = Notices(items=[Notice(level="error", text="Ended.\nKilled", time=scenes.NOW)])
    said: list[str] = []
    bridge.said.connect(said.append)
    page = a_page(qtbot, bridge)
    table = page._notices._table
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_Home)
    table.selectRow(0)
    assert any("error: Ended.\n    Killed" in text for text in texts(page))
    press(page, "Copy all")
    assert QGuiApplication.clipboard().text().endswith(" error: Ended.\n    Killed")
    assert said == [tr("%n notice(s) copied.", None, 1)]


def test_without_notices_it_says_so(qtbot: QtBot) -> None:
    page = a_page(qtbot, StageBridge(scenes.a_view()))
    assert "Nothing to report" in texts(page)


def test_the_log_file_is_read_shown_from_its_end_and_searched(bridge: StageBridge, qtbot: QtBot) -> None:
    bridge.replies[GetLog] = LogIs(lines=["start", "Train one", "mark", "train two", "end"], path="/data/worker.log")
    page = a_page(qtbot, bridge)
    press(page, "What to show: Log file")
    assert bridge.asked_for(GetLog) == [GetLog(lines=2000)]
    assert "start\nTrain one\nmark\ntrain two\nend" in texts(page)
    page._search.setFocus()
    QTest.keyClicks(page._search, "train")
    assert "2 of 2" in texts(page)
    QTest.keyClick(page._search, Qt.Key.Key_Return)
    assert "1 of 2" in texts(page)
    press(page, "Next hit")
    assert "2 of 2" in texts(page)
    assert page._file._text.textCursor().block().text() == "train two"
    press(page, "Copy all")
    assert QGuiApplication.clipboard().text().startswith("start\n")
    press(page, "Reload")
    assert len(bridge.asked_for(GetLog)) == 2 and "2 of 2" in texts(page)


def test_a_log_that_cannot_be_read_says_why_and_can_be_tried_again(bridge: StageBridge, qtbot: QtBot) -> None:
    bridge.replies[GetLog] = NotRunning("The node is not running just now.")
    page = a_page(qtbot, bridge)
    press(page, "What to show: Log file")
    assert "The node is not running just now." in texts(page) and "Loading the log" not in texts(page)
    bridge.replies[GetLog] = staged_log.log(3)
    press(page, "Try again")
    assert "The node is not running just now." not in texts(page)
    assert page._file._text.toPlainText().count("\n") == 2
    bridge.replies[GetLog] = LogIs(lines=[f"{at} " + "x" * 100 for at in range(2000)], path="/data/worker.log")
    press(page, "Reload")
    shown = page._file._text.toPlainText().splitlines()
    assert shown[-1].startswith("1999 ") and len(shown) < 1000 and shown[0].endswith("x" * 100), "cut at its beginning"


def choose(monkeypatch: pytest.MonkeyPatch, path: str) -> list[str]:
    suggested: list[str] = []
    monkeypatch.setattr(
        "sapo_desktop.gui.log.page.ask_save_path",
        lambda parent, title, suggestion, kinds: suggested.append(suggestion) or path,
    )
    return suggested


def test_a_report_is_read_before_it_is_saved_as_it_was_read(
    page: LogPage, bridge: StageBridge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    suggested = choose(monkeypatch, str(tmp_path / "report.txt"))
    press(page, "Diagnostics file")
    (sheet,) = page.findChildren(ReportSheet)
    assert REPORT in "\n".join(texts(sheet)) and not suggested, "nothing is written before"
    press(sheet, "Copy")
    assert QGuiApplication.clipboard().text() == REPORT
    press(sheet, "Save")
    assert suggested[0].startswith("sapo-diagnostics-") and suggested[0].endswith(".txt")
    assert (tmp_path / "report.txt").read_text() == REPORT
    assert str(tmp_path / "report.txt") in "\n".join(texts(sheet))
    press(sheet, "Close")
    assert not sheet.isVisible()


def test_a_report_that_cannot_be_made_or_saved_says_why(
    page: LogPage, bridge: StageBridge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bridge.replies[Diagnose] = SapoError("The examiner does not answer.")
    press(page, "Diagnostics file")
    assert "The examiner does not answer." in texts(page) and page._diagnose.isEnabled()
    bridge.replies[Diagnose] = Diagnosis(text=REPORT)
    press(page, "Diagnostics file")
    (sheet,) = page.findChildren(ReportSheet)
    for to, said in (("", "Look through the text"), (str(tmp_path / "no" / "x.txt"), "could not be written")):
        choose(monkeypatch, to)
        press(sheet, "Save")
        assert said in "\n".join(texts(sheet))
    assert not list(tmp_path.iterdir())


def test_a_worker_that_comes_back_is_asked_again(page: LogPage, bridge: StageBridge) -> None:
    bridge.tell(Lost(reason="It was killed."))
    assert not page._diagnose.isEnabled() and len(cells(page, 2)) == 40
    bridge.replies[GetNotices] = Notices(items=[Notice(level="info", text="Back.", time=scenes.NOW + 9)])
    bridge.tell(scenes.a_view().link)
    assert len(bridge.asked_for(GetNotices)) == 3, "the notices say why it was gone"
    assert cells(page, 2)[0] == "Back." and len(cells(page, 2)) == 41


def test_what_the_pictures_show_is_what_the_node_says() -> None:
    assert {text.template for _, text in SAID} <= {source for source, _ in translated("de")}
