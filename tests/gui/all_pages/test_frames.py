"""No frame shows words cut: not the first one, nor the one in which other words arrive."""

from collections.abc import Iterator

import msgspec
import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sapo_desktop.core.why import NotKept, Training
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.window import MainWindow
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.view.link import Lost
from sapo_desktop.worker.control.messages.events import EvalFinished, StateChanged
from tests.builders import eval_report
from tests.gui.all_pages.every_page import staged
from tests.gui.scenes import LEARNED, a_view, swarm_curve

LONG = (
    "A reason of many words, which takes three lines or more wherever it stands, and none of them is to be lost. " * 2
)


class Watch(QObject):
    """Notes every label that is painted lower than its words are."""

    def __init__(self) -> None:
        super().__init__()
        self.painted = 0
        self.cut: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() is QEvent.Type.Paint and isinstance(watched, Label) and watched.wordWrap() and watched.text():
            self.painted += 1
            wanted = watched.heightForWidth(watched.width())
            if wanted > watched.height():
                self.cut.append(f"{watched.text()[:40]}: {watched.height()} of {wanted} pixels")
        return False


@pytest.fixture
def watch(qapp: QApplication) -> Iterator[Watch]:
    made = Watch()
    qapp.installEventFilter(made)
    yield made
    qapp.removeEventFilter(made)


@pytest.mark.parametrize("size", [(760, 600), (1280, 800)])
def test_words_are_never_painted_cut(qtbot: QtBot, watch: Watch, size: tuple[int, int]) -> None:
    view = a_view(swarm_curve(200), silo=False)
    bridge = staged(view)
    window = MainWindow(view, bridge, Actions(view, bridge))
    qtbot.addWidget(window)
    window.resize(*size)

    def settle() -> None:
        """What is asked for is painted."""
        painted = watch.painted
        qtbot.waitUntil(lambda: watch.painted > painted)
        for _ in range(5):
            QApplication.processEvents()

    window.show()
    settle()
    learned = msgspec.structs.replace(LEARNED, question=LONG, before=LONG, now=f"<answer>{LONG}</answer>")
    for event in (
        EvalFinished(report=eval_report("40", 0.3, learned=learned)),
        StateChanged(state="paused", reason="", why=NotKept(text=LONG)),
        StateChanged(state="working", reason="", why=Training(round=201, busy=LONG)),
        Lost(reason=LONG),
    ):
        bridge.tell(event)
        settle()
    assert not watch.cut
