"""A bar of progress is drawn as far as it is known, is never empty, and does not move by itself."""

import pytest
from PySide6.QtCore import QAbstractAnimation
from pytestqt.qtbot import QtBot

from sapo_desktop.gui.look import theme
from sapo_desktop.gui.widgets.bars import Progress


@pytest.mark.parametrize("colours", theme.THEMES.values(), ids=theme.THEMES)
@pytest.mark.parametrize("percent", [100, 200])
def test_it_is_filled_as_far_as_is_known(qtbot: QtBot, colours: theme.Theme, percent: int) -> None:
    theme.wear(colours, percent)
    bar = Progress()
    qtbot.addWidget(bar)
    bar.resize(200, bar.sizeHint().height())
    bar.show_done(1, 4)
    row = [bar.grab().toImage().pixelColor(x, bar.height() // 2).name() for x in range(10, 190)]
    assert row == [*[colours.accent] * 40, *[colours.sunken] * 140]


def test_what_is_unknown_has_stripes_that_stand_still(qtbot: QtBot) -> None:
    bar = Progress()
    qtbot.addWidget(bar)
    bar.resize(200, 8)
    bar.show()
    for done, total in ((0, 10), (0, 0), (11, 10)):
        bar.show_done(done, total)
        image = bar.grab().toImage()
        seen = {image.pixelColor(x, 4).name() for x in range(10, 190)}
        assert {theme.current().accent, theme.current().accent_soft} <= seen, "neither empty nor full"
    assert bar.findChildren(QAbstractAnimation) == []
