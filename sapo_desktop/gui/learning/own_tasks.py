"""Questions of one's own: a CSV file is looked at, added as a family, and removed. The worker reads and checks it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.learning.task_choice import OwnFamily, own_families
from sapo_desktop.gui.link.bridge import Asks
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.dialog import Sheet, confirm
from sapo_desktop.gui.widgets.files import ask_open_path
from sapo_desktop.gui.widgets.layout import Flow, column, holding, row
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.text import Elided, Label, Reading
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.plain import plain
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.replies import Ok, Tasks, TasksRead
from sapo_desktop.worker.control.messages.requests import AddTasks, ReadTasks, RemoveTasks


class OwnTasks(QWidget):
    """The own families, a row each, and the way to add one.

    Signals:
        changed: a file came or went; the node takes it up now or later.
    """

    changed = Signal()

    def __init__(self, view: View, bridge: Asks) -> None:
        super().__init__()
        self._view, self._bridge = view, bridge
        self._shown: list[TaskContent] = []
        self.awaits_node = False
        """Whether a file came or went that the worker's list does not show yet."""
        self.banner = Banner()
        self.left_out = Banner(tone="warning")
        self.add_button = Button(tr("Add your own questions"), self._choose, icon="plus")
        self._rows = QVBoxLayout()
        self._rows.setSpacing(8)
        about = tr(
            "A CSV file with the columns question and answer is a task like the others. It works in silo and in "
            "private swarms; in the public swarm it stays on this computer."
        )
        self.setLayout(
            column(
                Label(tr("Your own questions"), "strong"),
                Label(about, "muted"),
                self.banner,
                self.left_out,
                self._rows,
                holding(Flow(self.add_button)),
            )
        )

    def refresh(self) -> None:
        """The link may have changed."""
        self.setEnabled(self._view.attached)

    def show_tasks(self, reply: Tasks) -> None:
        """The worker's list."""
        self.left_out.say(" ".join(map(in_words, map(plain, reply.left_out))))
        # By content: a file may take the place of one with as many questions.
        there = [TaskContent(item.family, item.title, item.level, item.config) for item in reply.items if item.own]
        if there != self._shown:
            self._shown = there
            self.awaits_node = False
            self.banner.say("")  # what it promised is so now
            self._make_rows(own_families(reply.items))

    def _make_rows(self, families: list[OwnFamily]) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for family in families:
            self._rows.addWidget(OwnLine(family, partial(self._remove, family)))

    def _choose(self) -> None:
        path = ask_open_path(self, tr("Add your own questions"), "CSV (*.csv *.CSV)")
        if path:
            self.add_button.setEnabled(False)
            self._bridge.ask(ReadTasks(path=path), partial(self._read, path), self._failed, of=self)

    def _read(self, path: str, reply: TasksRead) -> None:
        self.add_button.setEnabled(True)
        self.banner.say("")
        AddSheet(self, self._bridge, path, plain(reply), self._done, self._failed).open()

    def _remove(self, family: OwnFamily) -> None:
        about = tr("The copy of the file in this node's folder is deleted. What was learned from it stays.")
        if confirm(self, tr("Remove {name}?").format(name=family.title), about, tr("Remove"), kind="danger"):
            self._bridge.ask(RemoveTasks(name=family.name), self._done, self._failed, of=self)

    def _done(self, reply: Ok) -> None:
        self.banner.say(in_words(reply.text), "accent")
        self.awaits_node = True
        self.changed.emit()

    def _failed(self, error: SapoError) -> None:
        self.add_button.setEnabled(True)
        self.banner.say(in_words(error), "danger")


class TaskContent(NamedTuple):
    """What a level of an own family consists of: its results, which change with every round, are left out."""

    family: str
    title: str
    level: str
    config: dict[str, object]


class OwnLine(QWidget):
    """One own family."""

    def __init__(self, family: OwnFamily, remove: Callable[[], object]) -> None:
        super().__init__()
        count = Label(tr("%n question(s)", None, family.questions), "caption")
        button = Button(tr("Remove"), remove, icon="trash")
        button.setAccessibleName(tr("Remove {name}").format(name=family.title))
        self.setLayout(row((column(Elided(family.title), count, spacing=0), 1), button, spacing=1.5))


class AddSheet(Sheet):
    """What the file has, before it is added.

    It may be closed while the file is added. `done` is told what came of it in any case, `failed` where the sheet is
    closed; they live as long as `parent`.
    """

    def __init__(
        self,
        parent: QWidget,
        bridge: Asks,
        path: str,
        read: TasksRead,
        done: Callable[[Ok], object],
        failed: Callable[[SapoError], object],
    ) -> None:
        super().__init__(parent, tr("Add your own questions"), in_words(read.text))
        self._parent, self._bridge, self._path, self._done, self._refused = parent, bridge, path, done, failed
        self._closed = False
        self.finished.connect(self._close)
        self.banner = Banner(tone="danger")
        self.ok = Button(tr("Add"), self._add, kind="primary")
        some = "\n\n".join(f"{pair.question}\n→ {pair.answer}" for pair in read.first)
        self.add(
            Label(tr("Some of them, with their answers"), "strong"),
            Reading(tr("Some of them, with their answers"), some, lines=9),
            Label(
                tr(
                    "Own tasks work in silo and in private swarms. Members who have the same file share answers to "
                    "it; in the public swarm nothing of it is told or sent."
                ),
                "muted",
            ),
        )
        if read.replaces:
            self.add(Banner(tr("A family of this name is there already. This file takes its place."), "warning"))
        self.add(self.banner)
        self.back = Button(tr("Cancel"), self.reject)
        self.add_buttons(self.back, self.ok)
        self.ok.setFocus()

    def _add(self) -> None:
        self.ok.setEnabled(False)
        self.back.set_text(tr("Close"))  # the file is on its way and not held back any more
        self._bridge.ask(AddTasks(path=self._path), self._added, self._failed, of=self._parent)

    def _close(self) -> None:
        self._closed = True  # Qt's part of it goes soon, so no widget of it is touched from now on

    def _added(self, reply: Ok) -> None:
        self._done(reply)
        if not self._closed:
            self.accept()

    def _failed(self, error: SapoError) -> None:
        if self._closed:
            self._refused(error)
            return
        self.ok.setEnabled(True)
        self.back.set_text(tr("Cancel"))
        self.banner.say(in_words(error))
