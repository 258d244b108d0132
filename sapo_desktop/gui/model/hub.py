"""Searches of the hub: words, and the result of the last search."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QWidget

from sapo_desktop.core.models import MOST_WORDS, HubModel
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.link.inquiry import Inquiry
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.forms import line
from sapo_desktop.gui.widgets.layout import column, row
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words.language import tr
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.models import HubModelsAre, SearchHub


class HubSearch(QWidget):
    """See the module. `then`: called when there are new results."""

    def __init__(self, view: View, bridge: Bridge, then: Callable[[], object]) -> None:
        super().__init__()
        self._view, self._then = view, then
        self._asked = ""
        self.words = line(tr("Part of a model's name, such as smollm"), longest=MOST_WORDS)
        self.words.setAccessibleName(tr("Words to search for"))
        self.button = Button(tr("Search the hub"), self._search, icon="search")
        self._said = Label("", "caption")
        self.inquiry = Inquiry(bridge, lambda: SearchHub(words=self._asked), self, self._answered)
        self.words.returnPressed.connect(self._search)
        self.words.textChanged.connect(self.refresh)
        self.setLayout(column(row((self.words, 1), self.button), self._said, self.inquiry.trouble, spacing=0.5))
        self.refresh()

    @property
    def found(self) -> Sequence[HubModel]:
        """The last search's models that run here."""
        reply: HubModelsAre | None = self.inquiry.reply
        return reply.models if reply is not None and not self.inquiry.error else ()

    def refresh(self) -> None:
        """Another text, the node appeared or ended, or silo changed."""
        self.button.setEnabled(not self._view.silo and bool(self.words.text().strip()))
        said = self._words()
        self._said.setText(said)
        self._said.setVisible(bool(said))

    def _search(self) -> None:
        if self.button.isEnabled():
            self._asked = self.words.text().strip()
            self.inquiry.reply, self.inquiry.error = None, ""  # the same answer again is news, too
            self.inquiry.ask()
            self._answered()

    def _answered(self) -> None:
        self.refresh()
        self._then()

    def _words(self) -> str:
        if self._view.silo:
            return tr("In silo the hub is not asked. Leave silo to search it.")
        if self.inquiry.busy:
            return tr("Asking the hub for {words}").format(words=one_line(self._asked, 60))
        reply: HubModelsAre | None = self.inquiry.reply
        if reply is None or self.inquiry.error:
            return tr("The hub sees your words and your address. Choose whom you download from.")
        if not reply.models:
            return tr("The hub has no model of these words that runs here: {words}").format(
                words=one_line(self._asked, 60)
            )
        return tr("%n more cannot run here.", None, reply.left_out) if reply.left_out else ""
