"""A label shows what it is given, and a word without end makes no page wider."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from sapo_desktop.gui.widgets.text import Label


def test_a_word_without_end_is_broken_where_the_line_ends(qtbot: QtBot) -> None:
    label = Label("x" * 64_000)
    qtbot.addWidget(label)
    assert label.text() == "x" * 64_000
    assert label.minimumSizeHint().width() < 300
    label.resize(700, 50)
    assert label.heightForWidth(700) > 20 * label.fontMetrics().height()


def test_keys_and_paths_are_left_as_they_are(qtbot: QtBot) -> None:
    for text in ("a" * 64, "/home/" + "/".join(["folder"] * 40), "plain words " * 30):
        label = Label(text)
        qtbot.addWidget(label)
        assert super(Label, label).text() == text
