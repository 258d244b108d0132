"""Downloads and imports: the progress of the running one, the result of the last one, and dialogs that start
another."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from sapo_desktop.core.errors import SapoError, UsageError
from sapo_desktop.core.models import spec_of
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.widgets.bars import Progress
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.forms import labelled, line
from sapo_desktop.gui.widgets.layout import Card, column, row
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.text import Elided, Label
from sapo_desktop.gui.words import models as model_words
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.titles import model_title
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.models import (
    CancelModelWork,
    DownloadModel,
    ModelFailed,
    ModelInstalled,
    ModelProgressed,
    SetHubToken,
)

_STEPS = 1000
_MOST_TOKEN = 500


class TransferStrip(QWidget):
    """The running one, otherwise the result of the last one; hidden if there is neither."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__()
        self._view, self._bridge = view, bridge
        self._card = Card()
        self._title = Elided("", "strong")
        self._words = Label("", "caption")
        self._bar = Progress()
        self.cancel = Button("", self._cancel)
        said = column(self._title, self._bar, self._words, spacing=0.5)
        self._card.add(row((said, 1), self.cancel, spacing=2))
        self.news = Banner()
        self.setLayout(column(self._card, self.news))
        self._card.hide()
        self._seen: ModelInstalled | ModelFailed | None = None
        """News from before the page was closed."""

    def refresh(self, under_way: ModelProgressed | None) -> None:
        """`under_way`: what the view knows, or what the worker replied."""
        self._card.setVisible(under_way is not None)
        if under_way is not None:
            self._show(under_way)
        news = self._view.model_news
        self._tell(news if under_way is None and news is not self._seen else None)
        self.setVisible(under_way is not None or self.news.isVisibleTo(self))

    def take_focus(self) -> None:
        """Keep the focus: the button that started it is disabled."""
        self.cancel.setFocus()

    def close_news(self) -> None:
        """The result need not be shown again."""
        self._seen = self._view.model_news

    def _show(self, progress: ModelProgressed) -> None:
        transfer = progress.transfer
        stage = model_words.stage_words(transfer)
        imports = transfer.stage == "copying"  # otherwise complete files and partial ones are kept
        self.cancel.set_text(tr("Cancel") if imports else tr("Pause"))
        self.cancel.set_icon("cross" if imports else "pause")
        self._title.set_text(f"{model_title(progress.model)}: {stage}")
        self._words.setText(model_words.transfer_words(transfer))
        share = min(1.0, transfer.done / transfer.total) if transfer.total else 0.0
        self._bar.show_done(round(_STEPS * share), _STEPS)
        self._bar.setAccessibleName(f"{stage}: {self._words.text()}")

    def _tell(self, news: ModelInstalled | ModelFailed | None) -> None:
        match news:
            case ModelInstalled(installed=installed, notes=notes):
                said = tr("{model} is installed ({size}).").format(
                    model=model_title(installed.name), size=numbers.size(installed.bytes)
                )
                self.news.say(" ".join([said, *(in_words(note) for note in notes)]), "accent")
            case ModelFailed(kind="HostCancelled"):
                self.news.say(tr("Stopped. Download again to continue where it stopped."), "plain")
            case ModelFailed(text=text):
                self.news.say(in_words(text), "danger")
            case _:
                self.news.say("")
        refused = isinstance(news, ModelFailed) and news.kind == "AccessRefused"
        self.news.button.set_text(tr("Hub account"))
        self.news.button.setVisible(refused)

    def _cancel(self) -> None:
        self._bridge.ask(CancelModelWork(), lambda reply: None, of=self)


class HubSheet(Sheet):
    """A model of the hub outside the catalogue."""

    def __init__(self, parent: QWidget, bridge: Bridge) -> None:
        super().__init__(
            parent,
            tr("Download another model"),
            tr(
                "Llama, Qwen2, Qwen3 and SmolLM3 models can answer and learn, in transformers' layout or as "
                "GGUF. Other GGUF files only answer. Other models are refused before anything large is "
                "downloaded. Only download from sources that you trust."
            ),
        )
        self._bridge = bridge
        self._name = line("OWNER/NAME", longest=300)
        self._files = line("model-q8_0.gguf", longest=1000)
        self._trouble = Banner(tone="danger")
        self.ok = Button(tr("Download"), self._begin, kind="primary")
        revision = tr(
            "OWNER/NAME for the newest version of its main branch, or OWNER/NAME@REVISION for a specific one."
        )
        files = tr("If a repository has several models: file names, separated by commas. Empty: what the model needs.")
        self.add(
            labelled(tr("Repository"), self._name, revision),
            labelled(tr("Files (optional)"), self._files, files),
            self._trouble,
        )
        self.add_buttons(Button(tr("Cancel"), self.reject), self.ok)
        self._name.setFocus()

    def _begin(self) -> None:
        name = self._name.text().strip()
        files = [word for word in self._files.text().replace(",", " ").split() if word]
        try:
            spec_of(name, files)
        except UsageError:
            self._trouble.say(tr("Write a repository as OWNER/NAME, or as OWNER/NAME@REVISION."))
            return
        self._bridge.ask(DownloadModel(model=name, files=files), lambda reply: self.accept(), self._failed, of=self)

    def _failed(self, error: SapoError) -> None:
        self._trouble.say(in_words(error))


class TokenSheet(Sheet):
    """The token of an account on the hub. It is stored in the keyring, and never shown."""

    def __init__(self, parent: QWidget, bridge: Bridge) -> None:
        super().__init__(
            parent,
            tr("Hub account"),
            tr(
                "Some models require you to accept a licence on the hub's page, with an account. A read "
                "token of that account is kept in this computer's keyring. It is sent to the hub only if the "
                "hub asks for it."
            ),
        )
        self._bridge = bridge
        self._token = line(secret=True, longest=_MOST_TOKEN)
        self._trouble = Banner(tone="danger")
        self.keep = Button(tr("Save token"), self._keep, kind="primary")
        self.forget = Button(tr("Delete saved token"), self._forget, icon="trash")
        self.add(labelled(tr("Token"), self._token), self._trouble)
        self.add_buttons(self.forget, Button(tr("Cancel"), self.reject), self.keep)
        self._token.textChanged.connect(self._typed)
        self._typed()
        self._token.setFocus()

    def _typed(self) -> None:
        self.keep.setEnabled(bool(self._token.text().strip()))

    def _keep(self) -> None:
        if token := self._token.text().strip():
            self._send(SetHubToken(token=token), tr("The token is in this computer's keyring."))

    def _forget(self) -> None:
        self._send(SetHubToken(token=None), tr("The token was deleted."))

    def _send(self, request: SetHubToken, said: str) -> None:
        def done(reply: object) -> None:
            self._bridge.said.emit(said)
            self.accept()

        self._bridge.ask(request, done, self._failed, of=self)

    def _failed(self, error: SapoError) -> None:
        self._trouble.say(in_words(error))
