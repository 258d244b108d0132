"""Drives a page like a person: shows it, reads it, presses buttons."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from PySide6.QtCore import QCoreApplication, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot

from sapo_desktop.core.settings import Settings
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.page import Page
from sapo_desktop.gui.shell.window import MainWindow
from sapo_desktop.gui.widgets.text import Reading
from sapo_desktop.view.viewmodel import ALL, View
from sapo_desktop.worker.control.messages.replies import SettingsAre
from tests.gui.stage import StageBridge

Made = TypeVar("Made", bound=Page)
Dialog = TypeVar("Dialog", bound=QDialog)


class PageScene:
    """A page, shown, with the bridge it asks."""

    view: View
    bridge: StageBridge
    page: Page

    def settings(self, waiting: tuple[str, ...] = (), wanted: Settings | None = None, **changes: object) -> None:
        """The worker took these."""
        held = msgspec.structs.replace(self.view.settings, **changes)
        are = SettingsAre(settings=held, changed=[], overridden=[], waiting=list(waiting), wanted=wanted)
        self.bridge.changed.emit(self.view.take_settings(are))

    def sheet(self, kind: type[Any]) -> Any:
        """The dialog of this kind that is open."""
        return next(found for found in self.page.findChildren(kind) if found.isVisible())


def shown(qtbot: QtBot, page: Made, width: int = 940, height: int = 880) -> Made:
    """The page as a window shows it; it receives all changes from now on."""
    qtbot.addWidget(page)
    page.resize(width, height)
    page.show()
    page.opened()
    page.refresh(ALL)
    page.bridge.changed.connect(lambda changed: page.refresh(changed & page.follows))
    return page


def texts(widget: Any) -> list[str]:
    """Everything in sight that labels and texts say."""
    QCoreApplication.processEvents()  # what was made just now is shown only then
    said = [label.text() for label in widget.findChildren(QLabel) if label.isVisibleTo(widget)]
    return said + [field.toPlainText() for field in widget.findChildren(Reading) if field.isVisibleTo(widget)]


def all_texts(widget: Any) -> str:
    return "\n".join(texts(widget))


def button(widget: QWidget, text: str) -> QAbstractButton:
    """The button in sight with this text, or this name."""
    found = widget.findChildren(QAbstractButton)
    return next(one for one in found if text in (one.text(), one.accessibleName()) and one.isVisible())


def press(what: QWidget, text: str = "") -> None:
    """Click on it, or on its button with this text."""
    QCoreApplication.processEvents()
    target = button(what, text) if text else what
    assert target.isVisible()
    QTest.mouseClick(target, Qt.MouseButton.LeftButton)


def in_dialog(act: Callable[[Dialog], object], kind: type[Dialog] = QDialog) -> None:
    """What is done with the next dialog that waits for its end, of this kind."""

    def do() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, kind)
        act(dialog)

    QTimer.singleShot(0, do)


def cells(table: Any) -> list[list[str]]:
    """A table's rows as they stand."""
    model = table.model()
    return [[model.index(y, x).data() for x in range(model.columnCount())] for y in range(model.rowCount())]


def a_window(qtbot: QtBot, view: View, replies: dict[type, Any] | None = None) -> tuple[MainWindow, StageBridge]:
    """The window on a view, shown. `replies`: what the worker answers."""
    bridge = StageBridge(view)
    bridge.replies |= replies or {}
    window = MainWindow(view, bridge, Actions(view, bridge))
    qtbot.addWidget(window)
    window.show()
    return window, bridge
