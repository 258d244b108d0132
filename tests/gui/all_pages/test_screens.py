"""Every screen, from 1024x600 to 3840x2160 at 200%: content scrolls, buttons stay, and no frame is cut off."""

import contextlib
import itertools
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from sapo_desktop.gui.first_run.wizard import Wizard
from sapo_desktop.gui.home.page import HomePage
from sapo_desktop.gui.look import theme
from sapo_desktop.gui.look.screen import OnScreen, fitted, within
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.window import MainWindow
from sapo_desktop.gui.words import language
from tests.gui.all_pages.every_page import a_full_window, go_round, staged
from tests.gui.all_pages.test_everyone import cut_off
from tests.gui.scenes import a_view, silo_curve

PANEL = 32
"""Pixels of a desktop's own bar."""
SCREENS = [
    QSize(width, height) / scale - QSize(0, PANEL)
    for width, height, scale in [
        (1024, 600, 1),
        (1280, 800, 1),
        (1366, 768, 1),
        (1920, 1080, 1),
        (1920, 1080, 2),
        (2560, 1440, 2),
        (3840, 2160, 2),
    ]
]
SMALLEST = SCREENS[4]
"""In Qt's pixels, of which a screen at 200% has a quarter."""


@pytest.fixture(params=["en", "de"])
def spoken(request: pytest.FixtureRequest, qtbot: QtBot) -> Iterator[str]:
    language.speak(request.param)
    yield request.param
    language.speak("en")


@pytest.mark.parametrize("percent", [100, 200])
def test_the_first_run_fits_every_screen(qtbot: QtBot, spoken: str, percent: int) -> None:
    theme.wear(theme.LIGHT, percent)
    bridge = staged(a_view(state="idle"))
    wizard = Wizard(bridge.view, bridge)
    qtbot.addWidget(wizard)
    wizard.show()
    faults = []
    for room in SCREENS:
        wizard._on_screen.place(QRect(QPoint(0, 0), room))
        wizard._show(0)
        for step in range(len(wizard._steps)):
            if step:
                wizard._go_on()
            QTest.qWait(5)
            where = f"{room.toTuple()} step {step + 1}"
            faults += [f"{where}: {fault}" for fault in too_large(wizard, room)]
            faults += [f"{where}: {one.text()} lies below" for one in (wizard._next,) if not inside(one, wizard)]
            area = wizard._stack.currentWidget()
            assert isinstance(area, QScrollArea)
            if area.widget().width() > area.viewport().width():
                faults.append(f"{where}: {area.widget().width()} pixels in {area.viewport().width()}")
    assert faults == []


@pytest.mark.parametrize("percent", [100, 200])
def test_the_window_fits_the_smallest_screen(qtbot: QtBot, spoken: str, percent: int) -> None:
    theme.wear(theme.LIGHT, percent)
    window = a_full_window(a_view(silo=True))
    qtbot.addWidget(window)
    window._on_screen.place(QRect(QPoint(0, 0), SMALLEST))
    faults = too_large(window, SMALLEST)
    for page in go_round(window):
        with contextlib.suppress(qtbot.TimeoutError):
            qtbot.waitUntil(lambda: not cut_off(window), timeout=2000)
        faults += [f"{page}: {fault}" for fault in [*cut_off(window), *too_large(window, SMALLEST)]]
        if not inside(window._side.silo, window):
            faults.append(f"{page}: the silo switch lies outside")
    assert faults == []


def test_a_window_that_fills_a_large_screen_is_filled(qtbot: QtBot) -> None:
    window = MainWindow(view := a_view(silo_curve()), bridge := staged(view), Actions(view, bridge))
    qtbot.addWidget(window)
    window.show()
    home = window.page
    assert isinstance(home, HomePage)
    sizes = []
    for size, percent in (((1180, 800), 100), ((2560, 1400), 100), ((3840, 2100), 200)):
        theme.wear(theme.LIGHT, percent)
        window.resize(*size)
        qtbot.waitUntil(lambda wide=size[0]: window.width() == wide)
        sizes.append((home._chart.width(), home._chart._stack.height(), window._side.width()))
    assert all(
        later > before
        for first, second in itertools.pairwise(sizes)
        for before, later in zip(first[:2], second[:2], strict=True)
    )
    assert sizes[0][2] == sizes[1][2] < sizes[2][2], "larger text gets a wider list of pages"
    assert not home.verticalScrollBar().isVisible(), "all of it is in sight"


def test_the_first_size_follows_the_screen(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    keeper = OnScreen(window, first=(1180, 800), smallest=(860, 440))
    for screen, wanted in [((1280, 768), (1180, 724)), ((2560, 1400), (1180, 800)), ((640, 360), (624, 316))]:
        keeper.place(QRect(0, 0, *screen))
        assert window.size().toTuple() == wanted


def test_a_window_of_a_larger_screen_is_brought_back(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    keeper = OnScreen(window, first=(400, 300), smallest=(200, 100))
    window.show()
    window.setGeometry(2900, 1700, 3000, 2000)
    keeper.fit()
    assert window.screen().availableGeometry().contains(window.frameGeometry())


def test_a_place_is_moved_no_further_than_it_must() -> None:
    room = QRect(0, 30, 1000, 700)
    assert within(QRect(100, 100, 500, 300), room) == QRect(100, 100, 500, 300)
    assert within(QRect(800, 600, 500, 300), room) == QRect(500, 430, 500, 300)
    assert within(QRect(-50, 0, 2000, 300), room) == QRect(0, 30, 2000, 300)
    assert fitted(QSize(5000, 300), room.size()) == QSize(984, 300)


def too_large(window: QWidget, room: QSize) -> list[str]:
    """Where it has grown beyond what its screen leaves."""
    size = window.size()
    return [] if fitted(size, room) == size else [f"{size.toTuple()} on {room.toTuple()}"]


def inside(widget: QWidget, window: QWidget | MainWindow) -> bool:
    return window.rect().contains(QRect(widget.mapTo(window, QPoint(0, 0)), widget.size()))
