"""That a newer version is there, what is new in it, and where to get it. Nothing is installed from here."""

from __future__ import annotations

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from sapo_desktop.core.plain_text import clean, one_line
from sapo_desktop.core.updates.manifest import Standing
from sapo_desktop.gui.link.bridge import Asks
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.text import Reading
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.updates import GetUpdates, UpdatesAre


class UpdateBanner(Banner):
    """Stays while there is a newer version."""

    def __init__(self, view: View, bridge: Asks) -> None:
        super().__init__(action=tr("What is new"), on_press=self._ask)
        self._view, self._bridge = view, bridge

    def refresh(self) -> None:
        """Show what the view has."""
        found = self._view.updates
        newer = found is not None and found.state in ("newer", "urgent")
        if found is None or not newer:
            self.say("")
        else:
            self.say(one_line(in_words(found.text)), "danger" if found.state == "urgent" else "plain")

    def _ask(self) -> None:
        self._bridge.ask(GetUpdates(), self._open, of=self)

    def _open(self, reply: UpdatesAre) -> None:
        what_is_new(self, reply.standing).open()


def what_is_new(parent: QWidget, found: Standing) -> Sheet:
    """The changelog of a version, and the way to its page where it has one."""
    title = tr("What is new in {version}").format(version=one_line(found.version))
    about = tr(
        "Nothing is installed by itself. “sapo-desktop updates get DIR” downloads a file of it and checks that it is "
        "the one that was signed."
    )
    sheet = Sheet(parent, title, about)
    sheet.add(Reading(title, clean(found.changelog), lines=14))
    close = Button(tr("Close"), sheet.accept, kind="primary")
    if found.page.startswith("https://"):
        page = Button(tr("Open its page"), lambda: QDesktopServices.openUrl(QUrl(found.page)), icon="chevron-right")
        sheet.add_buttons(page, close)
    else:
        sheet.add_buttons(close)
    return sheet
