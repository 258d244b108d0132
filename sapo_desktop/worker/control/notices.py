"""What the node said to people, kept over its starts: the window's log page shows it."""

from __future__ import annotations

import logging
from collections import deque
from pathlib import Path

import msgspec

from sapo_desktop.system.logs import add_line, log_tail
from sapo_desktop.worker.control.messages.facts import LONGEST_NOTICES, Notice

log = logging.getLogger(__name__)

MOST = 200


class KeptNotices:
    """The newest ones. `path`: the file, which a window writes to as well."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unwritten: deque[Notice] = deque(maxlen=MOST)

    def add(self, notice: Notice) -> None:
        """Keep it; where the disk takes nothing, for as long as this process lives."""
        try:
            add_line(self._path, msgspec.json.encode(notice), LONGEST_NOTICES)
        except OSError as error:
            log.warning("A notice is not kept on disk: %s", error)
            self._unwritten.append(notice)

    def newest(self) -> list[Notice]:
        """Oldest first. A line that is none, as of a write that a power cut ended, is left out."""
        found = [*self._unwritten]
        for line in self._lines():
            try:
                found.append(msgspec.json.decode(line, type=Notice))
            except msgspec.DecodeError as error:
                log.info("%s has a line that is no notice: %s", self._path, error)
        return sorted(found, key=lambda notice: notice.time)[-MOST:]

    def _lines(self) -> list[str]:
        try:
            return log_tail(self._path, MOST)
        except OSError as error:
            log.warning("The notices that are kept cannot be read: %s", error)
            return []
