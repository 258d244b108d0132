"""The layout of a page: a scrolling column of cards on one grid, no wider than comfortable to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QLayoutItem,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from sapo_desktop.gui.look.theme import grid, looks, scaled
from sapo_desktop.gui.widgets.text import Label, Role

WIDEST = 1180
"""Pixels of a page's column at 100%; longer lines are hard to read."""
WIDE = 1600
"""The same for a page with more to see than to read: charts and tables."""


Part = QWidget | QLayout | int | tuple[QWidget | QLayout, int]
"""Content of a box: a whole number is a stretch, a pair a part with its share of the remaining room."""
Some = TypeVar("Some", bound=QWidget)
Box = TypeVar("Box", QVBoxLayout, QHBoxLayout)


def column(*parts: Part, spacing: float = 1.0, margins: Sequence[int] = (0, 0, 0, 0)) -> QVBoxLayout:
    """Parts below each other."""
    return _filled(QVBoxLayout(), parts, spacing, margins)


def row(*parts: Part, spacing: float = 1.0, margins: Sequence[int] = (0, 0, 0, 0)) -> QHBoxLayout:
    """Parts next to each other."""
    return _filled(QHBoxLayout(), parts, spacing, margins)


def holding(layout: QLayout) -> QWidget:
    """A plain widget with this layout."""
    widget = QWidget()
    layout.setContentsMargins(0, 0, 0, 0)
    widget.setLayout(layout)
    return widget


def keeping_place(widget: Some) -> Some:
    """Like `holding`, but keeps its place while hidden: nothing moves when it appears."""
    keep = widget.sizePolicy()
    keep.setRetainSizeWhenHidden(True)
    widget.setSizePolicy(keep)
    return widget


def scrolling(widget: QWidget) -> QScrollArea:
    """Like `holding`, but scrolls if it has too little height. The area itself is no Tab stop."""
    area = QScrollArea()
    _scroll(area, widget)
    return area


def rule() -> QFrame:
    """A thin line."""
    line = QFrame()
    line.setProperty("role", "rule")
    line.setFixedHeight(1)
    return line


class Card(QFrame):
    """A framed part of a page, with an optional title."""

    def __init__(self, title: str = "", about: str = "", *, role: Literal["card", "well"] = "card") -> None:
        super().__init__()
        self.setProperty("role", role)
        inside = grid(2.5) if role == "card" else grid(1.5)
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(inside, inside - grid(0.5), inside, inside)
        self.body.setSpacing(grid(1.5))
        self.corner = QHBoxLayout()
        """At the right of the title: a button, a chip."""
        self.corner.setSpacing(grid(0.5))
        self.title = Label(title, "subtitle")
        self.about = Label(about, "muted")
        if title:
            self.body.addLayout(row((self.title, 1), self.corner))
            self.setAccessibleName(title)
        if about:
            self.body.addWidget(self.about)

    def add(self, *parts: Part) -> None:
        _add(self.body, parts)


class PageColumn(QScrollArea):
    """The scrolling column of a page. New parts are added at the bottom."""

    widest = WIDEST
    """WIDE for pages with little text."""

    def __init__(self, title: str, about: str = "") -> None:
        super().__init__()
        inner = QWidget()
        inner.setProperty("role", "page")
        self.box = QVBoxLayout()
        self.box.setSpacing(grid(2))
        self.corner = QHBoxLayout()
        self.corner.setSpacing(grid(1))
        self.heading = Label(title, "title", wrap=False)
        self.about = Label(about, "muted")
        # Added without a title, too: a nested layout without an owner crashes the program when both are collected.
        self._head = row(self.heading, 1, self.corner)
        self.box.addLayout(self._head)
        self.heading.setVisible(bool(title))
        if about:
            self.box.addWidget(self.about)
        outer = QHBoxLayout(inner)
        outer.setContentsMargins(grid(3), grid(2.5), grid(3), grid(1.5))
        self._middle = QWidget()
        self._middle.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._bound()
        looks().changed.connect(self._bound)
        self._below = QVBoxLayout(self._middle)
        self._below.setContentsMargins(0, 0, 0, 0)
        self._below.addLayout(self.box)
        self._below.addStretch(1)
        outer.addWidget(self._middle, 1)
        _scroll(self, inner)

    def add(self, *parts: Part) -> None:
        _add(self.box, parts)

    def fill(self) -> None:
        """Parts added with a share fill the remaining height."""
        for at, share in enumerate((1, 0)):
            self._below.setStretch(at, share)

    def focusNextPrevChild(self, following: bool) -> bool:  # noqa: N802
        """A pressed control that vanishes or is disabled passes the focus to its nearest visible neighbour. The next
        one in Tab order may be at the other end of the page, which would scroll there."""
        gone = QApplication.focusWidget()
        if gone is None or (gone.isVisible() and gone.isEnabled()):
            return super().focusNextPrevChild(following)
        around = gone.parentWidget()
        while around is not None and around is not self:
            for near in around.findChildren(QWidget):
                if near.isVisible() and near.isEnabled() and near.focusPolicy() & Qt.FocusPolicy.TabFocus:
                    near.setFocus()
                    return True
            around = around.parentWidget()
        return super().focusNextPrevChild(following)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """The part at the right of the heading moves below it if there is no room."""
        wanted = self.heading.sizeHint().width() + self.corner.sizeHint().width() + grid(7)
        wide = wanted <= event.size().width()
        self._head.setDirection(QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom)
        super().resizeEvent(event)

    def _bound(self) -> None:
        self._middle.setMaximumWidth(scaled(self.widest))


class Columns(QWidget):
    """Cards side by side if there is room for `narrowest` pixels each (more with larger text), otherwise below each
    other. `shares`: of the width when all are side by side."""

    def __init__(self, *cards: QWidget, narrowest: int = 340, most: int = 3, shares: Sequence[int] = (1,) * 6) -> None:
        super().__init__()
        self._cards = list(cards)
        self._narrowest, self._most, self._shares = narrowest, most, shares
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(grid(2))
        self._across = 0
        self._place(1)

    def arrange(self) -> None:
        """Cards were hidden or shown: close the gaps."""
        self._across = 0
        self._place(self._room(self.width()))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        self._place(self._room(event.size().width()))
        super().resizeEvent(event)

    def _room(self, width: int) -> int:
        """Cards per row: as many as fit, in rows that are as even as possible."""
        shown = max(1, sum(not _taken_out(card) for card in self._cards))
        narrowest = round(self._narrowest * max(1.0, looks().text_percent / 100))
        fit = max(1, min(self._most, shown, (width + grid(2)) // narrowest))
        return -(-shown // -(-shown // fit))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        # Otherwise the row of cards would keep the page at its former width.
        return QSize(0, super().minimumSizeHint().height())

    def _place(self, across: int) -> None:
        if across == self._across:
            return
        for at in range(self._most):
            self._grid.setColumnStretch(at, self._shares[at] if at < across else 0)
        self._across = across
        for at, card in enumerate(card for card in self._cards if not _taken_out(card)):
            self._grid.addWidget(card, at // across, at % across)


def _taken_out(card: QWidget) -> bool:
    """Whether it was hidden on purpose; a widget that was never shown is hidden, too."""
    return card.isHidden() and card.testAttribute(Qt.WidgetAttribute.WA_WState_ExplicitShowHide)


class Flow(QLayout):
    """Small parts side by side, continued in further lines of about one length: chips, buttons."""

    def __init__(self, *parts: QWidget, spacing: int = 8, centred: bool = False) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self._space = spacing
        self._centred = centred
        for part in parts:
            self.addWidget(part)

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # noqa: N802
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: N802
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:  # noqa: N802
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        return self._arrange(QRect(0, 0, width, 0), place=False)

    def sizeHint(self) -> QSize:  # noqa: N802
        """All in one line."""
        sizes = [item.sizeHint() for item in self._items if not item.isEmpty()]
        wide = sum(size.width() + self._space for size in sizes) - self._space
        return QSize(max(0, wide), max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:  # noqa: N802
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def setGeometry(self, rect: QRect) -> None:  # noqa: N802
        super().setGeometry(rect)
        self._arrange(rect, place=True)

    def _arrange(self, rect: QRect, *, place: bool) -> int:
        y = rect.y()
        for line in self._lines(rect.width()):
            sizes = [_at_most(item, rect.width()) for item in line]
            high = max(size.height() for size in sizes)
            wide = sum(size.width() for size in sizes) + self._space * (len(line) - 1)
            x = rect.x() + (max(0, rect.width() - wide) // 2 if self._centred else 0)
            for item, size in zip(line, sizes, strict=True):
                if place:
                    middle = y + (high - size.height()) // 2
                    item.setGeometry(QRect(x, middle, size.width(), size.height()))
                x += size.width() + self._space
            y += high + self._space
        return max(0, y - self._space - rect.y())

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        """As few as possible, and none much shorter than the others: a single tab would look forgotten."""
        lines = self._filled(width)
        while len(lines) > 1:
            longest = max(sum(item.sizeHint().width() + self._space for item in line) for line in lines) - self._space
            if longest > width:  # a single part that is wider
                break
            width = longest - 1
            if len(shorter := self._filled(width)) > len(lines):
                break
            lines = shorter
        return lines

    def _filled(self, width: int) -> list[list[QLayoutItem]]:
        """Each line as full as it gets."""
        lines: list[list[QLayoutItem]] = []
        used = 0
        for item in self._items:
            if item.isEmpty():
                continue
            wide = item.sizeHint().width()
            if not lines or used + wide > width:
                lines.append([])
                used = 0
            lines[-1].append(item)
            used += wide + self._space
        return lines


def _at_most(item: QLayoutItem, width: int) -> QSize:
    """The size of a part in a line of that width; a text that is too long wraps."""
    size = item.sizeHint()
    if size.width() <= width:
        return size
    return QSize(width, item.heightForWidth(width) if item.hasHeightForWidth() else size.height())


class Figure(QWidget):
    """A number with its meaning below it."""

    def __init__(self, name: str, value: str = "–", about: str = "", *, role: Role = "title", lines: int = 0) -> None:
        """`lines`: how many lines of `about` keep their place."""
        super().__init__()
        self._name = name
        self._value = Label(value, role, wrap=False)
        self._about = Label(about, "caption", lines=lines)
        self._about.setAlignment(Qt.AlignmentFlag.AlignTop)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(2)
        box.addWidget(Label(name, "caption"))
        box.addWidget(self._value)
        box.addWidget(self._about)
        self._about.setVisible(bool(about))
        box.addStretch(1)
        self.setAccessibleName(f"{name}: {value} {about}".strip())

    def set(self, value: str, about: str | None = None) -> None:
        self._value.setText(value)
        if about is not None:
            self._about.setText(about)
            self._about.setVisible(bool(about))
        self.setAccessibleName(f"{self._name}: {value} {self._about.text()}".strip())


def _scroll(area: QScrollArea, inner: QWidget) -> None:
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(inner)


def _filled(box: Box, parts: Sequence[Part], spacing: float, margins: Sequence[int]) -> Box:
    box.setSpacing(grid(spacing))
    box.setContentsMargins(*margins)
    _add(box, parts)
    return box


def _add(box: QVBoxLayout | QHBoxLayout, parts: Sequence[Part]) -> None:
    for part in parts:
        if isinstance(part, int):
            box.addStretch(part)
            continue
        held, share = part if isinstance(part, tuple) else (part, 0)
        if isinstance(held, QLayout):
            box.addLayout(held, share)
        else:
            box.addWidget(held, share)
