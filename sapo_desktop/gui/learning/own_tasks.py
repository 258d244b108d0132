"""Questions of one's own: a CSV file is looked at, added as a family, and removed. The worker reads and checks it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

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
    """The own families, a row each, and the way to add one."""

    def __init__(self, view: View, bridge: Asks) -> None:
        super().__init__()
        self._view, self._bridge = view, bridge
        self._shown: list[OwnFamily] = []
        self.waits = False
        """Whether the node is still to take up what was added or removed: its list has to be asked for again."""
        self.banner = Banner()
        self.left_out = Banner(tone="warning")
        self.add_button = Button(tr("Add own questions"), self._choose, icon="plus")
        self._rows = QVBoxLayout()
        self._rows.setSpacing(8)
        about = tr(
            "A CSV file with the columns question and answer is a task like the others. It works in silo and in "
            "private swarms; in the public swarm it stays on this computer."
        )
        self.setLayout(
            column(
                Label(tr("Own questions"), "strong"),
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
        families = own_families(reply.items)
        if families != self._shown:
            self._shown, self.waits = families, False
            self.banner.say("")  # what it promised is so now
            self._make_rows()

    def _make_rows(self) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for family in self._shown:
            self._rows.addWidget(OwnLine(family, partial(self._remove, family)))

    def _choose(self) -> None:
        path = ask_open_path(self, tr("Add own questions"), "CSV (*.csv *.CSV)")
        if path:
            self.add_button.setEnabled(False)
            self._bridge.ask(ReadTasks(path=path), partial(self._read, path), self._failed, of=self)

    def _read(self, path: str, reply: TasksRead) -> None:
        self.add_button.setEnabled(True)
        self.banner.say("")
        sheet = AddSheet(self, plain(reply))
        sheet.accepted.connect(partial(self._add, path))
        sheet.open()

    def _add(self, path: str) -> None:
        self.banner.say(tr("One moment"), "accent")
        self.add_button.setEnabled(False)
        self._bridge.ask(AddTasks(path=path), self._done, self._failed, of=self)

    def _remove(self, family: OwnFamily) -> None:
        about = tr("The copy of the file in this node's folder is deleted. What was learned from it stays.")
        if confirm(self, tr("Remove {name}?").format(name=family.title), about, tr("Remove"), kind="danger"):
            self._bridge.ask(RemoveTasks(name=family.name), self._done, self._failed, of=self)

    def _done(self, reply: Ok) -> None:
        self.waits = True
        self.add_button.setEnabled(True)
        self.banner.say(in_words(reply.text), "accent")

    def _failed(self, error: SapoError) -> None:
        self.add_button.setEnabled(True)
        self.banner.say(in_words(error), "danger")


class OwnLine(QWidget):
    """One own family."""

    def __init__(self, family: OwnFamily, remove: Callable[[], object]) -> None:
        super().__init__()
        count = Label(tr("%n question(s)", None, family.questions), "caption")
        button = Button(tr("Remove"), remove, icon="trash")
        button.setAccessibleName(tr("Remove {name}").format(name=family.title))
        self.setLayout(row((column(Elided(family.title), count, spacing=0), 1), button, spacing=1.5))


class AddSheet(Sheet):
    """What the file has, before it is added."""

    def __init__(self, parent: QWidget, read: TasksRead) -> None:
        super().__init__(parent, tr("Add own questions"), in_words(read.text))
        ok = Button(tr("Add"), self.accept, kind="primary")
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
        self.add_buttons(Button(tr("Cancel"), self.reject), ok)
        ok.setFocus()
