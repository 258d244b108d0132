"""A list and what is picked from it: beside each other where there is room, else below each other."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

from sapo_desktop.gui.look import theme
from sapo_desktop.gui.look.theme import grid


class Split(QWidget):
    """Two parts. `shares`: of the width, where they stand beside each other; `narrowest`: pixels for that, at 100%."""

    def __init__(
        self, first: QWidget, second: QWidget, *, narrowest: int = 740, shares: tuple[int, int] = (3, 2), gap: float = 2
    ) -> None:
        super().__init__()
        self._layout = _SplitLayout(narrowest, shares, grid(gap))
        self._layout.addWidget(first)
        self._layout.addWidget(second)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self.setLayout(self._layout)

    @property
    def is_beside(self) -> bool:
        return self._layout.is_beside(self.width())


class _SplitLayout(QLayout):
    """Decides by the width alone, so that it knows its height before it is shown."""

    def __init__(self, narrowest: int, shares: tuple[int, int], gap: int) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self._narrowest, self._shares, self._gap = narrowest, shares, gap

    def is_beside(self, width: int) -> bool:
        return width >= self._narrowest * max(1.0, theme.looks().text_percent / 100)

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # noqa: N802
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: N802
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802
        return Qt.Orientation.Horizontal

    def hasHeightForWidth(self) -> bool:  # noqa: N802
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        return max((one.bottom() + 1 for one in self._places(QRect(0, 0, width, 0))), default=0)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(self.minimumSize().width(), self.heightForWidth(self._narrowest))

    def minimumSize(self) -> QSize:  # noqa: N802
        # The height follows from the width: what is needed below each other must not count beside each other.
        return QSize(max((item.minimumSize().width() for item in self._items), default=0), 0)

    def setGeometry(self, rect: QRect) -> None:  # noqa: N802
        super().setGeometry(rect)
        for item, place in zip(self._items, self._places(rect), strict=True):
            item.setGeometry(place)

    def _places(self, rect: QRect) -> list[QRect]:
        """Where the parts go. Beside each other both are as high as the higher one, or as the room."""
        if self.is_beside(rect.width()):
            left = (rect.width() - self._gap) * self._shares[0] // sum(self._shares)
            widths = (left, rect.width() - self._gap - left)
            heights = [_height(item, width) for item, width in zip(self._items, widths, strict=False)]
            high = max([rect.height(), *heights])
            edges = (rect.x(), rect.x() + left + self._gap)
            return [QRect(x, rect.y(), w, high) for x, w in zip(edges, widths, strict=True)][: len(self._items)]
        places, y = [], rect.y()
        for item in self._items:
            height = _height(item, rect.width())
            places.append(QRect(rect.x(), y, rect.width(), height))
            y += height + self._gap
        return places


def _height(item: QLayoutItem, width: int) -> int:
    wanted = item.heightForWidth(width) if item.hasHeightForWidth() else item.sizeHint().height()
    return max(wanted, item.minimumSize().height())
