"""Home's offer of the next model: one that fits here and has more capacity, in one card with one button."""

from __future__ import annotations

from PySide6.QtCore import Signal

from sapo_desktop.core import settings_file
from sapo_desktop.core.fitting import ModelBadge
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.link.inquiry import Inquiry
from sapo_desktop.gui.look.theme import grid
from sapo_desktop.gui.model.model_list import BYTES_A_PARAMETER, SHIPPED
from sapo_desktop.gui.widgets.buttons import Button, IconButton
from sapo_desktop.gui.widgets.layout import Card, row
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.models import CatalogueIs, DownloadModel, GetCatalogue, ModelInstalled
from sapo_desktop.worker.control.messages.requests import SetSettings

_FITTED = ("max_tokens", "learning_rate")
"""Settings that belong to one model and mean nothing for another."""
_ROUNDS = 30
"""Rounds of the starter, a few minutes, after which a user knows the program."""


class NextModelCard(Card):
    """See the module. It can be dismissed permanently.

    Signals:
        offering: whether it now has something to offer.
    """

    offering = Signal(bool)

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__()
        self.setProperty("role", "banner")
        self.setProperty("tone", "accent")
        self._view, self._bridge = view, bridge
        self._text = Label("")
        self.button = Button(tr("Use it"), self._go_on)
        self._offered: ModelBadge | None = None
        self._fetching = ""
        """The model to use once it is downloaded."""
        self.inquiry = Inquiry(bridge, GetCatalogue, self, self.refresh)
        away = IconButton("cross", tr("Do not show this again"), self._put_away)
        self.body.setContentsMargins(grid(1.5), grid(1), grid(1.5), grid(1))
        self.body.setSpacing(grid(0.5))
        self.add(self._text, row(self.button, 1, away))
        self.hide()

    @property
    def text(self) -> str:
        """The current text."""
        return self._text.text()

    def _say(self, text: str) -> None:
        if text == self.text:
            return
        self._text.setText(text)
        self.setAccessibleName(text)
        self.setVisible(bool(text))
        self.offering.emit(bool(text))

    def refresh(self) -> None:
        """Offer the result of the newest check."""
        view = self._view
        if not self._due:
            self._say("")
            return
        if self.inquiry.reply is None:
            self.inquiry.ask()
            return
        reply: CatalogueIs = self.inquiry.reply
        self._offered = next_model(reply.models, view.settings.round_most, silo=view.silo)
        quiet = self._offered is None or _kept_name(self._offered) in view.quiet
        self._say("" if self._offered is None or quiet else _words(self._offered))
        self.button.setEnabled(not self._fetching)

    def follow(self) -> None:
        """A download ended: the node switches to the downloaded model."""
        news = self._view.model_news
        if self._fetching and news is not None:
            fetched, self._fetching = self._fetching, ""
            if isinstance(news, ModelInstalled) and news.installed.name == fetched:
                self._use(fetched)
            self.refresh()

    @property
    def _due(self) -> bool:
        """Whether the starter is in use and has reached its limit."""
        view = self._view
        return view.attached and view.model_name == SHIPPED == view.wanted.model and len(view.curves) >= _ROUNDS

    def _go_on(self) -> None:
        if self._offered is None:
            return
        if self._offered.downloaded:
            self._use(self._offered.here)
        else:
            self._fetching = self._offered.id
            self._bridge.ask(DownloadModel(model=self._offered.id), lambda reply: self.refresh(), of=self)

    def _use(self, model: str) -> None:
        values = {key: str(settings_file.describe(key).default) for key in _FITTED} | {"model": model}
        self._bridge.ask(SetSettings(values=values), lambda reply: self.refresh(), of=self)

    def _put_away(self) -> None:
        if self._offered is not None:
            self._view.quiet.add(_kept_name(self._offered))
        self._say("")


def next_model(badges: list[ModelBadge], most: float, *, silo: bool) -> ModelBadge | None:
    """The best model after the starter: one that is here already, otherwise the largest available; None if no model
    fits in memory and in rounds of `most` seconds."""
    fitting = [
        badge
        for badge in badges
        if badge.repository and badge.badge != "too big" and 0 < badge.round_seconds <= most
        if badge.downloaded or (not silo and badge.gate == "open")
    ]
    return max(fitting, key=lambda badge: (badge.downloaded, badge.parameters), default=None)


def _words(badge: ModelBadge) -> str:
    here = tr("on this computer")
    size = tr("about {size} to download").format(size=numbers.size(BYTES_A_PARAMETER * badge.parameters))
    return tr(
        "Ready for more? {model} can learn further ({where}, about {span} a round). What the starter learned stays."
    ).format(model=badge.name, where=here if badge.downloaded else size, span=numbers.span(badge.round_seconds))


def _kept_name(badge: ModelBadge) -> str:
    return f"model {badge.id}"
