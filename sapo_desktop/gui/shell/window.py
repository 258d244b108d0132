"""The main window: the list of pages at the left with the silo chip in its own colour, the page in the middle.

On a desktop without a tray, such as GNOME, it also says where a closed window goes before it closes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QByteArray, QEvent, Qt, Signal
from PySide6.QtGui import QCloseEvent, QHideEvent, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMainWindow, QStackedWidget, QWidget

from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.look import icons, theme
from sapo_desktop.gui.look.screen import OnScreen, WholeFrames
from sapo_desktop.gui.look.theme import grid
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.help import HELP_KEYS, HelpSheet
from sapo_desktop.gui.shell.page import Page
from sapo_desktop.gui.widgets.buttons import Button, IconButton
from sapo_desktop.gui.widgets.dialog import Sheet
from sapo_desktop.gui.widgets.layout import column, holding, row, scrolling
from sapo_desktop.gui.widgets.notes import Picture, Toast
from sapo_desktop.gui.widgets.text import Label, set_tooltip
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.states import short_state, state_sentence
from sapo_desktop.view.viewmodel import ALL, Section, View

SMALLEST = (900, 440)
_FIRST = (1180, 800)
_SIDE = 208
"""Width of the list of pages at 100%."""


class Entry(NamedTuple):
    """A page in the list at the left. Its module is imported and the page created at the first visit."""

    name: str
    title: str
    where: str
    """`module:class` within gui."""


def entries() -> list[Entry]:
    """All pages, in their order."""
    return [
        Entry("home", tr("Home"), "home.page:HomePage"),
        Entry("learning", tr("Learning"), "learning.page:LearningPage"),
        Entry("peers", tr("Peers"), "peers.page:PeersPage"),
        Entry("model", tr("Model"), "model.page:ModelPage"),
        Entry("try", tr("Try it"), "try_it.page:TryPage"),
        Entry("settings", tr("Settings"), "settings.page:SettingsPage"),
        Entry("log", tr("Log"), "log.page:LogPage"),
    ]


class MainWindow(QMainWindow):
    """See the module. `page`: the first one.

    Signals:
        closing: the user closed it; the owner of the tray decides what that means.
        quitting: Ctrl+Q, or the system's shortcut.
    """

    closing = Signal()
    quitting = Signal()

    def __init__(self, view: View, bridge: Bridge, actions: Actions, page: str = "home") -> None:
        super().__init__()
        self._view, self._bridge, self._actions = view, bridge, actions
        self.setWindowTitle("SAPO Desktop")
        self.setWindowIcon(icons.face("sapo"))
        WholeFrames(self)
        self._on_screen = OnScreen(self, _FIRST, SMALLEST)
        self._on_screen.place(self.screen().availableGeometry())
        self._entries = {entry.name: entry for entry in entries()}
        self._pages: dict[str, Page] = {}
        self._stack = QStackedWidget()
        self._side = Sidebar(view, self._switch_silo, list(self._entries.values()))
        self._side.wanted.connect(self.go)
        self._side.help_wanted.connect(self.help)
        middle = QWidget()
        whole = QHBoxLayout(middle)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self._side)
        whole.addWidget(self._stack, 1)
        self.setCentralWidget(middle)
        self._fit_side()
        theme.looks().changed.connect(self._fit_side)
        self.toast = Toast(middle)
        bridge.changed.connect(self._changed)
        bridge.said.connect(self.toast.say)
        bridge.trouble.connect(self.toast.say)
        for number, name in enumerate(self._entries, 1):
            QShortcut(QKeySequence(f"Ctrl+{number}"), self, partial(self.go, name))
        QShortcut(QKeySequence(QUIT_KEYS), self, self.quitting.emit)
        QShortcut(QKeySequence(HELP_KEYS), self, self.help)
        self._away = False
        """Minimised by us. Wayland tells nobody whether a window is."""
        self._changed(ALL)
        self.go(page if page in self._entries else "home")

    @property
    def seen(self) -> bool:
        """Whether a person may see it."""
        return self.isVisible() and not self.isMinimized() and not self._away

    def put_away(self) -> None:
        """Minimise it, if there is no tray."""
        self._away = True
        self.showMinimized()
        self._bridge.watch_swarm(False)

    @property
    def page(self) -> Page:
        """The visible one."""
        page = self._stack.currentWidget()
        assert isinstance(page, Page)
        return page

    def go(self, where: str) -> None:
        """Show this page, and the part named after a slash."""
        name, _, part = where.partition("/")
        before = self._stack.currentWidget()
        page = self._pages.get(name) or self._make(name)
        if before is not page:
            if isinstance(before, Page):
                before.closed()
            self._stack.setCurrentWidget(page)
            if self.isVisible():
                self._open(page)
        if part:
            page.turn_to(part)
        self._side.show_page(name)

    def help(self) -> None:
        """What the page is for, the keys, the version."""
        name = self.page.name
        HelpSheet(self, name, self._entries[name].title, partial(self.go, "log")).open()

    def _switch_silo(self, on: bool) -> None:
        """If leaving silo would connect to nobody, ask first whom to join."""
        now = self._view.settings
        if on or now.peers or now.invited or now.lan or now.listen or now.swarm:
            self._actions.silo(on)
        else:
            self._side.refresh()
            self.join_others()

    def join_others(self, link: str = "") -> None:
        """Ask whom to join; with an invite, show where it leads. It is followed if the person agrees. One dialog at
        a time: while one is busy, the invite waits for its end."""
        from sapo_desktop.gui.peers.join import JoinSheet

        sheet = next((one for one in self.findChildren(JoinSheet) if one.isVisible()), None)
        if sheet is None:
            self.go("peers")
            JoinSheet(self.page, self._view, self._bridge, link).open()
        elif sheet.asks:
            sheet.look_at(link)
        else:
            sheet.finished.connect(lambda _: self.join_others(link))

    def present(self) -> None:
        """Come to the front from any state."""
        self._away = False
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self._bridge.watch_swarm(True)
        self.raise_()
        self.activateWindow()

    def look_back(self) -> dict[str, str]:
        """Its place and content, to be restored at the next start."""
        geometry = bytes(self.saveGeometry().toBase64().data()).decode("ascii")
        return {"geometry": geometry, "page": self.page.name, "quiet": "\n".join(sorted(self._view.quiet))}

    def look_as(self, looks: dict[str, str]) -> None:
        """Restore what `look_back` returned, without unusable parts."""
        self.restoreGeometry(QByteArray.fromBase64(looks.get("geometry", "").encode("ascii", "ignore")))
        self._on_screen.fit()  # it may have been on a larger screen
        self._view.quiet.update(filter(None, looks.get("quiet", "").split("\n")))
        if looks.get("page") in self._entries:
            self.go(looks["page"])

    def take_over(self, former: MainWindow) -> None:
        """Take the place of the window in another language, and show what its pages showed."""
        self.move(former.pos())
        for name, page in former._pages.items():
            (self._pages.get(name) or self._make(name)).take_over(page)

    def let_go(self) -> None:
        """A window in another language replaces it."""
        for page in self._pages.values():
            page.let_go()

    def _make(self, name: str) -> Page:
        module, _, kind = self._entries[name].where.partition(":")
        made = getattr(importlib.import_module(f"sapo_desktop.gui.{module}"), kind)
        page: Page = made(self._view, self._bridge, self._actions)
        page.wanted.connect(self.go)
        self._pages[name] = page
        self._stack.addWidget(page)
        return page

    def _open(self, page: Page) -> None:
        page.opened()
        page.refresh(ALL)

    def _changed(self, changed: frozenset[Section]) -> None:
        if not self.isVisible():
            return
        if changed & {"link", "state", "settings", "swarm", "notices"}:
            self._side.refresh()
        page = self._stack.currentWidget()
        if isinstance(page, Page) and changed & page.follows:
            page.refresh(changed)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        self._fit_side()
        super().resizeEvent(event)

    def _fit_side(self) -> None:
        self._side.fit(self.width())

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._side.refresh()
        self._open(self.page)
        self._bridge.watch_swarm(True)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802
        super().hideEvent(event)
        self.page.closed()
        self._bridge.watch_swarm(False)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        event.ignore()
        self.closing.emit()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() is QEvent.Type.WindowStateChange:
            self._bridge.watch_swarm(self.seen)
        elif event.type() is QEvent.Type.ActivationChange and self.isActiveWindow() and self._away:
            self._away = False
            self._bridge.watch_swarm(self.seen)
        super().changeEvent(event)


def show_face(picture: Picture, view: View) -> None:
    """The state as an icon in its colour."""
    icon, colour = {
        "working": ("play", "accent"),
        "paused": ("pause", "muted"),
        "silo": ("play", "accent"),
        "attention": ("warning", "danger"),
    }[view.face]
    # A starting node is not paused.
    picture.show_icon("clock" if view.starts else icon, colour)


class Sidebar(QFrame):
    """The pages, silo as a chip, and the state in one line."""

    wanted = Signal(str)
    help_wanted = Signal()

    def __init__(self, view: View, switch_silo: Callable[[bool], None], pages: list[Entry]) -> None:
        super().__init__()
        self.setProperty("role", "sidebar")
        self._view = view
        name = Label("SAPO Desktop", "subtitle")
        logo = Picture("sapo", 30)
        self._buttons: dict[str, Button] = {}
        nav = column(spacing=0.5)
        for number, entry in enumerate(pages, 1):
            button = Button(entry.title, partial(self.wanted.emit, entry.name), kind="nav", icon=entry.name)
            button.setSizePolicy(button.sizePolicy().Policy.Expanding, button.sizePolicy().Policy.Fixed)
            button.setCheckable(True)
            button.setAutoExclusive(True)  # otherwise screen readers call it a check box
            # As printed on the keyboard: Ctrl+1, Strg+1, ⌘1.
            set_tooltip(button, QKeySequence(f"Ctrl+{number}").toString(QKeySequence.SequenceFormat.NativeText))
            self._buttons[entry.name] = button
            nav.addWidget(button)
        nav.addStretch(1)
        self.silo = Button(tr("Silo"), kind="chip", icon="silo")
        self.silo.setCheckable(True)
        self.silo.setSizePolicy(self.silo.sizePolicy().Policy.Expanding, self.silo.sizePolicy().Policy.Fixed)
        self.silo.clicked.connect(switch_silo)
        self.silo.setAccessibleDescription(tr("No network at all, effective immediately"))
        set_tooltip(self.silo, tr("No network at all, effective immediately"))
        keys = QKeySequence(HELP_KEYS).toString(QKeySequence.SequenceFormat.NativeText)
        helps = IconButton("info", tr("Help ({keys})").format(keys=keys), self.help_wanted.emit)
        self._dot = Picture("pause", 18)
        self._state = Label("", "caption")
        self._list = scrolling(holding(nav))
        box = column(
            row(logo, (name, 1), spacing=1),
            (self._list, 1),
            self.silo,
            row(self._dot, (self._state, 1), helps, spacing=1),
            spacing=2,
            margins=(grid(1.5), grid(2.5), grid(1.5), grid(2)),
        )
        self.setLayout(box)

    def refresh(self) -> None:
        view = self._view
        self.silo.setChecked(view.silo if view.attached else view.surely_silo)
        self.silo.set_text(tr("Silo: offline") if view.surely_silo else tr("Silo"))
        self.silo.setEnabled(view.attached)
        waiting = f" ({numbers.count(view.asking)})" if view.attached and view.asking else ""
        self._buttons["peers"].set_text(tr("Peers") + waiting)
        show_face(self._dot, view)
        self._state.setText(short_state(view))
        set_tooltip(self._state, state_sentence(view))

    def show_page(self, name: str) -> None:
        # Before the window is shown nothing has the focus, and the first of all would get it.
        focused = self.window().focusWidget()
        for page, button in self._buttons.items():
            button.setChecked(page == name)
        self._list.ensureWidgetVisible(self._buttons[name])
        if focused is None or focused in self._buttons.values():
            self._buttons[name].setFocus()

    def fit(self, window: int) -> None:
        """Make it as wide as the text needs, in a window of so many pixels; large text on a small screen wraps."""
        most = max(round(1.5 * _SIDE), window // 6)
        self.setFixedWidth(max(_SIDE, min(most, theme.scaled(_SIDE))))


QUIT_KEYS = "Ctrl+Q"
"""Cmd+Q on a Mac, as Qt reads it."""


class AwaySheet(Sheet):
    """Minimise (accepted), quit, or stay (rejected).

    Signals:
        quit_wanted: quit the program.
    """

    quit_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        keys = QKeySequence(QUIT_KEYS).toString(QKeySequence.SequenceFormat.NativeText)
        about = tr(
            "This desktop has no tray. The window is minimised, and the node keeps running. Open it "
            "again from the list of windows, or by starting SAPO Desktop; {keys} quits."
        )
        super().__init__(parent, tr("Where the window goes"), about.format(keys=keys))
        self.quit_button = Button(tr("Quit"), self._quit)
        self.go_on = Button(tr("Minimise"), self.accept, kind="primary")
        self.add_buttons(self.quit_button, Button(tr("Cancel"), self.reject), self.go_on)

    def _quit(self) -> None:
        self.reject()
        self.quit_wanted.emit()
