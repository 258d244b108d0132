"""A list and what is picked from it: beside each other where there is room, else below each other."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

from sapo_desktop.gui import theme
from sapo_desktop.gui.theme import grid


class Split(QWidget):
    """Two parts. `shares`: of the width, where they stand beside each other; `narrowest`: pixels for that, at 100%."""

    def __init__(
        self, first: QWidget, second: QWidget, *, narrowest: int = 760, shares: tuple[int, int] = (3, 2), gap: float = 2
    ) -> None:
        super().__init__()
        self._narrowest = narrowest
        self._box = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(grid(gap))
        for part, share in zip((first, second), shares, strict=True):
            # The shares alone decide about the width, whatever a part would like to have.
            part.setSizePolicy(QSizePolicy.Policy.Ignored, part.sizePolicy().verticalPolicy())
            self._box.addWidget(part, share)

    @property
    def is_beside(self) -> bool:
        return self._box.direction() is QBoxLayout.Direction.LeftToRight

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        needed = self._narrowest * max(1.0, theme.looks().text_percent / 100)
        beside = event.size().width() >= needed
        way = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if self._box.direction() is not way:
            self._box.setDirection(way)
        super().resizeEvent(event)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        # Without this two parts beside each other would keep the page as wide as it once was.
        return QSize(0, super().minimumSizeHint().height())
