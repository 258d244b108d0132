"""The window's process: `main` connects the view, the link to the worker, window and tray, and takes them apart again.

Ctrl-C, SIGTERM and a closed terminal end it like the window's menu.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import io
import logging
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO

import msgspec
from PySide6.QtCore import QEvent, QObject, QSocketNotifier, Qt, QUrl, Signal
from PySide6.QtGui import QFileOpenEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.gui.link.bridge import Bridge
from sapo_desktop.gui.look import icons, theme
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.garbage import collected_here
from sapo_desktop.gui.shell.news import News
from sapo_desktop.gui.shell.remembered import WELCOME, recall, remember, settings_in
from sapo_desktop.gui.shell.single import SingleWindow
from sapo_desktop.gui.shell.tray import Tray
from sapo_desktop.gui.shell.window import AwaySheet, MainWindow
from sapo_desktop.gui.widgets.timers import timer
from sapo_desktop.gui.words import language
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import in_words
from sapo_desktop.system.ends import marked
from sapo_desktop.system.erasing import What
from sapo_desktop.system.folders import DataFolder, explained
from sapo_desktop.system.logs import begin_log, open_log
from sapo_desktop.view.link import Ended
from sapo_desktop.view.viewmodel import Section, View
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.control.notices import KeptNotices

if TYPE_CHECKING:
    from sapo_desktop.gui.first_run.wizard import Wizard


@contextlib.contextmanager
def polite_ends(call: Callable[[], object]) -> Iterator[None]:
    """Call `call`, inside Qt's loop, for SIGINT, SIGTERM and SIGHUP (its terminal was closed).

    Python runs its handlers only between two of its own steps, and Qt's loop makes none: a byte in a socket wakes it.
    On Windows only Ctrl-C in a console is supported; Qt's loop runs Python's handler once a second (garbage.py).
    """
    if sys.platform == "win32":
        usual = signal.signal(signal.SIGINT, lambda *_: call())
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)
        return
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)

    def received() -> None:
        ours.recv(64)
        call()

    notifier = QSocketNotifier(ours.fileno(), QSocketNotifier.Type.Read)
    notifier.activated.connect(received)
    before = signal.set_wakeup_fd(theirs.fileno())
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # under nohup it stays ignored
        numbers.append(signal.SIGHUP)
    handlers = {number: signal.signal(number, lambda *_: None) for number in numbers}
    try:
        yield
    finally:
        notifier.setEnabled(False)
        signal.set_wakeup_fd(before)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        ours.close()
        theirs.close()


log = logging.getLogger("sapo_desktop.gui")

APP_ID = "SAPO.Desktop"
"""Identifies the program on Windows."""
PART_MS = 1000
"""Delay before the window of the previous language is deleted."""
STARTED_MS = 3000
"""On a Mac, a program that comes forward after this time was chosen by a person, not by its own start."""
QUIT_SECONDS = 30.0
"""For a worker to write its checkpoint and end; after that the window closes anyway."""


def main(folder: Path, *, hidden: bool = False, link: str = "") -> int:
    """Show the window of this data folder until it is closed; returns the exit code.

    `hidden`: start in the tray, if there is one. `link`: an invite that somebody opened, to ask about.

    Raises:
        SapoError: the data folder cannot be used, or its window does not answer.
    """
    app = App([sys.argv[0]])
    try:
        data = DataFolder.open(folder)
        single = SingleWindow(data)
        if not single.is_first(link):
            return 0
        opened = _opened_log(data)
    except SapoError as error:
        if only_a_box_is_seen(hidden=hidden):
            cannot_start(error).exec()
        raise
    with io.TextIOWrapper(opened, encoding="utf-8", line_buffering=True) as file, contextlib.ExitStack() as ends:
        begin_log(file, data.log("window"))
        faulthandler.enable(file)  # Qt's crashes write their stack to the log
        ends.callback(faulthandler.disable)
        if died := ends.enter_context(marked(data.run("window"))):
            _tell_of_end(data, died)
        desktop = Desktop(app, data)
        single.raised.connect(desktop.open)
        desktop.leaving.connect(single.close)
        app.link_opened.connect(desktop.open)
        with polite_ends(desktop.quit):
            desktop.begin(hidden=hidden)
            desktop.follow(link)
            ends.enter_context(collected_here(desktop))
            code = app.exec()
    if desktop.erases is not None:
        _erase(data, desktop.erases)
    gc.freeze()  # everything is freed with the process: Python need not search for reference cycles
    return code


def _erase(data: DataFolder, what: What) -> None:
    """Delete it, now that node and log are closed, and show whether it worked."""
    from sapo_desktop.worker.control import unstarted

    try:
        unstarted.erase(data, [what])
    except SapoError as error:
        message(QMessageBox.Icon.Critical, tr("Not everything was deleted"), in_words(error)).exec()
    else:
        about = tr("The data is deleted. Start SAPO Desktop again if you want to continue.")
        message(QMessageBox.Icon.Information, tr("Deleted"), about).exec()


def _tell_of_end(data: DataFolder, reason: Text) -> None:
    """The previous window did not end by itself: its log says so, and the log page."""
    text = sentence("The window that was open here last was interrupted: {reason}.", reason=reason)
    log.error("%s", text)
    KeptNotices(data.notices).add(Notice(level="error", text=text, time=time.time()))


def _opened_log(data: DataFolder) -> BinaryIO:
    try:
        return open_log(data.log("window"))
    except OSError as error:
        raise explained(error, data.root) from error


def only_a_box_is_seen(*, hidden: bool) -> bool:
    """Whether a person would not read the terminal because an icon started the program. At a login, and if Qt draws
    nowhere, nobody could close a message box, and a caller would wait for the exit code forever."""
    in_terminal = sys.__stderr__ is not None and sys.__stderr__.isatty()
    return not (hidden or in_terminal or QGuiApplication.platformName() in ("offscreen", "minimal"))


def cannot_start(error: SapoError) -> QMessageBox:
    """Show why no window opens, when there are no settings for language and colours."""
    language.speak(language.chosen("auto"))
    return message(QMessageBox.Icon.Critical, tr("SAPO Desktop cannot start"), in_words(error))


def message(icon: QMessageBox.Icon, title: str, text: str) -> QMessageBox:
    """A box for what must be said without the window."""
    box = QMessageBox(icon, title, text)
    box.setTextFormat(Qt.TextFormat.PlainText)
    return box


class App(QApplication):
    """Qt's application. `quit_asked`: the desktop asks it to end (Cmd-Q, end of session). `came_forward`: on a Mac
    it was chosen, for example in the Dock."""

    quit_asked = Signal()
    came_forward = Signal()
    link_opened = Signal(str)

    def event(self, event: QEvent) -> bool:
        if link := opened_link(event):
            self.link_opened.emit(link)
            return True
        if event.type() is QEvent.Type.Quit:
            self.quit_asked.emit()
            return True
        if event.type() is QEvent.Type.ApplicationActivate and sys.platform == "darwin":
            self.came_forward.emit()
        return super().event(event)


def opened_link(event: QEvent) -> str:
    """The invite that somebody opened: macOS passes it to the running program, others start it again. Else empty."""
    if isinstance(event, QFileOpenEvent) and event.url().scheme() == "sapo":
        return event.url().toString(QUrl.ComponentFormattingOption.FullyEncoded)
    return ""


class Desktop(QObject):
    """Window, tray and link of one data folder. `leaving`: it was asked to quit, and another start need not ask it."""

    leaving = Signal()

    def __init__(self, app: App, folder: DataFolder) -> None:
        super().__init__()
        self.erases: What | None = None
        """What to delete once all of it is closed."""
        self._app = app
        self._folder = folder
        self._memory = recall(folder)
        self._quitting = False
        self._link = ""
        """An opened invite that was not asked about yet."""
        self._looks = settings_in(folder)
        _dress(app, self._looks)
        self.view = View()
        self.view.settings = self._looks
        self.bridge = Bridge(folder.root, self.view)
        self.actions = Actions(self.view, self.bridge)
        self.actions.erase.connect(self.erase)
        self.window = self._new_window(self._memory.looks)
        self.tray = Tray(self.view, self.bridge, self.actions)
        self.tray.open_wanted.connect(self.open)
        self.tray.quit_wanted.connect(self.quit)
        self.tray.went.connect(self._tray_went)
        self._news = News(self.view, self.tray.tell, lambda: self.window.seen)
        self.bridge.changed.connect(self._changed)
        self.bridge.trouble.connect(self._trouble)
        app.setQuitOnLastWindowClosed(False)
        app.quit_asked.connect(self.quit)
        app.styleHints().colorSchemeChanged.connect(lambda _: self._wear())
        app.commitDataRequest.connect(lambda _: self._keep_looks(), Qt.ConnectionType.DirectConnection)
        sys.excepthook = self._bug

    def begin(self, *, hidden: bool = False) -> None:
        """Show the first frame, and reach for the worker in the background."""
        self.window.look_as(self._memory.looks)
        if self._memory.welcomed < WELCOME:
            self._welcome()
        elif not (hidden and self.tray.there):
            self.window.show()
        # The first frame first: the link's thread would take processor time from it.
        timer(self, 0, self.bridge.start, once=True).start()
        # Not at once: its own start brings it forward, also when it should start in the tray.
        timer(self, STARTED_MS, lambda: self._app.came_forward.connect(self._come_forward), once=True).start()

    def follow(self, link: str) -> None:
        """Ask about an invite link, once there is a window and a worker to follow it."""
        self._link = link or self._link
        if self._link and self._wizard is None and self.view.attached:
            link, self._link = self._link, ""
            self.window.present()
            self.window.join_others(link)

    def open(self, link: str = "") -> None:
        """Bring the window to the front; with an invite link, ask about it."""
        if self._quitting:
            return
        self.follow(link)
        if self._wizard is not None:
            self._wizard.show()
            self._wizard.raise_()
            self._wizard.activateWindow()
        else:
            self.window.present()

    def _come_forward(self) -> None:
        """The Dock must bring back a closed window, as in other programs."""
        if not any(one is not None and one.isVisible() for one in (self.window, self._wizard)):
            self.open()

    def quit(self) -> None:
        """End the worker, unless it should continue without a window, and then the window."""
        if self._quitting:
            return
        self._quitting = True
        self.leaving.emit()
        self._keep_looks()
        self.window.hide()
        if self._wizard is not None:
            self._wizard.hide()
        self.tray.close()
        if self.view.settings.when_window_closes == "continue" and self.erases is None:
            self._leave()
            return
        ending = self.bridge.link.quit_worker()
        until = time.monotonic() + QUIT_SECONDS

        def look() -> None:
            if ending.done() or time.monotonic() > until:
                looking.stop()
                self._leave()

        looking = timer(self, 50, look)
        looking.start()

    def erase(self, what: What) -> None:
        """Quit, and delete this."""
        self.erases = what
        self.quit()

    # -- the first run ---------------------------------------------------------------------------------------

    _wizard: Wizard | None = None

    def _welcome(self) -> None:
        from sapo_desktop.gui.first_run.wizard import Wizard

        wizard = Wizard(self.view, self.bridge)
        self._wizard = wizard
        wizard.finished_well.connect(self._welcomed)
        wizard.left.connect(self._show_window)
        wizard.show()

    def _welcomed(self, others: bool) -> None:
        self._remember(welcomed=WELCOME)
        invited = bool(self._link)  # by a link that was opened meanwhile: the dialog is about that
        self._show_window()
        if others and not invited and not self._quitting:
            self.window.join_others()

    def _show_window(self) -> None:
        if self._wizard is not None:
            self._wizard.deleteLater()
            self._wizard = None
        if not self._quitting:
            self.window.show()
            self.follow("")

    # -- the window ------------------------------------------------------------------------------------------

    def _new_window(self, looks: dict[str, str]) -> MainWindow:
        # Pages are created only when visited: each takes a tenth of a second.
        window = MainWindow(self.view, self.bridge, self.actions, looks.get("page", ""))
        window.closing.connect(self._close)
        window.quitting.connect(self.quit)
        return window

    def _close(self) -> None:
        """The user closed the window: it goes where it can be brought back from."""
        self._keep_looks()
        if not self.tray.there:
            self._put_away()
            return
        self.window.hide()
        if not self._memory.told_of_tray:
            self._remember(told_of_tray=True)
            self.tray.tell(tr("SAPO Desktop keeps running here"), tr("Quit it from the menu of this icon."))

    def _put_away(self) -> None:
        """Minimise it; the first time, if no tray menu shows how to quit, say where it goes."""
        if self.tray.there or self._memory.told_of_minimised:
            self.window.put_away()
            return
        sheet = AwaySheet(self.window)
        sheet.quit_wanted.connect(self.quit)
        sheet.accepted.connect(lambda: self._remember(told_of_minimised=True))
        sheet.accepted.connect(self.window.put_away)
        sheet.open()

    def _tray_went(self) -> None:
        """Without a tray nobody could bring a hidden window back."""
        if not self.window.isVisible() and not self._quitting and self._wizard is None:
            self.window.put_away()

    def _changed(self, changed: frozenset[Section]) -> None:
        self._news.look(changed)
        if "link" in changed:
            self.follow("")
        if self.actions.quits_after_round and isinstance(self.view.link, Ended):
            self.quit()
        if "settings" not in changed:
            return
        now, before = self.view.settings, self._looks
        self._looks = now
        if (now.theme, now.text_size) != (before.theme, before.text_size):
            self._soon(self._wear)
        if now.language != before.language:
            self._soon(self._speak)

    def _soon(self, change: Callable[[], None]) -> None:
        """A change of everything visible takes seconds on a slow computer, so the pointer shows it first."""

        def change_now() -> None:
            try:
                change()
            finally:
                QApplication.restoreOverrideCursor()

        QApplication.setOverrideCursor(Qt.CursorShape.WaitCursor)
        timer(self, 20, change_now, once=True).start()

    def _wear(self) -> None:
        theme.wear(theme.chosen(self._looks.theme), self._looks.text_size)

    def _speak(self) -> None:
        """Another language: all widgets are built again, in the same places. Unsent text is lost, and a running
        answer ends."""
        language.speak(language.chosen(self._looks.language))
        old, looks, shown = self.window, self.window.look_back(), self.window.isVisible()
        self.window = self._new_window(looks)
        self.window.look_as(looks)
        self.window.take_over(old)
        old.hide()  # first, because the new one watches the same things
        old.let_go()
        if shown:
            self.window.present()
        # Once the new one is usable: deleting the old one takes a quarter of the whole time.
        timer(old, PART_MS, old.deleteLater, once=True).start()
        self.tray.retranslate()

    def _trouble(self, text: str) -> None:
        """A failed action from the tray, if no window shows it."""
        if not self.window.seen:
            self.tray.tell(tr("That did not work"), text)

    # -- the end ---------------------------------------------------------------------------------------------

    def _leave(self) -> None:
        try:
            self.bridge.link.stop()
        finally:
            # Not quit(): that would ask every window first, and ours answers by hiding.
            self._app.exit(0)

    def _keep_looks(self) -> None:
        if self._memory.welcomed >= WELCOME:
            self._remember(looks=self.window.look_back())

    def _remember(self, **changes: object) -> None:
        self._memory = msgspec.structs.replace(self._memory, **changes)
        try:
            remember(self._folder, self._memory)
        except OSError as error:
            log.warning("Where the window stood could not be kept: %s", error)

    def _bug(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """An unexpected error: it is logged and shown, and the window continues."""
        log.error("A bug in the window:\n%s", "".join(traceback.format_exception(kind, error, trace)))
        self.window.toast.say(
            tr(
                "The window hit an internal error: {error}. Your node keeps running. Please report it and "
                "attach logs/window.log from the data folder."
            ).format(error=f"{kind.__name__}: {error}")
        )


def _dress(app: QApplication, settings: Settings) -> None:
    if sys.platform == "win32":  # otherwise the taskbar shows Python's icon, and groups us with its other programs
        import ctypes

        ctypes.windll.shell32.SetCurrentProcessExplicitAppUserModelID(APP_ID)
    app.setApplicationName("SAPO Desktop")
    app.setDesktopFileName("sapo-desktop")
    app.setStyle("Fusion")
    language.speak(language.chosen(settings.language))
    theme.wear(theme.chosen(settings.theme), settings.text_size)
    app.setWindowIcon(icons.face("sapo"))
