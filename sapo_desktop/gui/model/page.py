"""Model: the current one, what fits, the choice, and what was learned."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from sapo_desktop.core import settings_file
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.link.inquiry import Inquiry
from sapo_desktop.gui.model.checkpoints import CheckpointsCard
from sapo_desktop.gui.model.choice import ModelsCard
from sapo_desktop.gui.model.engine_pack import EnginePackCard
from sapo_desktop.gui.model.memory import MemoryCard
from sapo_desktop.gui.model.model_list import ModelRow
from sapo_desktop.gui.model.transfer import HubSheet, TokenSheet, TransferStrip
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.page import Page
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.dialog import confirm
from sapo_desktop.gui.widgets.files import ask_folder, ask_open_path
from sapo_desktop.gui.widgets.layout import WIDE, Card, Columns, Figure, Flow, column, holding
from sapo_desktop.gui.widgets.notes import Banner, chip
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words import models as model_words
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.states import state_sentence
from sapo_desktop.gui.words.titles import model_title
from sapo_desktop.view.viewmodel import Section, View
from sapo_desktop.worker.control.messages.facts import GetModelInfo, ModelInfo
from sapo_desktop.worker.control.messages.models import DownloadModel, ImportModel, ModelInstalled, RemoveModel
from sapo_desktop.worker.control.messages.requests import SetSettings

_AT_START = frozenset({"model", "generator", "trainer", "device"})
"""Settings of the model, which apply when the node is built."""
_FITTED = ("max_tokens", "learning_rate")
"""Settings that belong to one model and mean nothing for another."""


class ModelPage(Page):
    """See the module."""

    name = "model"
    widest = WIDE
    follows: ClassVar[frozenset[Section]] = frozenset(
        {"link", "state", "settings", "models", "checkpoints", "progress"}
    )

    def __init__(self, view: View, bridge: Bridge, actions: Actions) -> None:
        super().__init__(view, bridge, tr("Model"))
        del actions
        self._waiting = WaitingBanner(self._use_now, self._stay)
        self._away = Banner(action=tr("Let the app choose"), on_press=self._let_it_choose)
        self._at_work = AtWorkCard(view, bridge)
        self._memory = MemoryCard(view, bridge)
        self._transfer = TransferStrip(view, bridge)
        self._transfer.news.button.clicked.connect(self._token)
        self._ways = WaysIn(self)
        self._models = ModelsCard(view, bridge, [self._transfer, self._ways])
        self.setAcceptDrops(True)
        self._models.models.answered.connect(self._show_transfer)
        self._memory.inquiry.answered.connect(self._models.refresh)
        details = self._models.details
        details.recommended = lambda: self._memory.chosen
        details.use.connect(self._use)
        details.download.connect(self._download)
        details.remove.connect(self._remove)
        details.token.connect(self._token)
        self._checkpoints = CheckpointsCard(view, bridge)
        self.add(
            self._waiting, self._away, EnginePackCard(), self._at_work, self._models, self._memory, self._checkpoints
        )

    def closed(self) -> None:
        self._transfer.close_news()

    def refresh(self, changed: frozenset[Section]) -> None:
        if changed & {"link", "state"}:
            self._show_away()
        if "link" in changed and self.view.settable:
            self._ask_all()
        elif "settings" in changed and self.view.attached:
            self._at_work.inquiry.ask()
            self._memory.inquiry.ask()
            self._models.ask()
        if changed & {"link", "settings", "state"}:
            self._show_waiting()
            self._models.refresh()
            self._ways.refresh()
        if changed & {"link", "models"}:
            self._show_transfer()
            if (news := self.view.model_news) is not None:
                self._models.ask()
                if isinstance(news, ModelInstalled):
                    self._models.choose(news.installed.name)
        if changed & {"link", "checkpoints"} and self.view.attached:
            self._checkpoints.inquiry.ask()
            self._checkpoints.comparisons.ask()
        if changed & {"link", "state", "progress"}:
            self._checkpoints.refresh()

    def _show_away(self) -> None:
        """Why there is no node; if none can start, what can be done here."""
        remedy = self.view.remedy
        self._away.say("" if self.view.attached else state_sentence(self.view), "danger" if remedy else "plain")
        self._away.button.setVisible(remedy in ("model", "pack"))
        for card in (self._at_work, self._checkpoints):
            card.setVisible(not remedy)

    def _ask_all(self) -> None:
        if self.view.attached:
            self._at_work.inquiry.ask()
        self._memory.inquiry.ask()
        self._models.ask()

    def _show_waiting(self) -> None:
        held = self.view.settings_are
        late = [key for key in held.waiting if key in _AT_START] if held is not None else []
        if not late or not self.view.attached:
            self._waiting.say("")
        elif "model" in late:
            self._waiting.say(tr("After this round: {model}.").format(model=model_title(self.view.wanted.model)))
        else:
            self._waiting.say(
                tr("These settings take effect after the current round: {settings}.").format(settings=", ".join(late))
            )

    def _show_transfer(self) -> None:
        self._transfer.refresh(self._models.under_way)
        self._models.refresh()
        self._ways.refresh()

    # -- buttons -----------------------------------------------------------------------------------------------

    @property
    def can_begin(self) -> bool:
        """Whether a download or import could start now."""
        return self.view.attached and self._models.under_way is None

    def _use(self, row: ModelRow, at_once: bool) -> None:
        if row.state == "at work":
            self._stay()
        elif not self._checkpoints.learned or self._wants_another(row.name):
            self._set(_defaults(_FITTED) | {"model": row.name}, at_once=at_once)

    def _use_now(self) -> None:
        """What waits for the round takes effect now."""
        held = self.view.settings_are
        late = [key for key in held.waiting if key in _AT_START] if held is not None else []
        self._set({key: str(getattr(self.view.wanted, key)) for key in late}, at_once=True)

    def _stay(self) -> None:
        """What waits for the round is cancelled."""
        held = self.view.settings_are
        late = _AT_START.intersection(held.waiting) if held is not None else set()
        self._set({key: str(getattr(self.view.settings, key)) for key in sorted({"model", *_FITTED, *late})})

    def _set(self, values: dict[str, str], *, at_once: bool = False) -> None:
        self.bridge.ask(SetSettings(values=values, at_once=at_once), lambda reply: self._models.refresh(), of=self)

    def _let_it_choose(self) -> None:
        """A local model that fits, with the program's choice of how to run it."""
        values = _defaults(_AT_START.union(_FITTED)) | {"model": self._models.best_here}
        self._set(values)

    def _wants_another(self, model: str) -> bool:
        title = model_title(model)
        about = tr(
            "What {before} learned stays on this computer; choose it again to continue. {model} starts "
            "untrained, or where it stopped before. Round numbers continue."
        ).format(before=model_title(self.view.settings.model), model=title)
        return confirm(self, tr("Switch to {model}?").format(model=title), about, tr("Switch"))

    def _download(self, row: ModelRow) -> None:
        model, files = (row.hit.repository, list(row.hit.files)) if row.hit is not None else (row.name, [])
        self.bridge.ask(DownloadModel(model=model, files=files), lambda reply: self._transfer.take_focus(), of=self)

    def _remove(self, row: ModelRow) -> None:
        title = tr("Remove {model}?").format(model=row.title)
        about = tr("This deletes {size} from this computer. You can download or import it again.").format(
            size=numbers.size(row.bytes)
        )
        if confirm(self, title, about, tr("Remove"), kind="danger"):
            self.bridge.ask(RemoveModel(name=row.name), lambda reply: self._models.ask(), of=self)

    def _token(self) -> None:
        TokenSheet(self, self.bridge).open()

    def other(self) -> None:
        """Download a model outside the catalogue."""
        HubSheet(self, self.bridge).open()

    def import_folder(self) -> None:
        self._import(ask_folder(self, tr("A model folder (in transformers' layout)")))

    def import_file(self) -> None:
        self._import(ask_open_path(self, tr("A GGUF file"), tr("GGUF files (*.gguf)")))

    def _import(self, path: str) -> None:
        if path:
            self.bridge.ask(ImportModel(path=path), lambda reply: self._transfer.take_focus(), of=self)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802
        """A folder or file of this computer can be dropped whenever an import is possible."""
        if self.can_begin and _dropped(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        self._import(_dropped(event))


def _dropped(event: QDropEvent) -> str:
    """The single local folder or file; empty for anything else."""
    paths = [url.toLocalFile() for url in event.mimeData().urls()]
    return paths[0] if len(paths) == 1 else ""


class WaitingBanner(Banner):
    """What waits for the current round: it can take effect now, or be cancelled."""

    def __init__(self, now: Callable[[], None], cancel: Callable[[], None]) -> None:
        super().__init__("", "warning", tr("Use now"), now)
        self.cancel = Button(tr("Cancel"), cancel)
        box = self.layout()
        assert box is not None
        box.addWidget(self.cancel)


def _defaults(keys: Iterable[str]) -> dict[str, str]:
    return {key: str(settings_file.describe(key).default) for key in keys}


class WaysIn(QWidget):
    """How to get models outside the catalogue."""

    def __init__(self, page: ModelPage) -> None:
        super().__init__()
        self._page = page
        self.folder = Button(tr("Import a folder"), page.import_folder, icon="folder")
        self.file = Button(tr("Import a GGUF file"), page.import_file, icon="import")
        self.other = Button(tr("Download by name"), page.other, icon="download")
        flow = Flow(self.folder, self.file, self.other)
        self._why = Label("", "caption")
        self.setLayout(column(holding(flow), self._why))

    def refresh(self) -> None:
        why = ""
        if not self._page.view.attached:
            why = tr(
                "Models cannot be downloaded, imported or removed while the node is not running. The page "
                "Home says why it is not."
            )
        elif self._page.view.silo:
            why = tr("In silo nothing is downloaded.")
        self._why.setText(why)
        self._why.setVisible(bool(why))
        for button in (self.folder, self.file):
            button.setEnabled(self._page.can_begin)
        self.other.setEnabled(self._page.can_begin and not self._page.view.silo)


class AtWorkCard(Card):
    """The model that answers and learns now."""

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__(tr("In use"))
        self._view = view
        self._chips = QWidget()
        self._sentence = Label(tr("Asking the node which model is in use."), "muted")
        self._parameters = Figure(tr("Parameters"))
        self._files = Figure(tr("Files"))
        self._memory = Figure(tr("Memory now"))
        self._answers = Figure(tr("Maximum answer length"))
        self._pass = Figure(tr("Answers at once"))
        figures = (self._parameters, self._files, self._memory, self._answers, self._pass)
        self._notes = Label("", "caption")
        self._notes.hide()
        self.inquiry = Inquiry(bridge, GetModelInfo, self, self._show)
        columns = Columns(*figures, narrowest=138, most=5)
        self.add(self._chips, self._sentence, columns, self._notes, self.inquiry.trouble)

    def _show(self) -> None:
        info: ModelInfo | None = self.inquiry.reply
        if info is None:
            return
        self.title.setText(model_title(info.name))
        self._show_chips(info)
        self._sentence.setText(
            tr("{way}, on %n thread(s).", None, info.threads).format(way=model_words.at_work_words(info))
        )
        self._parameters.set(model_words.parameters(info.parameters))
        self._files.set(numbers.size(info.bytes))
        estimate = tr("estimated: {size}").format(size=numbers.size(info.memory_estimate))
        self._memory.set(numbers.size(info.memory_used), "" if info.memory_estimate is None else estimate)
        self._answers.set(numbers.count(info.max_tokens), tr("tokens"))
        learns = info.trainer != "none" and info.micro_batch > 0
        if learns:
            self._pass.set(numbers.count(info.micro_batch), tr("in a training step"))
        else:
            self._pass.set(numbers.NOTHING, tr("nothing"))
        self._notes.setText("\n".join(one_line(in_words(note)) for note in info.notes))
        self._notes.setVisible(bool(info.notes))

    def _show_chips(self, info: ModelInfo) -> None:
        words = [tr("In use"), tr("GGUF file") if info.kind == "gguf" else tr("Model folder")]
        if info.device:
            words.append(f"{model_words.device_words(info.device)}, {info.dtype}")
        chips = [chip(word, "" if at else "accent") for at, word in enumerate(words)]
        if info.trainer == "none":
            chips.append(chip(tr("Answers only"), "warning"))
        new = holding(Flow(*chips))
        self.body.replaceWidget(self._chips, new)
        self._chips.hide()
        self._chips.deleteLater()
        self._chips = new
