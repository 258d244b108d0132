"""Exports a checkpoint as files for other programs."""

from __future__ import annotations

from pathlib import Path

import msgspec
from PySide6.QtWidgets import QWidget

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.link.bridge import Bridge, Call
from sapo_desktop.gui.widgets.bars import Progress
from sapo_desktop.gui.widgets.buttons import Button, Segments
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.files import ask_folder
from sapo_desktop.gui.widgets.forms import labelled, line
from sapo_desktop.gui.widgets.layout import keeping_place, row
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.words import models as model_words
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.worker.control.messages.base import Exported
from sapo_desktop.worker.control.messages.replies import CheckpointInfo
from sapo_desktop.worker.control.messages.requests import ExportModel


class ExportSheet(Sheet):
    """Which format, and which folder."""

    def __init__(self, parent: QWidget, bridge: Bridge, item: CheckpointInfo) -> None:
        title = tr("Export: {name}").format(name=model_words.checkpoint_words(item.number))
        super().__init__(parent, title)
        self._bridge = bridge
        self._checkpoint = item_name(item.number)
        self._parent = self._suggested = ""
        self._call: Call | None = None
        choices = [("peft", tr("Adapter")), ("merged", tr("Whole model")), ("gguf", tr("GGUF"))]
        self._format = Segments(tr("Format"), choices, "peft")
        self._format.chosen.connect(self._change_format)
        self._about = Label(_about("peft"), "caption")
        self._folder = line(longest=1000)
        self._folder.textChanged.connect(self._show_what_can_be)
        self.choose = Button(tr("Choose"), self._choose, icon="folder")
        self._said = Banner()
        self._bar = Progress()
        self._bar.setAccessibleName(tr("Writing"))
        keeping_place(self._bar).hide()
        where = labelled(tr("Folder"), self._folder, tr("A new or empty folder."))
        self.add(labelled(tr("Format"), self._format), self._about, where, row(self.choose, 1), self._said, self._bar)
        self.back = Button(tr("Cancel"), self.reject)
        self.ok = Button(tr("Export"), self._begin, kind="primary")
        self.add_buttons(self.back, self.ok)
        self._show_what_can_be()

    @property
    def _writes(self) -> bool:
        return self._call is not None and not self._call.done()

    def _show_what_can_be(self) -> None:
        """While files are written, no other choice or export is possible."""
        for part in (self._format, self._folder, self.choose):
            part.setEnabled(not self._writes)
        self.ok.setEnabled(not self._writes and bool(self._folder.text().strip()))

    def _choose(self) -> None:
        if folder := ask_folder(self, tr("Export to")):
            self._parent = folder
            self._suggest()

    def _change_format(self, which: str) -> None:
        self._about.setText(_about(which))
        if self._parent and self._folder.text() == self._suggested:
            self._suggest()

    def _suggest(self) -> None:
        """A new folder inside the chosen one, which need not be empty."""
        self._suggested = str(Path(self._parent) / f"sapo-{self._format.current}-{self._checkpoint}")
        self._folder.setText(self._suggested)

    def _begin(self) -> None:
        self._bar.show()
        self.back.set_text(tr("Cancel"))
        self._said.say("")
        to = str(Path(self._folder.text().strip()).expanduser())
        wanted = {"format": self._format.current, "to": to, "checkpoint": self._checkpoint}
        self._call = self._bridge.ask(msgspec.convert(wanted, ExportModel), self._done, self._failed, of=self)
        self._show_what_can_be()

    def reject(self) -> None:
        """However it is closed, a running export is cancelled."""
        if self._call is not None:
            self._call.cancel()
        super().reject()

    def _done(self, reply: Exported) -> None:
        self._bar.hide()
        said = tr("%n file(s) written to {folder}: {files}", None, len(reply.files)).format(
            folder=one_line(reply.folder), files=one_line(", ".join(reply.files))
        )
        self._said.say(said, "accent")
        self.back.set_text(tr("Close"))
        self._show_what_can_be()

    def _failed(self, error: SapoError) -> None:
        self._bar.hide()
        self._said.say(in_words(error), "danger")
        self._show_what_can_be()


def item_name(number: int) -> str:
    """A checkpoint's name in requests."""
    return str(number) if number else "base"


def _about(which: str) -> str:
    return {
        "peft": tr(
            "Only what was learned, in a small file. The peft library applies it to the model that it was trained on."
        ),
        "merged": tr("The whole model including what it learned, for transformers and servers such as vLLM."),
        "gguf": tr(
            "For llama.cpp, LM Studio and Ollama: the whole model including what it learned, in one "
            "file. If the model is a GGUF file already, you get an adapter for that file."
        ),
    }[which]
