"""A page driven as a person drives it: shown, read, pressed."""

from typing import Any, TypeVar

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget
from pytestqt.qtbot import QtBot

from sapo_desktop.gui.shell.page import Page
from sapo_desktop.gui.widgets.text import Reading
from sapo_desktop.view.viewmodel import ALL

Made = TypeVar("Made", bound=Page)


def shown(qtbot: QtBot, page: Made, width: int = 940, height: int = 880) -> Made:
    """The page as a window shows it, told of what changes from now on."""
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


def cells(table: Any) -> list[list[str]]:
    """A table's rows as they stand."""
    model = table.model()
    return [[model.index(y, x).data() for x in range(model.columnCount())] for y in range(model.rowCount())]
