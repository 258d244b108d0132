"""Home's offer of the next model: one that fits here and has room for more, in one card with one thing to press."""

from __future__ import annotations

from sapo_desktop.core import settings_file
from sapo_desktop.core.fitting import ModelBadge
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.link.inquiry import Inquiry
from sapo_desktop.gui.model.model_list import BYTES_A_PARAMETER, SHIPPED
from sapo_desktop.gui.widgets.buttons import IconButton
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.models import CatalogueIs, DownloadModel, GetCatalogue, ModelInstalled
from sapo_desktop.worker.control.messages.requests import SetSettings

_FITTED = ("max_tokens", "learning_rate")
"""Settings of one model that are nothing for another."""
_ROUNDS = 30
"""So many of the starter's are a few minutes, after which one knows what this is."""


class NextModelCard(Banner):
    """See the module. It can be put away for good."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__(tone="accent", action=tr("Use it"), on_press=self._go_on)
        self._view, self._bridge = view, bridge
        self._offered: ModelBadge | None = None
        self._fetching = ""
        """The model that is used once it is here."""
        self.inquiry = Inquiry(bridge, GetCatalogue, self, self.refresh)
        box = self.layout()
        assert box is not None
        box.addWidget(IconButton("cross", tr("Do not show this again"), self._put_away))
        self.hide()

    def refresh(self) -> None:
        """Offer what the newest look found."""
        view = self._view
        if not self._due:
            self.say("")
            return
        if self.inquiry.reply is None:
            self.inquiry.ask()
            return
        reply: CatalogueIs = self.inquiry.reply
        self._offered = next_model(reply.models, view.settings.round_most, silo=view.silo)
        quiet = self._offered is None or _kept_name(self._offered) in view.quiet
        self.say("" if self._offered is None or quiet else _words(self._offered))
        self.button.setEnabled(not self._fetching)

    def follow(self) -> None:
        """A download ended: the node switches to the model that it brought."""
        news = self._view.model_news
        if self._fetching and news is not None:
            fetched, self._fetching = self._fetching, ""
            if isinstance(news, ModelInstalled) and news.installed.name == fetched:
                self._use(fetched)
            self.refresh()

    @property
    def _due(self) -> bool:
        """Whether the starter is at work and has shown what it can."""
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
        self.say("")


def next_model(badges: list[ModelBadge], most: float, *, silo: bool) -> ModelBadge | None:
    """The best after the starter: one that is here already, else the largest that can be had; None where no model fits
    in memory and in rounds of `most` seconds."""
    fitting = [
        badge
        for badge in badges
        if badge.repository and badge.badge != "too big" and 0 < badge.round_seconds <= most
        if badge.downloaded or (not silo and badge.gate == "open")
    ]
    return max(fitting, key=lambda badge: (badge.downloaded, badge.parameters), default=None)


def _words(badge: ModelBadge) -> str:
    here = tr("it is on this computer")
    size = tr("about {size} to download").format(size=numbers.size(BYTES_A_PARAMETER * badge.parameters))
    return tr(
        "Ready for more? {model} can learn further: {where}, and a round takes about {span} here. In "
        "the first minutes it learns how to answer. What the starter learned stays."
    ).format(model=badge.name, where=here if badge.downloaded else size, span=numbers.span(badge.round_seconds))


def _kept_name(badge: ModelBadge) -> str:
    return f"model {badge.id}"
