"""Help: the purpose of each page, the keys, version and licences, and links to log and diagnostics."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QWidget

from sapo_desktop import __version__
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.layout import column
from sapo_desktop.gui.widgets.text import Label, Reading
from sapo_desktop.gui.words.language import tr
from sapo_desktop.system.installation import libraries

HELP_KEYS = "F1"


class HelpSheet(Sheet):
    """See the module. `page`: the name of the open one; `title`: its title."""

    def __init__(self, parent: QWidget, page: str, title: str, open_log: Callable[[], None]) -> None:
        super().__init__(
            parent,
            tr("Help"),
            tr("SAPO Desktop {version}. Licence: Apache-2.0. Font: Inter, under the Open Font License 1.1.").format(
                version=__version__
            ),
        )
        self._open_log = open_log
        self.add(column(Label(title, "strong"), Label(what_it_is(page)), spacing=0.5))
        self.add(column(Label(tr("Keyboard"), "strong"), *(Label(text) for text in _keys()), spacing=0.5))
        self.add(Label(tr("The log shows what happened, and writes a file for a bug report."), "muted"))
        self._licences = Button(tr("Licences"), self._show_libraries)
        self.add_buttons(
            self._licences, Button(tr("Open the log"), self._go), Button(tr("Close"), self.accept, kind="primary")
        )

    def _show_libraries(self) -> None:
        """Shown on request, below the rest: reading them takes a moment."""
        self._licences.setEnabled(False)
        found = libraries()
        title = tr("%n package(s) and their licences", None, len(found))
        self.add(Label(title, "strong"), Reading(title, "\n".join(found), lines=10))

    def _go(self) -> None:
        self.accept()
        self._open_log()


def what_it_is(page: str) -> str:
    """Two sentences on each page."""
    return {
        "home": tr(
            "Home shows whether your model learns, how long its rounds take and what peers contribute. "
            "The large button starts and pauses it."
        ),
        "learning": tr(
            "Learning shows the current round and which tasks your model solves. You choose the tasks, and can read "
            "every answer."
        ),
        "peers": tr(
            "Peers shows the computers that yours exchanges answers with. You join them, add friends and choose "
            "what you share."
        ),
        "model": tr(
            "Model shows what learns here, and other models that fit this computer. You download or import one, go "
            "back to a checkpoint, or export what was learned."
        ),
        "try": tr(
            "Try it asks your model your own question, before and after learning. Nothing is learned "
            "from it, and nothing is sent."
        ),
        "settings": tr(
            "Settings decides when the app may compute, and how much of this computer it may use. Each setting says "
            "what it does and takes effect on its own."
        ),
        "log": tr(
            "Log keeps what the node reported, across restarts, with the reason for every stop. Here you "
            "can also write a file for a bug report."
        ),
    }.get(page, "")


def _keys() -> list[str]:
    def shown(keys: str) -> str:
        return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)

    return [
        tr("{first} to {last}: the pages").format(first=shown("Ctrl+1"), last=shown("Ctrl+7")),
        tr("{keys}: quit").format(keys=shown("Ctrl+Q")),
        tr("{keys}: this help").format(keys=shown(HELP_KEYS)),
        tr("In the chart: + and - zoom, arrows move, Home shows everything"),
    ]
