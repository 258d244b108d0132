"""A question before something that cannot be undone."""

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QDialog, QWidget
from pytestqt.qtbot import QtBot

from sapo_desktop.gui.widgets.dialog import confirm
from tests.gui.driving import in_dialog, press


def test_a_yes_counts_though_the_dialog_is_gone_before_its_loop_ends(qtbot: QtBot) -> None:
    """On a busy computer Qt deletes it in the same turn of the loop that took the click."""

    def agree(dialog: QDialog) -> None:
        press(dialog, "Remove")
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    page = QWidget()
    qtbot.addWidget(page)
    page.show()
    in_dialog(agree)
    assert confirm(page, "Remove it?", "It is deleted.", "Remove")
    in_dialog(lambda dialog: press(dialog, "Cancel"))
    assert not confirm(page, "Remove it?", "It is deleted.", "Remove")
