"""One window per data folder: a second start asks the first to come to the front, and ends."""

from __future__ import annotations

import hashlib
import sys
import time
from functools import partial

from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.network.invite import LONGEST_LINK
from sapo_desktop.system.folders import DataFolder

_WAIT_MS = 500
_KNOCK_SECONDS = 5.0
"""For a first window that has only just started to listen."""
_LONGEST_PATH = 90
"""Bytes; a socket's path may have 107, on macOS 103."""


class SingleWindow(QObject):
    """The first window's socket. `raised`: somebody started the program again."""

    raised = Signal(str)
    """With the invite link of that start, or empty."""

    def __init__(self, folder: DataFolder) -> None:
        super().__init__()
        self._folder = folder
        # A lock decides who is first, also for two simultaneous starts; a dead window's lock is taken over.
        self._lock = QLockFile(str(folder.control / "window.lock"))
        self._lock.setStaleLockTime(0)
        self._name = _name(folder)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._hear)

    def is_first(self, link: str = "") -> bool:
        """Whether no other window has this folder; otherwise that one is raised, and gets the link.

        Raises:
            SapoError: another one has it and does not answer.
        """
        if self._lock.tryLock(0):
            return self._open_door()
        if self._lock.error() is not QLockFile.LockError.LockFailedError:  # a full disk: a window can report that
            return not self._knock(link) and self._open_door()
        until = time.monotonic() + _KNOCK_SECONDS
        while not self._knock(link):
            if time.monotonic() > until:
                raise SapoError(
                    "The window of {folder} is open already and does not answer. End it (process {pid}), then start "
                    "again.",
                    folder=str(self._folder.root),
                    pid=str(self._lock.getLockInfo()[0]),
                )
            time.sleep(0.1)
        return False

    def _open_door(self) -> bool:
        QLocalServer.removeServer(self._name)  # of a window that crashed
        self._server.listen(self._name)
        return True

    def close(self) -> None:
        """From now on another start is the first."""
        self._server.close()
        self._lock.unlock()

    def _knock(self, link: str) -> bool:
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if not socket.waitForConnected(_WAIT_MS):
            return False
        socket.write(link.encode())
        socket.disconnectFromServer()  # once everything is written
        if socket.state() is not QLocalSocket.LocalSocketState.UnconnectedState:
            socket.waitForDisconnected(_WAIT_MS)
        return True

    def _hear(self) -> None:
        while (caller := self._server.nextPendingConnection()) is not None:
            # Its message is complete when it disconnects.
            caller.disconnected.connect(partial(self._heard, caller))
            if caller.state() is QLocalSocket.LocalSocketState.UnconnectedState:
                self._heard(caller)

    def _heard(self, caller: QLocalSocket) -> None:
        link = bytes(caller.read(LONGEST_LINK).data()).decode("utf-8", "replace")
        caller.disconnected.disconnect()
        caller.deleteLater()
        self.raised.emit(link)


def _name(folder: DataFolder) -> str:
    """The socket's place: in the private folder, if its path is short enough for a socket."""
    path = str(folder.control / "window")
    if sys.platform != "win32" and len(path.encode()) <= _LONGEST_PATH:
        return path
    return f"sapo-desktop-{hashlib.sha256(path.encode()).hexdigest()[:24]}"
