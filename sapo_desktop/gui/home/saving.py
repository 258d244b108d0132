"""Saves all finished rounds to a file, page by page, because the worker's history may exceed the window's memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from PySide6.QtCore import QObject

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.fields import RoundsFile
from sapo_desktop.worker.control.messages.replies import History
from sapo_desktop.worker.control.messages.requests import GetHistory


class SavedRounds(QObject):
    """One file. `path`: CSV, or if it ends in `.jsonl`, one JSON object per line. `over`: called at the end in any
    case; the bridge shows the result."""

    def __init__(self, parent: QObject, bridge: Bridge, path: Path, over: Callable[[], object]) -> None:
        super().__init__(parent)
        self._bridge, self._path, self._over = bridge, path, over
        self._stream: TextIO | None = None
        self._file: RoundsFile | None = None

    def start(self) -> None:
        try:
            self._stream = self._path.open("w", encoding="utf-8", newline="")
        except OSError as error:
            self._end(error.strerror or str(error))
            return
        self._file = RoundsFile(self._stream, as_csv=self._path.suffix.lower() != ".jsonl")
        self._ask(0)

    def _ask(self, after: int) -> None:
        self._bridge.ask(GetHistory(after=after), self._take, self._fail, of=self)

    def _take(self, page: History) -> None:
        assert self._file is not None
        try:
            self._file.add(page.rounds)
        except OSError as error:
            self._end(error.strerror or str(error))
            return
        if page.more and page.rounds:
            self._ask(page.rounds[-1].round)
        else:
            self._end("")

    def _fail(self, error: SapoError) -> None:
        self._end(in_words(error))

    def _end(self, why: str) -> None:
        """`why`: it could not be saved; empty on success."""
        if self._stream is not None:
            try:
                self._stream.close()
            except OSError as error:  # the unwritten rest
                why = why or error.strerror or str(error)
        if why:
            self._bridge.trouble.emit(tr("The rounds were not saved: {reason}").format(reason=why))
        else:
            count = self._file.count if self._file else 0
            self._bridge.said.emit(tr("Saved %n round(s) to {path}", None, count).format(path=self._path))
        self._over()
        self.deleteLater()
