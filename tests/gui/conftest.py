"""Windows without a screen: Qt's own offscreen platform, chosen before Qt is loaded, and our looks."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import QT_TROUBLE

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


class WithoutQt(pytest.Module):
    """A file of tests on a machine where Qt cannot be loaded: skipped as a whole, and counted."""

    def collect(self) -> list[pytest.Item]:
        pytest.skip(QT_TROUBLE, allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    return WithoutQt.from_parent(parent, path=module_path) if QT_TROUBLE else None


@pytest.fixture(scope="session")
def qapp_cls() -> type:
    from sapo_desktop.gui.shell.app import App

    return App


@pytest.fixture(autouse=True)
def _looks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every test with a window begins in the light theme, in English, and its cycles are taken apart after it.

    In the middle of it Python's collector could run within one of Qt's calls, which the program itself forbids it, too
    (gui/shell/garbage.py)."""
    if not {"qtbot", "qapp"} & set(request.fixturenames):
        yield
        return
    app = request.getfixturevalue("qapp")
    from PySide6.QtCore import QEvent

    from sapo_desktop.gui.look import theme
    from sapo_desktop.gui.words import language

    # What the test before left to be deleted would be styled again with everything else.
    app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    if not app.property("styled"):  # once, as the program does: each time Qt styles all that is left of former tests
        app.setStyle("Fusion")
        app.setProperty("styled", True)
    language.speak("en")
    theme.wear(theme.LIGHT)
    gc.disable()
    yield
    gc.enable()
    gc.collect(0)  # all that the test made is as young as that
