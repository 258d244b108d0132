"""Tables of plain text: sorted by a click, copied with Ctrl-C, read out cell by cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.look import icons, theme
from sapo_desktop.gui.widgets.text import as_tooltip
from sapo_desktop.gui.words import numbers

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_NUMBER = re.compile(r"[+-]?\d[\d.,]*( ?[%\w]{1,3})?")
_LEAST_LETTERS = 7
"""Minimum of a column that takes the remaining room, in widths of an M."""
_SQUEEZED_LETTERS = 5
"""The same for a column that shrinks: one word is still readable."""
_LOOKED_AT = 40
"""Rows used to find a column's width."""
_AIR = 72
"""Extra pixels of a column, if there is room."""
_HEAD_ROOM = 40
"""Pixels of a heading besides its text: padding, and the sort arrow."""


@dataclass(frozen=True)
class Heading:
    """One column: its name, its text for a row, and its sort key (the text by default)."""

    name: str
    shown: Callable[[Any], str]
    order: Callable[[Any], Any] | None = None
    right: bool = False
    """Numbers are aligned right."""
    about: str = ""
    stretch: bool = False
    icon: Callable[[Any], tuple[str, str] | None] | None = None
    """Before the text: an icon's name, and its colour's name in the theme. The text says the same."""
    spare: int = 0
    """Above 0: left out if the table would have to scroll sideways, the highest first. The selection and the
    clipboard have the whole row."""


def number(
    name: str,
    value: Callable[[Any], Any],
    words: Callable[[Any], str] = numbers.count,
    about: str = "",
    *,
    spare: int = 0,
) -> Heading:
    """A column of numbers: shown by `words`, sorted by value, aligned right."""
    return Heading(name, lambda row: words(value(row)), value, right=True, about=about, spare=spare)


def icon_side() -> int:
    """Pixels of an icon in a cell."""
    return theme.pixels("body") + 2


class Rows(QAbstractTableModel):
    """Any records as rows."""

    def __init__(self, headings: Sequence[Heading]) -> None:
        super().__init__()
        self.headings = list(headings)
        self.rows: list[Any] = []

    def set_rows(self, rows: Sequence[Any]) -> None:
        """Replace the rows. Additions and removals happen at the end, so that a selection stays."""
        old, new = len(self.rows), len(rows)
        if new > old:
            self.beginInsertRows(QModelIndex(), old, new - 1)
            self.rows = list(rows)
            self.endInsertRows()
        elif new < old:
            self.beginRemoveRows(QModelIndex(), new, old - 1)
            self.rows = list(rows)
            self.endRemoveRows()
        else:
            self.rows = list(rows)
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, len(self.headings) - 1))

    def rowCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802
        return 0 if parent.isValid() else len(self.headings)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        heading, item = self.headings[index.column()], self.rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return one_line(heading.shown(item))
            case Qt.ItemDataRole.ToolTipRole:
                return as_tooltip(heading.shown(item))
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{heading.name}: {one_line(heading.shown(item))}"
            case Qt.ItemDataRole.TextAlignmentRole:
                side = Qt.AlignmentFlag.AlignRight if heading.right else Qt.AlignmentFlag.AlignLeft
                return int(side | Qt.AlignmentFlag.AlignVCenter)
            case Qt.ItemDataRole.DecorationRole if heading.icon is not None:
                named = heading.icon(item)
                return None if named is None else icons.icon(named[0], icon_side(), getattr(theme.current(), named[1]))
            case Qt.ItemDataRole.UserRole:
                return heading.order(item) if heading.order else heading.shown(item).casefold()
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: N802
        if orientation is Qt.Orientation.Vertical:
            return None
        heading = self.headings[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return heading.name
        if role == Qt.ItemDataRole.ToolTipRole:
            return as_tooltip(heading.about)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if heading.right else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None


class _Sorted(QSortFilterProxyModel):
    """The sort key of a column; missing values come last."""

    def lessThan(self, left: Index, right: Index) -> bool:  # noqa: N802
        one, other = left.data(Qt.ItemDataRole.UserRole), right.data(Qt.ItemDataRole.UserRole)
        none, other_none = one is None or one != one, other is None or other != other
        if none or other_none:
            # In reverse, missing values would come first.
            downwards = self.sortOrder() is Qt.SortOrder.DescendingOrder
            return (none, other_none) == ((True, False) if downwards else (False, True))
        return bool(one < other)


class Table(QTableView):
    """A table of records.

    Args:
        same: identifies a record's thing, so that a selection stays with it when rows are added, removed or changed.

    Signals:
        picked: the row chosen by a click or the Enter key.
        pointed: other rows are selected.
    """

    picked = Signal(object)
    pointed = Signal()

    def __init__(
        self,
        name: str,
        headings: Sequence[Heading],
        *,
        rows_shown: int = 8,
        same: Callable[[Any], Any] | None = None,
    ) -> None:
        super().__init__()
        self._same = same
        self._fitted = self._fitting = False
        self._drawn: dict[int, int] = {}
        """Columns that the user resized, and their widths in pixels."""
        self._hints: dict[int, int] = {}
        """Pixels that the rows of a column need: computed once for these rows, because Qt iterates over them."""
        self.setAccessibleName(name)
        self._rows = Rows(headings)
        self._sorted = _Sorted(self)
        self._sorted.setSourceModel(self._rows)
        self.setModel(self._sorted)
        self.setSortingEnabled(True)
        self.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.sectionResized.connect(lambda at, _old, width: self._resized(at, width))
        header.setResizeContentsPrecision(_LOOKED_AT)
        header.setStretchLastSection(not any(heading.stretch for heading in headings))
        for at, heading in enumerate(headings):
            if heading.stretch:
                header.setSectionResizeMode(at, QHeaderView.ResizeMode.Fixed)  # manual; `_fit_stretched` sets it
        self._rows_shown = rows_shown
        self._fit_height()
        theme.looks().changed.connect(self._fit_height)
        self.doubleClicked.connect(self._pick)
        self.selectionModel().selectionChanged.connect(lambda *_: self.pointed.emit())

    def set_rows(self, rows: Sequence[Any]) -> None:
        was_empty = not self._rows.rows
        selected = [] if self._same is None else [self._same(item) for item in self.selected()]
        self._rows.set_rows(rows)
        self._hints.clear()
        if was_empty and rows:
            self._fit_columns()
            self._fitted = self.isVisible()
        elif self._fitted and self._is_tight():
            self._fit_columns()
        if self._same is not None and [self._same(item) for item in self.selected()] != selected:
            self.select(selected)

    @property
    def rows(self) -> list[Any]:
        return self._rows.rows

    def item(self, index: QModelIndex) -> Any:
        """The record of a cell."""
        return self._rows.rows[self._sorted.mapToSource(index).row()]

    def selected(self) -> list[Any]:
        return [self.item(index) for index in self.selectionModel().selectedRows()]

    def select(self, things: Sequence[Any]) -> None:
        """Select the rows of exactly these things, identified by `same`."""
        assert self._same is not None
        self.clearSelection()
        rows = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
        for at, item in enumerate(self._rows.rows):
            if self._same(item) in things:
                index = self._sorted.mapFromSource(self._rows.index(at, 0))
                self.selectionModel().setCurrentIndex(index, rows)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._pick(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def copy(self) -> None:
        """The selected rows, or all, as text with tabs between the cells."""
        chosen = self.selected() or self._rows.rows
        lines = ["\t".join(heading.name for heading in self._rows.headings)]
        lines += ["\t".join(_for_a_sheet(heading.shown(item)) for heading in self._rows.headings) for item in chosen]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        if self._rows.rows and not self._fitted:
            self._fitted = True
            self._hints.clear()  # the font is known by now
            self._fit_columns()  # only now there is a width to fit into

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit_columns()

    def _pick(self, index: QModelIndex) -> None:
        self.picked.emit(self.item(index))

    # -- how wide columns are ----------------------------------------------------------------------------------

    def _fit_columns(self) -> None:
        """Make columns as wide as their content, with some extra if there is room. If there is not: first without the
        spare columns; then the widest text columns shrink, and their texts end in dots; finally the table scrolls."""
        headings = self._rows.headings
        wanted = {at: self._wanted(at) for at in range(len(headings))}
        self._fitting = True
        self._leave_out(wanted)
        fixed = {at: width for at, width in wanted.items() if not (headings[at].stretch or self.isColumnHidden(at))}
        room = self.viewport().width() - self._least_stretched()
        if sum(fixed.values()) > room:
            giving = {at: fixed[at] for at in fixed if not headings[at].right and at not in self._drawn}
            kept = sum(fixed.values()) - sum(giving.values())
            fixed |= _shared(room - kept, giving, _least(_SQUEEZED_LETTERS))
        else:
            # The remaining room is spread over all columns; otherwise the last one would be far from the others.
            stretched = sum(wanted[at] for at, heading in enumerate(headings) if heading.stretch)
            air = (self.viewport().width() - sum(fixed.values()) - stretched) // max(1, len(fixed))
            fixed = {at: width if at in self._drawn else width + max(0, min(_AIR, air)) for at, width in fixed.items()}
        for at, width in fixed.items():
            self.setColumnWidth(at, width)
        self._fit_stretched()
        self._fitting = False

    def _wanted(self, at: int) -> int:
        """Pixels in which a column shows everything, within reason; the user's own width takes precedence."""
        if at in self._drawn:
            return self._drawn[at]
        if at not in self._hints:
            self._hints[at] = self.sizeHintForColumn(at)
        heading, rows = self._rows.headings[at], self._hints[at] + 4
        if heading.stretch:
            return max(_least(), min(_widest(), rows))
        # Qt's own hint of a section ignores the smaller font of headings.
        head = QFontMetrics(theme.font("caption")).horizontalAdvance(heading.name) + _HEAD_ROOM
        return max(self.horizontalHeader().minimumSectionSize(), min(_widest(), max(rows, head)))

    def _is_tight(self) -> bool:
        """Whether rows need more room than their columns have."""
        shown = [at for at, one in enumerate(self._rows.headings) if not (one.stretch or self.isColumnHidden(at))]
        return any(self._wanted(at) > self.columnWidth(at) for at in shown)

    def _leave_out(self, wanted: dict[int, int]) -> None:
        """Show as many of the spare columns as fit, the most important first."""
        headings = self._rows.headings
        spare = sorted((at for at, heading in enumerate(headings) if heading.spare), key=lambda at: headings[at].spare)
        kept = [at for at in wanted if not (at in spare or headings[at].stretch or self.isColumnHidden(at))]
        left = self.viewport().width() - sum(wanted[at] for at in kept) - 2 * self._least_stretched()
        for at in spare:
            left -= wanted[at]
            self.setColumnHidden(at, left < 0)

    def _least_stretched(self) -> int:
        """Minimum pixels of the columns that take the remaining room."""
        return _least() * sum(heading.stretch for heading in self._rows.headings)

    def _fit_stretched(self) -> None:
        """The remaining room goes to the columns that take it; if it is too little, they get a readable width, and
        the table scrolls. Qt itself would let them vanish, or keep their former width."""
        stretched = [at for at, heading in enumerate(self._rows.headings) if heading.stretch]
        left = self.viewport().width() - sum(
            self.columnWidth(at) for at in range(len(self._rows.headings)) if at not in stretched
        )
        wanted = {at: self._wanted(at) for at in stretched}
        given = _shared(max(left, 0), wanted, _least())
        rest = max(0, left - sum(given.values())) // max(1, len(stretched))
        for at in stretched:
            self.setColumnWidth(at, given[at] + rest)

    def _resized(self, at: int, width: int) -> None:
        is_own = self._fitting or self._rows.headings[at].stretch
        if not is_own and self.isVisible() and QGuiApplication.mouseButtons():
            self._drawn[at] = width
            self._fit_stretched()

    def _fit_height(self) -> None:
        line = QFontMetrics(theme.font()).height() + 12
        head = QFontMetrics(theme.font("caption")).height() + 22
        self.verticalHeader().setDefaultSectionSize(line)
        self.setIconSize(QSize(icon_side(), icon_side()))
        self._hints.clear()
        self.setMinimumHeight(head + line * self._rows_shown + 4)


def _widest() -> int:
    """Pixels of the widest column with its natural width."""
    return round(260 * max(1.0, theme.looks().text_percent / 100))


def _least(letters: int = _LEAST_LETTERS) -> int:
    """Pixels of a column with that many letters, or with those of one that takes the remaining room."""
    return theme.pixels("body") * letters


def _shared(room: int, wanted: dict[int, int], least: int) -> dict[int, int]:
    """Distribute so many pixels: each column gets what it wants, if that is at most its share of what the smaller
    ones leave; never less than `least`, if it wants that."""
    given: dict[int, int] = {}
    left = room
    for at, width in sorted(wanted.items(), key=lambda item: item[1]):
        given[at] = min(width, max(least, left // (len(wanted) - len(given))))
        left -= given[at]
    return given


def _for_a_sheet(text: str) -> str:
    """A cell on the clipboard: a spreadsheet would read such a beginning as a formula, unless it is a number."""
    line = one_line(text, 4000)
    return f"'{line}" if line.startswith(("=", "+", "-", "@")) and not _NUMBER.fullmatch(line) else line
