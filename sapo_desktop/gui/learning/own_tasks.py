"""Own questions: a CSV file is previewed, added as a family, and removed. The worker reads and checks it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QVBoxLayout, QWidget

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.learning.task_choice import by_family
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.widgets.buttons import Button, ChoiceCard
from sapo_desktop.gui.widgets.dialog import Sheet, confirm
from sapo_desktop.gui.widgets.files import ask_open_path
from sapo_desktop.gui.widgets.layout import Flow, column, holding, row
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.text import Elided, Label, Reading
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.view.plain import plain
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.replies import TaskInfo, Tasks, TasksRead
from sapo_desktop.worker.control.messages.requests import AddTasks, ReadTasks, RemoveTasks


class OwnTasks(QWidget):
    """The own families, a row each, and the button to add one.

    Signals:
        changed: a file was added or removed; the node loads it now or later.
    """

    changed = Signal()

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__()
        self._view, self._bridge = view, bridge
        self._shown: list[tuple[str, str, str, dict[str, object]]] = []
        self.awaits_node = False
        """Whether a file was added or removed that the worker's list does not show yet."""
        self.banner = Banner()
        self.left_out = Banner(tone="warning")
        self.add_button = Button(tr("Add your own questions"), self._choose, icon="plus")
        self._rows = QVBoxLayout()
        self._rows.setSpacing(8)
        about = tr(
            "A CSV file with the columns question and answer becomes a task like the others. It works in "
            "silo and in private swarms; in the public swarm it stays on this computer."
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
        own = [item for item in reply.items if item.own]
        # By content, because a file may replace one with as many questions. Results change with every round.
        there = [(item.family, item.title, item.level, item.config) for item in own]
        if there != self._shown:
            self._shown = there
            self.awaits_node = False
            self.banner.say("")  # its announcement has come true
            self._make_rows(by_family(own))

    def _make_rows(self, families: Mapping[str, Sequence[TaskInfo]]) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for family, levels in families.items():
            title = one_line(levels[0].title, 60)
            questions = sum(rows for level in levels if isinstance(rows := level.config.get("rows"), int))
            self._rows.addWidget(OwnLine(title, questions, partial(self._remove, family, title)))

    def _choose(self) -> None:
        kinds = "*.csv *.CSV *.tsv *.TSV *.jsonl *.JSONL"
        path = ask_open_path(self, tr("Add your own questions"), f"CSV, TSV, JSON lines ({kinds})")
        if path:
            self._look(AddTasks(path=path))

    def _look(self, add: AddTasks) -> None:
        self.add_button.setEnabled(False)
        request = ReadTasks(path=add.path, answers=add.answers, encoding=add.encoding)
        self._bridge.ask(request, partial(self._read, add), self._failed, of=self)

    def _read(self, add: AddTasks, reply: TasksRead) -> None:
        self.add_button.setEnabled(True)
        self.banner.say("")
        read = plain(reply)
        if read.choices:
            ChoiceSheet(self, read, lambda value: self._look(replace(add, **{read.asked: value}))).open()
        else:
            AddSheet(self, self._bridge, add, read, self._done, self._failed).open()

    def _remove(self, family: str, title: str) -> None:
        about = tr("The node's copy of the file is deleted. What your model learned from it stays.")
        if confirm(self, tr("Remove {name}?").format(name=title), about, tr("Remove"), kind="danger"):
            self._bridge.ask(RemoveTasks(name=family), self._done, self._failed, of=self)

    def _done(self, reply: Ok) -> None:
        self.banner.say(in_words(reply.text), "accent")
        self.awaits_node = True
        self.changed.emit()

    def _failed(self, error: SapoError) -> None:
        self.add_button.setEnabled(True)
        self.banner.say(in_words(error), "danger")


class OwnLine(QWidget):
    """One own family."""

    def __init__(self, title: str, questions: int, remove: Callable[[], object]) -> None:
        super().__init__()
        count = Label(tr("%n question(s)", None, questions), "caption")
        button = Button(tr("Remove"), remove, icon="trash")
        button.setAccessibleName(tr("Remove {name}").format(name=title))
        self.setLayout(row((column(Elided(title), count, spacing=0), 1), button, spacing=1.5))


class ChoiceSheet(Sheet):
    """The ways in which a file can be read; `chosen` is called with the selected value."""

    def __init__(self, parent: QWidget, read: TasksRead, chosen: Callable[[str], object]) -> None:
        super().__init__(parent, tr("How should this file be read?"), in_words(read.text))
        self._chosen = chosen
        self._group = QButtonGroup(self)
        self._cards: dict[str, ChoiceCard] = {}
        self.ok = Button(tr("Continue"), self._continue, kind="primary")
        self.ok.setEnabled(False)
        for choice in read.choices:
            shown = (f"{row.question} → {row.answer}" if row.answer else row.question for row in choice.first)
            card = ChoiceCard(self._group, in_words(choice.label), "\n".join(shown))
            card.chosen.connect(partial(self.ok.setEnabled, True))
            self._cards[choice.value] = card
        self.add(*self._cards.values())
        self.add_buttons(Button(tr("Cancel"), self.reject), self.ok)

    def _continue(self) -> None:
        value = next(value for value, card in self._cards.items() if card.radio.isChecked())
        self.accept()
        self._chosen(value)


class AddSheet(Sheet):
    """The content of a file, before it is added.

    It may be closed while the file is added. `done` is called with the result in any case, `failed` if the sheet is
    closed; both live as long as `parent`.
    """

    def __init__(
        self,
        parent: QWidget,
        bridge: Bridge,
        request: AddTasks,
        read: TasksRead,
        done: Callable[[Ok], object],
        failed: Callable[[SapoError], object],
    ) -> None:
        super().__init__(parent, tr("Add your own questions"), in_words(read.text))
        self._parent, self._bridge, self._request, self._done, self._refused = parent, bridge, request, done, failed
        self._closed = False
        self.finished.connect(self._close)
        self.banner = Banner(tone="danger")
        self.ok = Button(tr("Add"), self._add, kind="primary")
        some = "\n\n".join(f"{pair.question}\n→ {pair.answer}" for pair in read.first)
        self.add(
            Label(tr("Some of them with their answers"), "strong"),
            Reading(tr("Some of them with their answers"), some, lines=9),
            Label(
                tr(
                    "Own tasks work in silo and in private swarms. Members with the same file share answers to "
                    "it. In the public swarm, nothing about it is sent."
                ),
                "muted",
            ),
        )
        if read.replaces:
            self.add(Banner(tr("A family with this name exists already. This file replaces it."), "warning"))
        self.add(self.banner)
        self.back = Button(tr("Cancel"), self.reject)
        self.add_buttons(self.back, self.ok)
        self.ok.setFocus()

    def _add(self) -> None:
        self.ok.setEnabled(False)
        self.back.set_text(tr("Close"))  # the file is being added and cannot be held back any more
        self._bridge.ask(self._request, self._added, self._failed, of=self._parent)

    def _close(self) -> None:
        self._closed = True  # Qt's part of it will be deleted, so no widget of it is touched from now on

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
