"""The first run: what the program is, what leaves the computer, how gentle, alone or together. In a minute, by
keyboard too."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QDialog, QStackedWidget

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.first_run.steps import Choices, GentleStep, LeavesStep, Step, TogetherStep, WelcomeStep
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.look import icons
from sapo_desktop.gui.look.screen import OnScreen, WholeFrames
from sapo_desktop.gui.look.theme import grid
from sapo_desktop.gui.widgets.buttons import Button
from sapo_desktop.gui.widgets.layout import column, row, scrolling
from sapo_desktop.gui.widgets.notes import Banner
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.gui.words.states import state_sentence
from sapo_desktop.system.hardware import usable_cores
from sapo_desktop.view.link import Connecting, Ended, Lost
from sapo_desktop.view.viewmodel import Section, View
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.requests import SetSettings, StartRounds

_FIRST = (760, 600)
_SMALLEST = (480, 360)
_AT_WORK_MS = 1500
"""Maximum wait until the started node is seen at work."""


class Wizard(QDialog):
    """The questions before the first round.

    Signals:
        finished_well: answered; the node works as chosen, alone. True: others are to be joined next.
        left: closed without an answer: nothing was changed, and it asks again at the next start.
    """

    finished_well = Signal(bool)
    left = Signal()

    def __init__(self, view: View, bridge: Bridge) -> None:
        super().__init__()
        self._view, self._bridge = view, bridge
        self._choices = Choices()
        self._over = False
        self._ordered = timer(self, _AT_WORK_MS, self._end, once=True)
        self._sending = False
        self.setWindowTitle(tr("Welcome to SAPO Desktop"))
        self.setWindowIcon(icons.face("sapo"))
        self._steps: list[Step] = [
            WelcomeStep(),
            LeavesStep(view, bridge),
            GentleStep(self._choices, usable_cores(), str(bridge.folder)),
            TogetherStep(self._choices, view, bridge),
        ]
        self._stack = QStackedWidget()
        for step in self._steps:
            self._stack.addWidget(scrolling(step))
            step.changed.connect(self._show_buttons)
        self._trouble = Banner(tone="danger", action=tr("Start again"), on_press=bridge.try_again)
        self._where = Label("", "caption")
        self._back = Button(tr("Back"), self._go_back)
        self._next = Button("", self._go_on, kind="primary")
        self._next.setDefault(True)
        self.setLayout(
            column(
                self._stack,
                self._trouble,
                row((self._where, 1), self._back, self._next),
                spacing=2,
                margins=(grid(4), grid(4), grid(4), grid(3)),
            )
        )
        WholeFrames(self)
        self._on_screen = OnScreen(self, _FIRST, _SMALLEST)
        self._on_screen.place(self.screen().availableGeometry())
        bridge.changed.connect(self._changed)
        self._show(0)

    @property
    def step(self) -> Step:
        return self._steps[self._stack.currentIndex()]

    def reject(self) -> None:
        """Escape closes it, like the close button."""
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        if self._sending and not self._over:  # it is answered, and ends once the node is seen at work
            event.ignore()
            self.hide()
            return
        if not self._over:
            self._over = True
            self.left.emit()
        super().closeEvent(event)

    def _changed(self, changed: frozenset[Section]) -> None:
        self._show_buttons()
        if self._ordered.isActive() and self._view.state != "idle":
            self._end()
        if "link" in changed:
            self.step.opened()
            self._say_trouble()

    def _say_trouble(self) -> None:
        """Why there is no node, on every step; a repeated quiet failure sends no new event."""
        lost = isinstance(self._view.link, Lost | Ended)
        self._trouble.say(state_sentence(self._view) if lost else "", "danger")
        self._trouble.button.setVisible(lost)

    def _show(self, number: int) -> None:
        self._stack.setCurrentIndex(number)
        self._say_trouble()
        self.step.opened()
        self._show_buttons()
        self.step.focus_first() or self._next.setFocus()

    def _show_buttons(self) -> None:
        number, count = self._stack.currentIndex(), len(self._steps)
        where = tr("Step {number} of {count}").format(number=number + 1, count=count)
        waits = number == count - 1 and isinstance(self._view.link, Connecting)
        self._where.setText(state_sentence(self._view) if waits else where)
        self._back.setVisible(number > 0)
        last = number == count - 1
        self._next.set_text(self._last_word() if last else tr("Next"))
        # Only the last step needs the node, which starts in the background.
        self._next.setEnabled(not self._sending and (not last or self._view.attached))

    def _last_word(self) -> str:
        if isinstance(self._view.link, Connecting):
            return tr("The node is starting")
        if not self._view.attached:
            return tr("The node cannot start") if self._view.remedy else tr("The node is not running")
        return tr("Start, then join others") if self._choices.others else tr("Start learning")

    def _go_back(self) -> None:
        self._show(self._stack.currentIndex() - 1)

    def _go_on(self) -> None:
        if self._stack.currentIndex() < len(self._steps) - 1:
            self._show(self._stack.currentIndex() + 1)
            return
        self._sending = True
        self._show_buttons()
        self._bridge.ask(
            SetSettings(values=self._choices.settings(), for_good=True), self._start, self._refused, of=self
        )

    def _start(self, reply: object) -> None:
        self._bridge.ask(StartRounds(), self._done, self._refused, of=self)

    def _done(self, reply: Ok) -> None:
        """The node has its order; until it is seen at work, the window would look as if nothing had started."""
        self._ordered.start()
        self._changed(frozenset())

    def _end(self) -> None:
        self._ordered.stop()
        self._over = True
        self.finished_well.emit(self._choices.others)
        self.close()

    def _refused(self, error: SapoError) -> None:
        self._sending = False
        self._trouble.say(in_words(error), "danger")
        self._trouble.button.hide()
        self._show_buttons()
        if not self.isVisible():
            self.close()
            self._bridge.trouble.emit(in_words(error))
