"""A link as a QR code."""

import pytest
import segno
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from sapo_desktop.gui.look import theme
from sapo_desktop.gui.peers.link_box import QrCode

LINK = f"sapo://join?swarm={'a' * 64}&peer=wss://a.example:8765&admission={'b' * 144}"


@pytest.mark.parametrize(("worn", "percent"), [(theme.LIGHT, 100), (theme.DARK, 200)])
def test_the_code_is_dark_on_white_with_its_quiet_edge_in_every_theme(
    qtbot: QtBot, worn: theme.Theme, percent: int
) -> None:
    theme.wear(worn, percent)
    code = QrCode()
    code.show_text(LINK)
    qtbot.addWidget(code)
    code.resize(code.sizeHint())
    wanted = [list(row) for row in segno.make_qr(LINK, error="l").matrix_iter(border=4)]
    picture = code.grab().toImage()
    square = picture.width() // len(wanted)
    middles = [square * at + square // 2 for at in range(len(wanted))]
    drawn = [[int(picture.pixelColor(x, y) == QColor("black")) for x in middles] for y in middles]
    assert drawn == wanted and square >= 3


@pytest.mark.parametrize("text", ["", "x" * 4000])
def test_what_no_code_holds_shows_none(qtbot: QtBot, text: str) -> None:
    code = QrCode()
    qtbot.addWidget(code)
    code.show_text(LINK)
    code.show_text(text)
    assert code.isHidden()
