"""The window's first ten rounds, seen from inside its process: test_window.py starts it on a real screen.

    python -m tests.whole.window.window_story first FOLDER PICTURES    from the first-run questions to the tenth round
    python -m tests.whole.window.window_story again FOLDER PICTURES    in the tray, on where it was, quit after a round
    python -m tests.whole.window.window_story away FOLDER PICTURES    on a desktop without a tray, as GNOME on Wayland
    python -m tests.whole.window.window_story join FOLDER PICTURES ADDRESS    from the first-run questions to a link

Real widgets are pressed as a person presses them; the worker, its hosts and the starter are real. Every step prints a
line, so that a failure is found where it happened; the end prints `done`.
"""

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from sapo_desktop.gui.first_run.steps import LeavesStep, TogetherStep
from sapo_desktop.gui.first_run.wizard import Wizard
from sapo_desktop.gui.home.page import HomePage
from sapo_desktop.gui.peers.join import JoinSheet
from sapo_desktop.gui.peers.page import PeersPage
from sapo_desktop.gui.shell.app import App, AwaySheet, Desktop
from sapo_desktop.gui.shell.single import SingleWindow
from sapo_desktop.gui.shell.window import entries
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.view.link import Lost
from tests.display import let_run
from tests.whole.nodes import PATIENCE, wait_gone
from tests.whole.window.notified import Notifications

LOG = "%(levelname)s %(message)s"


def main() -> None:
    act, folder, pictures = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    app = App([])
    data = DataFolder.open(folder)
    logging.basicConfig(level=logging.INFO, format=LOG, filename=data.log("window"))
    single = SingleWindow(data)
    assert single.is_first()
    desktop = Desktop(app, data)
    single.raised.connect(desktop.open)
    desktop.leaving.connect(single.close)
    story = Story(app, desktop, pictures)
    acts = {"first": story.first, "again": story.again, "away": story.away, "join": lambda: story.join(sys.argv[4])}
    acts[act]()
    print("done", flush=True)


class Story:
    """What a person does, and what they must see."""

    def __init__(self, app: App, desktop: Desktop, pictures: Path) -> None:
        self.app, self.desktop, self.view = app, desktop, desktop.view
        self.pictures = pictures

    def first(self) -> None:
        desktop = self.desktop
        desktop.begin()
        wizard = desktop._wizard
        assert isinstance(wizard, Wizard)
        self.until(wizard.isVisible, "the first-run questions")
        self.picture(wizard, "first-run-1")
        self.press(wizard._next)
        step = wizard.step
        assert isinstance(step, LeavesStep)
        self.until(lambda: '"publish"' in step._message._text, "a real message is made")
        self.press(step._message.button)
        self.until(lambda: '"publish"' in step._message.reading.toPlainText(), "it is shown")
        self.picture(wizard, "first-run-2")
        self.press(wizard._next)
        self.press(wizard._next)
        self.until(wizard._next.isEnabled, "the node answers")
        self.press(wizard._next)
        self.until(lambda: desktop.window.isVisible(), "the window")
        self.until(lambda: self.at_work, "the first round begins")
        self.until(lambda: len(self.view.curves) >= 1, "the first point")
        self.until(lambda: self.home._chart.chart.layers(), "it is drawn")
        self.until(lambda: desktop.tray.there, "the tray's icon")
        self.picture(desktop.window, "first-point")
        self.pause_and_go_on()
        self.silo_and_back()
        self.hide_and_return()
        self.look_at_every_page()
        self.lose_the_worker()
        self.until(lambda: self.view.curves.last_round >= 10, "the tenth round")
        assert self.view.curves.column("round").tolist() == list(range(1, self.view.curves.last_round + 1))
        self.picture(desktop.window, "tenth-round")
        self.choose("Finish this round, then pause")
        self.until(lambda: self.view.state == "paused", "the round is finished, then it pauses")
        self.quit()

    def again(self) -> None:
        """The node continues as it was left: paused. Closed to the tray, nothing is shown until it is opened."""
        self.desktop.begin(hidden=True)
        self.until(lambda: self.view.attached, "the node answers")
        assert self.desktop.tray.there == (not self.desktop.window.isVisible())
        assert self.view.state == "paused" and len(self.view.curves) >= 10
        self.choose("Open SAPO Desktop")
        self.until(self.desktop.window.isVisible, "the window")
        self.press(self.home._hero._button)
        self.until(lambda: self.at_work, "it continues")
        rounds = len(self.view.curves)
        self.quit("Finish this round, then quit")
        assert len(self.view.curves) == rounds + 1, "the current round counts"

    def away(self) -> None:
        """Closing says where the window goes; notifications bring it back, and do what its button does."""
        desktop, service = self.desktop, Notifications()
        self.answer_questions()
        assert not desktop.tray.there
        self.until(lambda: self.at_work, "the first round begins")
        desktop.window.close()
        (sheet,) = desktop.window.findChildren(AwaySheet)
        self.until(sheet.isVisible, "where the window goes")
        self.picture(sheet, "away-sheet")
        self.press(sheet.go_on)
        self.until(lambda: not desktop.window.seen, "it is gone")
        assert self.view.status is not None
        os.kill(self.view.status.pid, signal.SIGKILL)
        self.until(lambda: service.given, "the lost worker is reported")
        assert service.given[0].title == "The node stopped" and "killed" in service.given[0].text
        service.press(service.given[0], "default")
        self.until(lambda: desktop.window.seen, "the notification opens the window")
        self.picture(desktop.window, "back")
        self.until(lambda: self.at_work, "at work again")
        desktop.tray.tell("How it stands", "It works.")
        self.until(lambda: len(service.given) == 2, "another notification")
        assert service.given[1].actions == {"default": "Open SAPO Desktop", "pause": "Pause", "quit": "Quit"}
        service.press(service.given[1], "pause")
        self.until(lambda: self.view.state == "paused", "its button pauses")
        self.desktop.window.close()
        self.until(lambda: not desktop.window.seen, "where there is no tray it is minimised: it was said once")
        desktop.tray.tell("How it stands", "It waits.")
        self.until(lambda: len(service.given) == 3, "a last notification")
        self.quit(lambda: service.press(service.given[2], "quit"))

    def answer_questions(self, *, others: bool = False) -> None:
        """The first-run questions, as they are offered, but whether others are to be joined."""
        self.desktop.begin()
        wizard = self.desktop._wizard
        assert isinstance(wizard, Wizard)
        for _ in range(3):
            self.press(wizard._next)
        if others:
            assert isinstance(wizard.step, TogetherStep)
            wizard.step._swarm.click()
            assert wizard._choices.others
        self.until(wizard._next.isEnabled, "the node answers")
        self.press(wizard._next)
        self.until(self.desktop.window.isVisible, "the window")

    def join(self, address: str) -> None:
        """From silo to a link in one dialog: first to nobody, then to a node that is there."""
        self.answer_questions(others=True)
        page = self.desktop.window.page
        assert isinstance(page, PeersPage)
        (sheet,) = page.findChildren(JoinSheet)
        self.picture(sheet, "join-1-questions")
        before = sheet.geometry()
        QTest.keyClicks(sheet._field, "wss://127.0.0.1:9")
        self.press(sheet.ok)
        way = sheet._under_way
        self.until(lambda: "compared" in way._step.text(), "tasks are compared")
        self.picture(sheet, "join-2-compared")
        self.until(sheet.again.isVisible, f"why not: {way._result.accessibleName()}")
        self.say(way._result.accessibleName())
        self.picture(sheet, "join-3-nobody")
        self.press(sheet.back)
        sheet._field.clear()
        QTest.keyClicks(sheet._field, address)
        self.press(sheet.ok)
        self.until(lambda: way._step.text() == "Linked", "linked")
        assert sheet.geometry() == before, "nothing jumps under the pointer"
        self.picture(sheet, "join-4-linked")
        self.press(sheet.cancel)
        self.until(lambda: page._links.table.model().rowCount() == 1, "the page lists it")
        self.picture(self.desktop.window, "join-5-peers")
        self.desktop.window.go("home")
        hero = self.home._hero
        self.until(lambda: f"{hero._sentence.text()} {hero._phase.text()}".count("1 peer") == 1, "Home says so, once")
        assert self.view.status is not None
        os.kill(self.view.status.pid, signal.SIGKILL)
        self.until(lambda: isinstance(self.view.link, Lost), "the worker is killed")
        assert "peer" not in hero._sentence.text() + hero._phase.text(), "who is dead is linked to nobody"
        self.picture(self.desktop.window, "join-6-killed")
        self.until(lambda: self.view.attached and self.view.swarm_state == "linked", "and linked again by itself")
        self.quit()

    # -- parts of it -----------------------------------------------------------------------------------------

    def pause_and_go_on(self) -> None:
        began = time.monotonic()
        self.press(self.home._hero._button)
        self.until(lambda: self.view.state == "paused", "paused")
        self.say(f"paused within {time.monotonic() - began:.2f} s")
        self.until(lambda: self.desktop.tray._face == "paused", "the tray shows the pause")
        self.press(self.home._hero._button)
        self.until(lambda: self.at_work, "it continues")

    def silo_and_back(self) -> None:
        began = time.monotonic()
        self.choose("Silo: no network at all")
        self.until(lambda: not self.view.silo and not self.desktop.window._side.silo.isChecked(), "out of silo")
        self.say(f"out of silo within {time.monotonic() - began:.2f} s")
        self.press(self.desktop.window._side.silo)
        self.until(lambda: self.view.silo and self.desktop.window._side.silo.isChecked(), "in silo again")

    def hide_and_return(self) -> None:
        window = self.desktop.window
        window.close()
        self.until(lambda: not window.isVisible(), "closed to the tray")
        again = subprocess.Popen([sys.executable, "-m", "sapo_desktop", "--data", str(self.desktop._folder.root)])
        self.until(window.isVisible, "a second start brings it back")
        self.until(lambda: again.poll() == 0, "the second start has ended")

    def look_at_every_page(self) -> None:
        for name in [entry.name for entry in entries()]:
            self.desktop.window.go(name)
            let_run(1.5)
            assert self.desktop.window.page.name == name
            self.picture(self.desktop.window, f"page-{name}")
        self.desktop.window.go("home")

    def lose_the_worker(self) -> None:
        assert self.view.status is not None
        os.kill(self.view.status.pid, signal.SIGKILL)
        self.until(lambda: isinstance(self.view.link, Lost), "the lost worker is said")
        assert "killed" in self.home._hero._sentence.text()
        self.picture(self.desktop.window, "lost")
        self.until(lambda: self.at_work, "started again, and at work as before")

    def quit(self, how: str | Callable[[], None] = "Quit") -> None:
        assert self.view.status is not None
        pid = self.view.status.pid
        # Within the loop that it ends, as it is pressed.
        QTimer.singleShot(0, how if callable(how) else lambda: self.choose(how))
        code = self.app.exec()
        assert code == 0
        wait_gone(pid)  # the worker ended with the window

    # -- what a person has -----------------------------------------------------------------------------------

    @property
    def home(self) -> HomePage:
        page = self.desktop.window._pages["home"]
        assert isinstance(page, HomePage)
        return page

    @property
    def at_work(self) -> bool:
        return self.view.at_work

    def press(self, widget: QWidget) -> None:
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton)
        let_run(0.02)

    def choose(self, text: str) -> None:
        """An entry of the tray's menu."""
        tray = self.desktop.tray
        next(action for action in tray._menu.actions() if action.text() == text).trigger()
        let_run(0.02)

    def until(self, holds: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < deadline, f"not seen: {what}; {self.view.state}, {self.view.link!r:.300}"
            let_run(0.02)
        self.say(what)

    def say(self, text: str) -> None:
        print(text, flush=True)

    def picture(self, widget: QWidget, name: str) -> None:
        let_run(0.1)  # it was shown in this very pass of events: let it settle
        widget.grab().save(str(self.pictures / f"{name}.png"))


if __name__ == "__main__":
    main()
