"""A small window above the others: what the node does, what it can do, and the large button."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.look import icons, theme
from sapo_desktop.gui.look.screen import WholeFrames
from sapo_desktop.gui.look.theme import grid
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.window import QUIT_KEYS, SMALL_KEYS, show_face
from sapo_desktop.gui.widgets.bars import show_done
from sapo_desktop.gui.widgets.buttons import Button, IconButton
from sapo_desktop.gui.widgets.layout import Figure, column, row
from sapo_desktop.gui.widgets.notes import Picture
from sapo_desktop.gui.widgets.text import Label
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.learning import held_out_words
from sapo_desktop.gui.words.states import action_hint, action_words, timed_sentence
from sapo_desktop.view.viewmodel import Section, View

_WIDTH = 300


class MiniWindow(QWidget):
    """See the module.

    Signals:
        full_wanted: the whole window is to come back in its place.
        closing: the user closed it.
        quitting: Ctrl+Q, or what the system has for it.
    """

    full_wanted = Signal()
    closing = Signal()
    quitting = Signal()

    def __init__(self, view: View, bridge: Bridge, actions: Actions) -> None:
        super().__init__(None, Qt.WindowType.Window | Qt.WindowType.WindowStaysOnTopHint)
        self._view = view
        WholeFrames(self)
        self.setWindowTitle("SAPO Desktop")
        self.setWindowIcon(icons.face("sapo"))
        self.setProperty("role", "page")
        self._face = Picture("pause", 18)
        self._sentence = Label("", "strong")
        self._held_out = Figure(tr("Held-out score"))
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._button = Button("", actions.main, kind="primary")
        self._button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        full = IconButton("home", tr("Back to the whole window"), self.full_wanted.emit)
        self._inside = column(
            row(self._face, (self._sentence, 1), spacing=1),
            self._held_out,
            self._bar,
            row((self._button, 1), full, spacing=1),
            spacing=1,
            margins=(grid(2), grid(1.5), grid(2), grid(1.5)),
        )
        self.setLayout(self._inside)
        QShortcut(QKeySequence(SMALL_KEYS), self, self.full_wanted.emit)
        QShortcut(QKeySequence(QUIT_KEYS), self, self.quitting.emit)
        bridge.changed.connect(self._changed)
        self._clock = timer(self, 1000, self._tick)
        self._fit()
        theme.looks().changed.connect(self._fit)

    def _changed(self, changed: frozenset[Section]) -> None:
        if self.isVisible() and changed & {"link", "state", "settings", "progress", "rounds", "curves"}:
            self._refresh()

    def _refresh(self) -> None:
        view = self._view
        show_face(self._face, view)
        now = view.held_out if view.held_out is not None else view.held_out_base
        self._held_out.set(numbers.number(now), held_out_words(view))
        if view.starts or view.at_work:
            show_done(self._bar, view.done, view.total if view.at_work else 0)
        else:
            self._bar.setRange(0, 1)  # nothing moves while nothing happens
            self._bar.setValue(0)
        self._bar.setAccessibleName(timed_sentence(view))
        action = view.main_action
        self._button.set_text(action_words(action, view.silo))
        self._button.setAccessibleDescription(action_hint(action, view.silo))
        self._button.setEnabled(action != "wait")
        self._tick()

    def _tick(self) -> None:
        self._sentence.setText(timed_sentence(self._view))
        self._sentence.set_tone("danger" if self._view.face == "attention" else "")
        self._fit()

    def _fit(self) -> None:
        """As wide as its text is large, and as high as its sentences need in that width."""
        width = round(_WIDTH * theme.looks().text_percent / 100)
        self.setFixedSize(width, self._inside.totalHeightForWidth(width))

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._refresh()
        self._clock.start()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        self._clock.stop()
        super().closeEvent(event)
        self.closing.emit()
