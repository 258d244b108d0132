"""Garbage is collected in the window's thread, between two events, whichever thread allocates."""

import gc
import threading
import weakref

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QLayout
from pytestqt.qtbot import QtBot
from shiboken6 import Shiboken

from sapo_desktop.gui.shell import garbage
from tests.gui.all_pages.every_page import a_full_window, go_round
from tests.gui.scenes import a_view


class Cycle:
    """Refers to itself, and says in which thread it was taken apart."""

    def __init__(self, ends: list[threading.Thread]) -> None:
        self.me = self
        weakref.finalize(self, lambda: ends.append(threading.current_thread()))


def allocate() -> None:
    """More objects than any threshold of the collector."""
    kept = [[] for _ in range(200_000)]
    assert kept


def test_another_thread_collects_nothing(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "EVERY_MS", 1)
    ends: list[threading.Thread] = []
    owner = QObject()
    gc.enable()
    with garbage.collected_here(owner):
        Cycle(ends)
        thread = threading.Thread(target=allocate)
        thread.start()
        thread.join()
        allocate()
        assert not ends

        qtbot.waitUntil(lambda: bool(ends))
    assert ends == [threading.main_thread()]
    assert gc.isenabled()


def test_what_was_kept_long_is_collected_too(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "EVERY_MS", 1)
    monkeypatch.setattr(garbage, "WHOLE_EVERY", 3)
    ends: list[threading.Thread] = []
    owner = QObject()
    with garbage.collected_here(owner):
        cycle = Cycle(ends)
        gc.collect()
        gc.collect()  # it is among the oldest now
        del cycle
        qtbot.waitUntil(lambda: bool(ends))
    assert ends == [threading.main_thread()]


def test_every_layout_within_another_belongs_to_qt(qtbot: QtBot) -> None:
    """One that Python owned could be taken apart after what it lies in: that ended a run of these tests."""
    window = a_full_window(a_view(silo=False))
    qtbot.addWidget(window)
    for _ in go_round(window):
        pass
    # By its type: a weak proxy would answer for what it stands for, which may be gone.
    layouts = [one for one in gc.get_objects() if issubclass(type(one), QLayout) and Shiboken.isValid(one)]
    assert len(layouts) > 100
    assert [str(one.parent()) for one in layouts if one.parent() is not None and Shiboken.ownedByPython(one)] == []
