"""The node's messages to people, stored across starts for the window's log page."""

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
    """The newest ones. `path`: the file, to which a window writes as well."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unwritten: deque[Notice] = deque(maxlen=MOST)

    def add(self, notice: Notice) -> None:
        """Store it; if the disk refuses, for the life of this process."""
        try:
            add_line(self._path, msgspec.json.encode(notice), LONGEST_NOTICES)
        except OSError as error:
            log.warning("A notice could not be stored on disk: %s", error)
            self._unwritten.append(notice)

    def newest(self) -> list[Notice]:
        """Oldest first. Invalid lines, as after a power cut, are left out."""
        found = [*self._unwritten]
        for line in self._lines():
            try:
                found.append(msgspec.json.decode(line, type=Notice))
            except msgspec.DecodeError as error:
                log.info("%s has an invalid line: %s", self._path, error)
        return sorted(found, key=lambda notice: notice.time)[-MOST:]

    def _lines(self) -> list[str]:
        try:
            return log_tail(self._path, MOST)
        except OSError as error:
            log.warning("The stored notices cannot be read: %s", error)
            return []
