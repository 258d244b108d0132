"""The columns that share the remaining room share it by need."""

from pytestqt.qtbot import QtBot

from sapo_desktop.gui.widgets.table import Heading, Table


def test_a_long_question_gets_the_room_that_a_short_answer_leaves(qtbot: QtBot) -> None:
    headings = [
        Heading("Question", lambda row: row[0], stretch=True),
        Heading("Answer", lambda row: row[1], stretch=True),
    ]
    table = Table("Answers", headings)
    qtbot.addWidget(table)
    table.resize(420, 300)
    table.show()
    table.set_rows([("What is the greatest common divisor of 84 and 36?", "12")])
    assert table.columnWidth(0) > 2 * table.columnWidth(1)
    assert table.columnWidth(0) + table.columnWidth(1) <= table.viewport().width()
