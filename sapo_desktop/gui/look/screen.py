"""A window that fits its screen, including the frame, and paints only after its layout is complete."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QRect, QSize
from PySide6.QtGui import QScreen, QWindow
from PySide6.QtWidgets import QWidget

from sapo_desktop.gui.look import theme

_FRAME = QSize(16, 44)
"""The window manager's frame, if it is still unknown."""


def fitted(wanted: QSize, room: QSize, frame: QSize = _FRAME) -> QSize:
    """`wanted`, limited to the `room` without a frame. All in Qt's pixels, which a screen may scale."""
    return wanted.boundedTo(room - frame).expandedTo(QSize(1, 1))


def within(place: QRect, room: QRect) -> QRect:
    """`place` moved as little as possible into `room`; its top left corner takes precedence."""
    left = max(room.left(), min(place.left(), room.right() + 1 - place.width()))
    top = max(room.top(), min(place.top(), room.bottom() + 1 - place.height()))
    return QRect(left, top, place.width(), place.height())


_DEEPEST = 12
"""Nested layouts, from a page to its smallest part."""


def settle() -> None:
    """Give all parts of all windows the space that they need."""
    # Each call leaves the requests that it causes in outer layouts to the next one.
    for _ in range(_DEEPEST):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)


class WholeFrames(QObject):
    """Paints a window only after its parts have their space.

    Qt announces a change to each layout by an event, from the inside out, and paints in between. For a frame or two,
    which take long on a busy computer, new words would appear cut off.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() is QEvent.Type.UpdateRequest:
            settle()
        return False


class OnScreen(QObject):
    """Keeps a window on its screen: when it is shown, moves to another screen, or that changes.

    Args:
        first: its first size for text of 100%; larger text takes more.
        smallest: its minimum size, unless the screen is smaller.
    """

    def __init__(self, window: QWidget, first: tuple[int, int], smallest: tuple[int, int]) -> None:
        super().__init__(window)
        self._window = window
        self._first, self._smallest = QSize(*first), QSize(*smallest)
        self._handle: QWindow | None = None
        self._screen: QScreen | None = None
        window.installEventFilter(self)

    def place(self, room: QRect) -> None:
        """Give the window its first size, as far as `room` allows."""
        self._window.setMinimumSize(fitted(self._smallest, room.size()))
        self._window.resize(fitted(self._first * max(1.0, theme.looks().text_percent / 100), room.size()))

    def fit(self) -> None:
        """Fit the window into its screen."""
        window = self._window
        if window.isMaximized() or window.isFullScreen() or window.isMinimized():
            return
        room = window.screen().availableGeometry()
        framed, inner = window.frameGeometry(), window.geometry()
        frame = (framed.size() - inner.size()).expandedTo(QSize(0, 0))
        frame = frame if frame.height() else _FRAME
        window.setMinimumSize(fitted(self._smallest, room.size(), frame))
        size = fitted(window.size(), room.size(), frame)
        if size != window.size():
            window.resize(size)
        wanted = within(QRect(framed.topLeft(), size + frame), room).topLeft()
        if wanted != framed.topLeft():
            window.move(wanted)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() is QEvent.Type.Show:
            self._follow()
            self.fit()
        return False

    def _follow(self) -> None:
        handle = self._window.windowHandle()
        if handle is not self._handle and handle is not None:
            self._handle = handle
            handle.screenChanged.connect(self._moved)
        self._moved(self._window.screen())

    def _moved(self, screen: QScreen) -> None:
        if screen is self._screen:
            return
        if self._screen is not None:
            self._screen.availableGeometryChanged.disconnect(self._changed)
        self._screen = screen
        screen.availableGeometryChanged.connect(self._changed)
        self._changed()

    def _changed(self) -> None:
        if self._window.isVisible():
            self.fit()
