"""The tray: an icon per state, the reason in its tooltip, and all actions that need no window."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from sapo_desktop.core.errors import SapoError
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.look import icons
from sapo_desktop.gui.shell.actions import Actions, add_pauses
from sapo_desktop.gui.widgets.text import for_button, for_notification
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.states import action_words, timed_sentence, tooltip
from sapo_desktop.system.desktop import notification
from sapo_desktop.view.viewmodel import Face, Section, View

_QUIT = "quit"
"""The action of a notification that quits the app."""
LOOK_MS = 2000
"""Interval of the checks for a tray, whose late or repeated start has no event."""


class Tray(QObject):
    """The icon, while there is a tray for it.

    Signals:
        open_wanted, quit_wanted: by the menu, or a click.
        went: there is no tray any more.
    """

    open_wanted = Signal()
    quit_wanted = Signal()
    went = Signal()
    _pressed = Signal(str)
    _unshown = Signal(str, str)

    def __init__(self, view: View, bridge: Bridge, actions: Actions) -> None:
        super().__init__()
        self._view = view
        self._actions = actions
        self._face: Face | None = None
        self._hint = ""
        self._menu = QMenu()
        self._build_menu()
        self._icon: QSystemTrayIcon | None = None
        self._looking = timer(self, LOOK_MS, self.look)
        self._clock = timer(self, 1000, self._tick)
        self._looking.start()
        bridge.changed.connect(self._changed)
        self._pressed.connect(self._act, Qt.ConnectionType.QueuedConnection)
        self._unshown.connect(self._tell_by_icon, Qt.ConnectionType.QueuedConnection)
        self._refresh()
        self.look()

    @property
    def there(self) -> bool:
        """Whether a person can see the icon."""
        return self._icon is not None

    def look(self) -> None:
        """Put the icon into a new tray, or drop it if the tray is gone."""
        available = QSystemTrayIcon.isSystemTrayAvailable()
        if available and self._icon is None:
            self._icon = QSystemTrayIcon(self)
            self._icon.setContextMenu(self._menu)
            if sys.platform != "darwin":  # on a Mac a click opens the menu, and counts as one on the icon as well
                self._icon.activated.connect(self._activated)
            self._icon.messageClicked.connect(self.open_wanted)
            self._face, self._hint = None, ""
            self._refresh()
            self._icon.show()
        elif not available and self._icon is not None:
            self._icon.hide()
            self._icon.deleteLater()
            self._icon = None
            self.went.emit()

    def tell(self, title: str, text: str) -> None:
        """A desktop notification, if supported. It has the large button's action and, without a tray, also what only
        its menu would have."""
        words = (for_notification(title), for_notification(text))
        if not sys.platform.startswith("linux"):
            self._tell_by_icon(*words)
            return
        action = self._view.main_action
        actions = {notification.OPEN: tr("Open SAPO Desktop")}
        if action != "wait":
            actions[action] = action_words(action, self._view.silo)
        if not self.there:
            actions[_QUIT] = tr("Quit")
        threading.Thread(target=self._tell_by_bus, args=(*words, actions), daemon=True).start()

    def _tell_by_bus(self, title: str, text: str, actions: Mapping[str, str]) -> None:
        """In a separate thread, which ends with the notification. It touches no widget."""
        try:
            pressed = notification.show(title, text, actions)
        except SapoError:
            self._unshown.emit(title, text)
            return
        if pressed:
            self._pressed.emit(pressed)

    def _tell_by_icon(self, title: str, text: str) -> None:
        if self._icon is not None:
            self._icon.showMessage(title, text, icons.face("sapo"))

    def _act(self, pressed: str) -> None:
        """An hour later the same button may mean something else: then the window is opened instead."""
        if pressed == _QUIT:
            self.quit_wanted.emit()
        elif pressed == self._view.main_action:
            self._actions.main()
        else:
            self.open_wanted.emit()

    def close(self) -> None:
        self._looking.stop()
        self._clock.stop()
        if self._icon is not None:
            self._icon.hide()

    def retranslate(self) -> None:
        """The language changed."""
        self._menu.clear()
        self._build_menu()
        self._refresh()

    # -- the menu --------------------------------------------------------------------------------------------

    def _build_menu(self) -> None:
        menu = self._menu
        self._sentence = menu.addAction("")
        self._sentence.setEnabled(False)
        menu.addSeparator()
        self._add(tr("Open SAPO Desktop"), self.open_wanted.emit)
        self._main = self._add("", self._actions.main)
        self._pauses = menu.addMenu(tr("Pause for"))
        add_pauses(self._pauses, self._actions)
        self._finish = self._add(tr("Finish this round, then pause"), self._actions.finish)
        menu.addSeparator()
        self._silo = self._add(tr("Silo: no network at all"), None)
        self._silo.setCheckable(True)
        self._silo.triggered.connect(self._actions.silo)
        menu.addSeparator()
        self._last = self._add(tr("Finish this round, then quit"), self._actions.finish_and_quit)
        self._quit = self._add(tr("Quit"), self.quit_wanted.emit)

    def _add(self, text: str, call: object) -> QAction:
        action = self._menu.addAction(for_button(text))
        if callable(call):
            action.triggered.connect(lambda _=False: call())
        return action

    # -- display -----------------------------------------------------------------------------------------------

    def _changed(self, changed: frozenset[Section]) -> None:
        if changed & {"link", "state", "settings", "swarm"}:
            self._refresh()

    def _refresh(self) -> None:
        view = self._view
        if self._icon is not None and view.face != self._face:
            self._face = view.face
            self._icon.setIcon(icons.face(f"tray-{view.face}"))
        self._main.setText(for_button(action_words(view.main_action, view.silo)))
        self._main.setEnabled(view.main_action != "wait")
        self._pauses.setEnabled(view.main_action == "pause")
        self._finish.setEnabled(view.attached and view.state == "working")
        self._last.setEnabled(view.attached and view.state == "working")
        self._silo.setChecked(view.silo)
        self._silo.setEnabled(view.attached)
        # Only a countdown changes without an event.
        self._clock.start() if view.pause_left else self._clock.stop()
        self._tick()

    def _tick(self) -> None:
        hint = tooltip(self._view)
        self._sentence.setText(for_button(timed_sentence(self._view)))
        if self._icon is not None and self._hint != hint:
            self._hint = hint
            self._icon.setToolTip("\n".join(for_notification(line) for line in hint.splitlines()))

    def _activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason in (QSystemTrayIcon.ActivationReason.Trigger, QSystemTrayIcon.ActivationReason.DoubleClick):
            self.open_wanted.emit()
