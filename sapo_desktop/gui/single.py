"""One window for one data folder: a second start asks the first to come to the front, and ends."""

from __future__ import annotations

import getpass
import hashlib
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

_WAIT_MS = 1000


class SingleWindow(QObject):
    """The first window's door. `raised`: somebody started the program again."""

    raised = Signal()

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._name = _name(folder)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._hear)

    def is_first(self) -> bool:
        """Whether no other window has this folder; the one that has it is raised."""
        if self._knock():
            return False
        # What a window that crashed left behind would keep the name taken.
        QLocalServer.removeServer(self._name)
        if self._server.listen(self._name):
            return True
        return not self._knock()  # somebody was quicker

    def close(self) -> None:
        self._server.close()

    def _knock(self) -> bool:
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if not socket.waitForConnected(_WAIT_MS):
            return False
        socket.disconnectFromServer()
        return True

    def _hear(self) -> None:
        while (caller := self._server.nextPendingConnection()) is not None:
            caller.disconnected.connect(caller.deleteLater)
            caller.disconnectFromServer()
            self.raised.emit()


def _name(folder: Path) -> str:
    """The same for one folder and one user, whatever the folder is called."""
    who = f"{getpass.getuser()}\n{folder.resolve()}"
    return f"sapo-desktop-{hashlib.sha256(who.encode()).hexdigest()[:24]}"
