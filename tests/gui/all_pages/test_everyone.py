"""For everyone: each widget has a name, each can be reached by keyboard, and nothing is cut off at any size or text."""

import contextlib

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QScrollArea, QScrollBar, QWidget
from pytestqt.qtbot import QtBot

from sapo_desktop.gui.look import theme
from sapo_desktop.gui.shell.window import SMALLEST, MainWindow
from sapo_desktop.gui.widgets.text import Label
from tests.gui.all_pages.every_page import a_full_window, go_round
from tests.gui.scenes import a_view

SIZES = [SMALLEST, (1180, 800), (1920, 1080), (3840, 2160)]
TEXTS = [100, 200]


def test_everything_that_can_be_reached_has_a_name(qtbot: QtBot) -> None:
    window = a_full_window()
    qtbot.addWidget(window)
    nameless = []
    for page in go_round(window):
        nameless += [
            f"{page}: {type(widget).__name__} in {type(widget.parentWidget()).__name__}"
            for widget in window.findChildren(QWidget)
            if widget.isVisible() and can_be_reached(widget) and not spoken_name(widget)
        ]
    assert nameless == []


def test_the_keyboard_goes_round_every_page(qtbot: QtBot) -> None:
    window = a_full_window()
    qtbot.addWidget(window)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    missed = []
    for page in go_round(window):
        wanted = {widget for widget in window.findChildren(QWidget) if widget.isVisible() and can_be_reached(widget)}
        reached = reached_by_tab(qtbot, window._side._buttons["home"], 3 * len(wanted) + 20)
        missed += [
            f"{page}: {type(widget).__name__} {spoken_name(widget)!r}"
            for widget in wanted - reached
            if is_a_stop(widget) and widget.focusProxy() is None
        ]
    assert missed == []


@pytest.mark.parametrize("percent", TEXTS)
def test_nothing_is_cut_off(qtbot: QtBot, percent: int) -> None:
    theme.wear(theme.LIGHT, percent)
    window = a_full_window()
    qtbot.addWidget(window)
    faults = []
    for size in SIZES:
        window.resize(*size)
        for page in go_round(window):
            with contextlib.suppress(qtbot.TimeoutError):
                qtbot.waitUntil(lambda: not cut_off(window), timeout=2000)  # a page settles in a few steps
            assert (window.width(), window.height()) == size, f"{page} makes the window larger"
            faults += [f"{size} {page}: {fault}" for fault in cut_off(window)]
    assert faults == []


@pytest.mark.parametrize("name", ["light", "dark"])
def test_all_pages_take_the_other_colours_while_they_are_shown(qtbot: QtBot, name: str) -> None:
    window = a_full_window(a_view(silo=False))
    qtbot.addWidget(window)
    theme.wear(theme.THEMES[name])
    for _ in go_round(window):
        corner = window.page.grab().toImage().pixelColor(2, 2)
        assert corner.name() == theme.current().page


def reached_by_tab(qtbot: QtBot, start: QWidget, most: int) -> set[QWidget]:
    """Every widget that has the keyboard on the way round, from `start` to `start`."""
    reached: set[QWidget] = set()
    start.setFocus()
    for _ in range(most):
        focused = QApplication.focusWidget()
        assert focused is not None
        reached.add(focused)
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
        if QApplication.focusWidget() is start:
            break
    return reached


def can_be_reached(widget: QWidget) -> bool:
    policy = widget.focusPolicy()
    return widget.isEnabled() and bool(policy & Qt.FocusPolicy.TabFocus) and not isinstance(widget, QScrollBar)


def is_a_stop(widget: QWidget) -> bool:
    """A group of radio buttons, of segments or of pages is one stop: arrow keys continue within it."""
    group = getattr(widget, "group", lambda: None)()
    alone = getattr(widget, "autoExclusive", lambda: False)()
    exclusive = group.exclusive() if group is not None else alone
    return not exclusive and widget.parentWidget() is not None


def spoken_name(widget: QWidget) -> str:
    """The name that a screen reader says."""
    found = QAccessible.queryAccessibleInterface(widget)
    name = found.text(QAccessible.Text.Name) if found is not None else ""
    return name.strip()


def cut_off(window: MainWindow) -> list[str]:
    """Labels that have less room than their text needs, and pages wider than the window."""
    found = []
    area = window.page
    if isinstance(area, QScrollArea) and area.widget().width() > area.viewport().width():
        found.append(f"{area.widget().width() - area.viewport().width()} pixels stick out at the right")
    for label in window.findChildren(Label):
        if not label.isVisible() or not label.text() or inside_a_view(label):
            continue
        need = label.heightForWidth(label.width()) if label.wordWrap() else label.sizeHint().height()
        wide = 0 if label.wordWrap() else label.sizeHint().width()
        if label.height() < need - 1 or label.width() < wide - 1:
            found.append(f"{label.text()[:40]!r} has {label.width()}x{label.height()}, needs {wide}x{need}")
    return found


def inside_a_view(widget: QWidget) -> bool:
    parent = widget.parentWidget()
    return isinstance(parent, QAbstractScrollArea) and not isinstance(parent, QScrollArea)
