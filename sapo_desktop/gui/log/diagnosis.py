"""A file for a bug report: where it goes, and what is in it and what is not."""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QWidget

from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.files import ask_save_path
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.text import Label, Reading
from sapo_desktop.gui.words.language import tr
from sapo_desktop.worker.control.messages.replies import Exported


def what_is_in_it() -> list[str]:
    return [
        tr("Versions, the system, the model at work and its limits"),
        tr("The settings; of those that are typed as text only whether there is one"),
        tr("The last 200 lines of the log"),
    ]


def what_is_not() -> list[str]:
    return [
        tr("Your name and this computer's"),
        tr("Addresses, keys, tokens and invites"),
        tr("Your folders' names"),
    ]


def ask_where(parent: QWidget, now: float) -> str:
    """Where to write it; "" where the user went back."""
    day = time.strftime("%Y-%m-%d", time.localtime(now))
    return ask_save_path(parent, tr("Diagnostics file"), f"sapo-diagnostics-{day}.txt", tr("Text") + " (*.txt)")


def show_written(parent: QWidget, reply: Exported) -> None:
    """Say where it lies, and what it tells."""
    folder = Path(reply.folder)
    path = str(folder / reply.files[0]) if reply.files else str(folder)
    sheet = Sheet(parent, tr("Diagnostics file"), tr("It was written, and nothing was sent."))
    sheet.add(Reading(tr("Where it lies"), path, lines=2))
    sheet.add(Label(tr("In it"), "strong"), Label(_listed(what_is_in_it())))
    sheet.add(Label(tr("Left out, or replaced by a word for it"), "strong"), Label(_listed(what_is_not())))
    sheet.add(Banner(tr("Private data is taken out by rules: look through the file before you pass it on."), "warning"))
    close = Button(tr("Close"), sheet.accept, kind="primary")
    sheet.add_buttons(
        Button(tr("Copy the path"), lambda: QGuiApplication.clipboard().setText(path), icon="copy"),
        Button(tr("Open the folder"), lambda: _open(folder), icon="folder"),
        close,
    )
    sheet.open()
    close.setFocus()


def _listed(sentences: list[str]) -> str:
    return "\n".join(f"•  {sentence}" for sentence in sentences)


def _open(folder: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
