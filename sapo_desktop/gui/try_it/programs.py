"""Whether other programs on this computer may ask the model, and what they need for it."""

from __future__ import annotations

from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.link.inquiry import Inquiry, change
from sapo_desktop.gui.widgets.buttons import Button, Switch
from sapo_desktop.gui.widgets.forms import Copied, copy_text
from sapo_desktop.gui.widgets.layout import Card, Flow, column, holding
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.serving import GetServer, NewServerKey, ServerIs

MODEL = "sapo"
"""The model's name for programs, whichever model is in use."""


class ProgramsCard(Card):
    """The switch; while it is on, address, key and the model's name. The key is copied, never shown."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        about = tr(
            "Chat programs, editors and scripts on this computer can ask your model as it is now, also while it "
            "learns. Nothing leaves this computer, so this works in silo too."
        )
        super().__init__(tr("Other programs"), about)
        self._view, self._bridge = view, bridge
        self.inquiry = Inquiry(bridge, GetServer, self, self._show)
        self.switch = Switch(tr("Answer other programs"))
        self.switch.clicked.connect(self._switched)
        self._trouble = Banner(tone="warning")
        self._url = Copied(bridge, tr("Address"), tr("Copy the address"))
        self.copy_key = Button(tr("Copy the key"), self._copy_key, icon="key")
        self.new_key = Button(tr("Draw another key"), self._renew, kind="quiet", icon="refresh")
        how = tr(
            "In the program, choose a provider that is compatible with OpenAI, and enter address and key. The model's "
            "name is {name}."
        )
        self._kept = Label(tr("This computer has no keyring, so the key changes with each start."), "caption")
        keys = holding(Flow(self.copy_key, self.new_key))
        self._open = holding(column(Label(how.format(name=MODEL), "muted"), self._url, keys, self._kept))
        self.add(self.switch, self._trouble, self.inquiry.trouble, self._open)
        self._open.hide()

    def refresh(self) -> None:
        """The link or the settings changed."""
        self.switch.show_state(self._view.settings.serve)
        self.switch.setEnabled(self._view.attached)
        if self._view.attached and self._view.settings.serve:
            self.inquiry.ask()
        self._show()

    def _switched(self, on: bool) -> None:
        value = "on" if on else "off"
        change(self._bridge, "serve", value, of=self, banner=self._trouble, undo=self.refresh)

    def _copy_key(self) -> None:
        copy_text(self._bridge, self._server.key)

    def _renew(self) -> None:
        self._bridge.ask(NewServerKey(), self._renewed, of=self)

    def _renewed(self, reply: ServerIs) -> None:
        self.inquiry.ask()
        self._bridge.said.emit(tr("The old key no longer works. Copy the new one into your programs."))

    @property
    def _server(self) -> ServerIs:
        on = self._view.attached and self._view.settings.serve
        found: ServerIs | None = self.inquiry.reply if on else None
        return found if found is not None else ServerIs(url="", key="", kept=True)

    def _show(self) -> None:
        server = self._server
        self._url.show_text(server.url)
        self._kept.setVisible(not server.kept)
        self._open.setVisible(bool(server.url))
        self._trouble.say(in_words(server.error), "warning")
