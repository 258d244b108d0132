"""Deletes what the app stored, after a dialog that names what goes and what stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QButtonGroup, QWidget

from sapo_desktop.gui.widgets.buttons import Button, ChoiceCard
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.layout import Card, row
from sapo_desktop.gui.widgets.text import Label, Reading
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.system import erasing
from sapo_desktop.system.folders import DataFolder


class EraseCard(Card):
    """On the page Settings, below the group about storage. `erase`: does it, once the person has confirmed."""

    def __init__(self, folder: Path, erase: Callable[[erasing.What], object]) -> None:
        self.words = (
            tr("Delete data"),
            tr("Delete what this app stored: what was learned, models, your key, or everything."),
        )
        super().__init__(*self.words)
        self._folder, self._erase = folder, erase
        self.button = Button(tr("Choose what to delete"), self._ask, kind="danger", icon="trash")
        self.add(row(self.button, 1))

    def _ask(self) -> None:
        EraseSheet(self, self._folder, self._erase).open()


class EraseSheet(Sheet):
    """One of four choices, and every file or folder that goes, with its size."""

    def __init__(self, parent: QWidget, folder: Path, erase: Callable[[erasing.What], object]) -> None:
        about = tr("The node stops, SAPO Desktop closes, and the data is deleted. This cannot be undone.")
        super().__init__(parent, tr("Delete data"), about)
        self._folder, self._erase = DataFolder.at(folder), erase
        self._what: erasing.What | None = None
        self.choices: dict[erasing.What, ChoiceCard] = {}
        group = QButtonGroup(self)
        for what, title, words in _choices():
            choice = self.choices[what] = ChoiceCard(group, title, words)
            choice.chosen.connect(lambda what=what: self._choose(what))
            self.add(choice)
        self._total = Label(tr("Choose one to see which files are deleted."), "strong", lines=1)
        self.list = Reading(tr("Files to be deleted"), lines=5)
        self.add(self._total, self.list)
        self.delete = Button(tr("Delete and close"), self._confirmed, kind="danger")
        self.delete.setEnabled(False)
        back = Button(tr("Cancel"), self.reject)
        self.add_buttons(back, self.delete, default=back)
        back.setFocus()

    def _choose(self, what: erasing.What) -> None:
        self._what = what
        sizes = {path: erasing.size(path) for path in erasing.places(self._folder, [what])}
        total = numbers.size(sum(sizes.values()))
        self._total.setText(
            tr("To be deleted: {size}").format(size=total) if sizes else tr("Nothing of that is there.")
        )
        self.list.set_text("\n".join(f"{path}  ({numbers.size(size)})" for path, size in sizes.items()))
        self.delete.setEnabled(bool(sizes))

    def _confirmed(self) -> None:
        assert self._what is not None
        self.accept()
        self._erase(self._what)


def _choices() -> list[tuple[erasing.What, str, str]]:
    """What can go, its name, and what goes and stays."""
    return [
        (
            "learned",
            tr("What was learned"),
            tr("Deletes checkpoints, rounds and scores of all models. Keeps models, settings and your key."),
        ),
        (
            "models",
            tr("Models"),
            tr(
                "Deletes the models in this app's folder. Keeps what was learned, the starter, and models of other "
                "programs."
            ),
        ),
        (
            "identity",
            tr("Your key"),
            tr("Deletes the key that identifies this computer to peers. After the next start they see a new computer."),
        ),
        (
            "everything",
            tr("Everything"),
            tr(
                "Deletes all of this, settings, own tasks and the log. Keeps the app itself, files that you exported, "
                "and models of other programs."
            ),
        ),
    ]
