"""What to ask: an own question, or one from a task."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.learning.task_choice import FamilyRow, family_rows
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.try_it.trying import Draft, first_choice
from sapo_desktop.gui.widgets.buttons import Button, Segments
from sapo_desktop.gui.widgets.fields import Choice, Writing
from sapo_desktop.gui.widgets.layout import Card, Flow, column, holding
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.text import Label, Reading
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.titles import level_name
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.asking import QuestionSet, SetQuestion
from sapo_desktop.worker.control.messages.replies import TaskInfo, Tasks
from sapo_desktop.worker.control.messages.requests import ListTasks


class QuestionCard(Card):
    """The question and how it is answered.

    Signals:
        wanted: a Draft to be asked.
        stop: cancel the answers.
    """

    wanted = Signal(object)
    stop = Signal()

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__()
        self._view = view
        self._running = False
        self._source = Segments(
            tr("Where the question comes from"), [("own", tr("my own")), ("task", tr("a task's"))], "own"
        )
        self._source.chosen.connect(self._switch)
        hint = tr(
            "Enter a question. A small model knows little about the world; it has practised sums and small riddles."
        )
        self._own = Writing(tr("My question"), hint)
        self._own.sent.connect(self._ask)
        self._own.textChanged.connect(self._enable)
        self._task = TaskQuestion(bridge)
        self._task.changed.connect(self._enable)
        self._go = Button(tr("Ask both"), self._ask, kind="primary")
        self._stop = Button(tr("Stop"), self.stop.emit, icon="stop")
        self._how = Segments(
            tr("How the model chooses words"),
            [("greedy", tr("most likely words")), ("drawn", tr("random words"))],
            "greedy",
        )
        self._how.hint("greedy", tr("Same answer every time"))
        self._how.hint("drawn", tr("As in training: a different answer every time"))
        self._banner = Banner()
        head = Flow(Label(tr("Question:"), "muted", wrap=False), self._source)
        how = holding(Flow(Label(tr("Word choice:"), "muted", wrap=False), self._how))
        foot = Flow(self._go, self._stop, how)
        self.add(head, self._own, self._task, self._banner, foot)
        QShortcut(QKeySequence(Qt.Key.Key_Escape), self._stop, self.stop.emit)
        self._switch("own")

    def refresh(self, *, reload: bool) -> None:
        """The link or the state changed. `reload`: tasks may have been added or removed."""
        self._banner.say(
            "" if self._view.attached else tr("The node is not running, so it cannot answer. The page Home says why.")
        )
        if self._view.attached:
            self._task.load(reload=reload)
        self._task.setEnabled(self._view.attached)
        self._enable()

    def show_running(self, running: bool) -> None:
        """Whether answers are being given."""
        self._running = running
        self._enable()

    def begin(self) -> None:
        """Prepare for the first question of another chat."""
        self._switch("own")
        self._own.clear()
        self._own.setFocus()

    def take_over(self, former: QuestionCard) -> None:
        """Continue with the text typed into the same card of another language."""
        self._own.setPlainText(former._own.toPlainText())

    def ask_own(self, question: str) -> None:
        """Ask this."""
        self._switch("own")
        self._own.setPlainText(question)
        self._own.setFocus()  # the pressed button vanishes, and the focus would move to another page
        self._ask()

    def propose(self) -> None:
        """Draw a question of a task, to look at and ask."""
        self._switch("task")
        self._task.draw()

    def choose_task(self, family: str) -> None:
        self._switch("task")
        self._task.choose(family)

    def _switch(self, source: str) -> None:
        self._source.show_choice(source)
        self._own.setVisible(source == "own")
        self._task.setVisible(source == "task")
        self._enable()

    def _draft(self) -> Draft | None:
        greedy = self._how.current != "drawn"
        if self._source.current == "own":
            text = self._own.toPlainText().strip()
            return Draft(text, greedy) if text else None
        found = self._task.question
        return Draft(found.question, greedy, found.task, found.seed) if found else None

    def _enable(self) -> None:
        # The focus moves to an enabled control; Qt would move it to the next one in order.
        held = self._go.hasFocus() or self._stop.hasFocus()
        self._stop.setEnabled(self._running or held)
        ready = self._view.attached and not self._running and self._draft() is not None
        if held:
            (self._stop if not ready else self._go).setFocus()
        self._go.setEnabled(ready)
        if held and ready:
            self._go.setFocus()
        self._stop.setEnabled(self._running)

    def _ask(self) -> None:
        draft = self._draft()
        if draft is not None and self._go.isEnabled():
            self._own.selectAll()  # the next typed text replaces it
            self.wanted.emit(draft)


class TaskQuestion(QWidget):
    """A family, a level, and a question drawn from it.

    Signals:
        changed: another question, or none.
    """

    changed = Signal()

    def __init__(self, bridge: Bridge) -> None:
        super().__init__()
        self._bridge = bridge
        self._families: dict[str, FamilyRow] = {}
        self._awaited = ""
        """The family to choose once it is known."""
        self.question: QuestionSet | None = None
        self._family = Choice(tr("Task"))
        self._family.setMinimumContentsLength(18)
        self._family.chosen.connect(self._choose_family)
        self._level = Choice(tr("Level"))
        self._level.chosen.connect(lambda _: self._choose_level())
        self._draw = Button(tr("Pick a question"), self.draw, icon="refresh")
        self._about = Label("", "caption")
        self._text = Reading(tr("The task's question"), lines=4)
        self._form = Label("", "caption")
        self._banner = Banner(tone="warning")
        choose = Flow(self._family, self._level, self._draw)
        self.setLayout(column(choose, self._about, self._banner, self._text, self._form))
        self._show_question()

    def load(self, *, reload: bool = False) -> None:
        """Request the tasks, unless they are known."""
        if reload or not self._families:
            self._bridge.ask(ListTasks(examples=False), self._tasks_are, self._failed, of=self)

    def choose(self, family: str) -> None:
        """This one, now or once the tasks are known."""
        found = self._families.get(family)
        self._awaited = "" if found else family
        if found is not None:
            first = first_choice(found.levels)
            self._family.show_choice(family)
            self._choose_family(family, first.level if first else "")

    def draw(self) -> None:
        """Draw another question of the chosen task."""
        info = self._chosen()
        if info is None:
            self.load()
            return
        self._draw.setEnabled(False)
        self._bridge.ask(SetQuestion(task=f"{info.family}/{info.level}"), self._set, self._failed, of=self)

    def _tasks_are(self, reply: Tasks) -> None:
        self._banner.say("")
        rows = sorted(family_rows(reply.items), key=lambda row: row.title.casefold())
        self._families = {row.family: row for row in rows}
        before, first = self._family.current, first_choice(reply.items)
        self._family.set_choices([(row.family, row.title) for row in rows])
        if self._awaited in self._families:
            self.choose(self._awaited)
        elif before in self._families:
            self._choose_family(before, self._level.current)
        elif first is not None:
            self.choose(first.family)

    def _choose_family(self, name: str, level: str = "") -> None:
        family = self._families.get(name)
        levels = family.levels if family else ()
        self._level.set_choices([(info.level, level_name(info.level)) for info in levels], level)
        self._choose_level()

    def _choose_level(self) -> None:
        info = self._chosen()
        self._about.setText(_about(info) if info else "")
        if self.question is not None and (info is None or self.question.task != f"{info.family}/{info.level}"):
            self.question = None
            self._show_question()

    def _chosen(self) -> TaskInfo | None:
        family = self._families.get(self._family.current)
        levels = family.levels if family else ()
        return next((info for info in levels if info.level == self._level.current), None)

    def _set(self, reply: QuestionSet) -> None:
        self._banner.say("")
        self.question = reply
        self._show_question()

    def _failed(self, error: SapoError) -> None:
        self._banner.say(in_words(error))
        self._draw.setEnabled(True)

    def _show_question(self) -> None:
        found = self.question
        self._draw.setEnabled(True)
        self._draw.set_text(tr("Another question") if found else tr("Pick a question"))
        self._text.set_text(found.question if found else tr("The question appears here before the model answers it."))
        self._form.setText(tr("Expected: {form}").format(form=in_words(found.example)) if found else "")
        self.changed.emit()


def _about(info: TaskInfo) -> str:
    if info.solved is None or not info.answers:
        return tr("In training now; not answered recently.") if info.training else tr("Not in training now.")
    share = numbers.percent(info.solved)
    if info.training:
        return tr("In training now; {share} of the latest answers are right.").format(share=share)
    return tr("Not in training now; {share} of the latest answers were right.").format(share=share)
