"""Lines of small parts are of about one length: none holds a single part that looks forgotten."""

import pytest
from PySide6.QtCore import QRect, QSize
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from sapo_desktop.gui.widgets.layout import Flow, holding


class Part(QWidget):
    def __init__(self, width: int) -> None:
        super().__init__()
        self._width = width

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(self._width, 20)


@pytest.mark.parametrize(
    ("widths", "room", "lines"),
    [
        ([100] * 9, 880, [5, 4]),
        ([100] * 9, 932, [9]),
        ([100] * 9, 320, [3, 3, 3]),
        ([100] * 3, 90, [1, 1, 1]),
        ([300, 40, 40, 40], 330, [1, 3]),
        ([], 100, []),
    ],
)
def test_lines_are_few_and_even(qtbot: QtBot, widths: list[int], room: int, lines: list[int]) -> None:
    parts = [Part(width) for width in widths]
    flow = Flow(*parts, spacing=4)
    holder = holding(flow)
    qtbot.addWidget(holder)
    flow.setGeometry(QRect(0, 0, room, 200))
    tops = [part.geometry().top() for part in parts]
    assert [tops.count(top) for top in sorted(set(tops))] == lines
    assert flow.heightForWidth(room) == max(0, 24 * len(lines) - 4)
