"""A label shows what it is given, and a word without end makes no page wider; a reading finds what is searched."""

from pytestqt.qtbot import QtBot

from sapo_desktop.gui.widgets.text import Label, Reading


def test_a_word_without_end_is_broken_where_the_line_ends(qtbot: QtBot) -> None:
    label = Label("x" * 4_000)
    qtbot.addWidget(label)
    assert label.text() == "x" * 4_000
    assert label.minimumSizeHint().width() < 300
    label.resize(700, 50)
    assert label.heightForWidth(700) > 20 * label.fontMetrics().height()


def test_keys_and_paths_are_left_as_they_are(qtbot: QtBot) -> None:
    for text in ("a" * 64, "/home/" + "/".join(["folder"] * 40), "plain words " * 30):
        label = Label(text)
        qtbot.addWidget(label)
        assert super(Label, label).text() == text


def test_every_place_is_found_in_either_case_and_beyond_the_first_plane(qtbot: QtBot) -> None:
    reading = Reading("Log", "one 🐸 Train\ntrain\nTRAINtrain")
    qtbot.addWidget(reading)
    assert reading.mark("train") == 4
    reading.show_mark(0)
    assert reading.textCursor().selectedText() == "Train"
    marked = [mark.cursor.selectedText() for mark in reading.extraSelections()]
    assert marked == ["Train", "train", "TRAIN", "train"]
    assert reading.mark("") == 0 and reading.mark("no") == 0


def test_no_more_is_marked_than_anybody_steps_through(qtbot: QtBot) -> None:
    reading = Reading("Log", "a " * 5000)
    qtbot.addWidget(reading)
    assert reading.mark("a") == Reading.MOST_MARKS
