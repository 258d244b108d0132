"""The parts of a page that has several: a line of names, one of them in sight. Wraps where there is no room."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QWidget

from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.layout import Flow


class Tabs(QWidget):
    """Names side by side; arrow keys move among them. `chosen`: the value of the one that was pressed."""

    chosen = Signal(str)

    def __init__(self, name: str, choices: Sequence[tuple[str, str]], current: str = "") -> None:
        """`choices`: value and text of each."""
        super().__init__()
        self.setAccessibleName(name)
        self._buttons: dict[str, Button] = {}
        group = QButtonGroup(self)
        group.setExclusive(True)
        flow = Flow(spacing=4)
        for value, text in choices:
            button = Button(text, kind="quiet")
            button.setCheckable(True)
            button.setAccessibleName(f"{name}: {text}")
            button.clicked.connect(lambda _=False, chosen=value: self.chosen.emit(chosen))
            group.addButton(button)
            flow.addWidget(button)
            self._buttons[value] = button
        flow.setContentsMargins(0, 0, 0, 0)
        self.setLayout(flow)
        self.show_choice(current or choices[0][0])

    @property
    def current(self) -> str:
        return next((value for value, button in self._buttons.items() if button.isChecked()), "")

    def show_choice(self, value: str) -> None:
        """Show which part is in sight, without anybody being told."""
        if value in self._buttons:
            self._buttons[value].setChecked(True)
