"""A newcomer's first ten minutes: the real window on a screen of its own, a real worker, an empty data folder.

    python -m tests.bench.window.newcomer --pictures FOLDER                       10 minutes
    python -m tests.bench.window.newcomer --pictures FOLDER --minutes 4 --load 8  next to eight endless loops
    python -m tests.bench.window.newcomer --quick                                 a quarter of a minute

A newcomer reads each first-run page for a few seconds, accepts the defaults, looks at Home, then at every page. The
script prints the time to the first-run pages, to the first point and to a sentence on Home that says whether the model
learns. It also prints every freeze of more than half a second, and all texts of Home after 1, 3 and 10 minutes.
Wall time from the start of the process, as a person sees it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget

from sapo_desktop.gui.home.page import HomePage
from sapo_desktop.gui.look.screen import settle
from sapo_desktop.gui.shell.app import App, Desktop
from sapo_desktop.gui.shell.window import entries
from sapo_desktop.system.folders import DataFolder
from tests.bench.figure import Figure, arguments, show, tell
from tests.bench.node.busy import loops
from tests.display import a_display, let_run

LOOKED_AT = (1, 3, 10)
"""Minutes after which all that Home says is written down."""
TOUR_SECONDS = 75.0
"""Seconds after which, once there is a point, every page is visited."""
READ_SECONDS = 3.0
"""For each of the first-run questions, and for each page."""
BEAT_MS, STALL_SECONDS = 50, 0.5
PATIENCE = 600.0


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--load", type=int, default=0, help="endless loops next to it")
    parser.add_argument("--language", default="en", choices=("en", "de"))
    parser.add_argument("--pictures", type=Path, help="folder for pictures of what is seen")
    parser.add_argument("--here", type=float, help="when this process was started (it starts itself on that screen)")
    given = parser.parse_args()
    if given.here is not None:
        minutes = 0.25 if given.quick else given.minutes
        Newcomer(given.here, minutes, given.pictures, given).play(given.language)
        return
    with a_display("1400x1000", tray=True) as screen, loops(given.load):
        line = [sys.executable, "-m", "tests.bench.window.newcomer", *sys.argv[1:], "--here", str(time.monotonic())]
        subprocess.run(line, env=screen, check=True)
        tell(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the end, {given.load} loops next to it")


class Newcomer:
    """See the module. `began`: monotonic seconds. `given`: as `figure.show` takes it."""

    def __init__(self, began: float, minutes: float, pictures: Path | None, given: Namespace) -> None:
        self._began, self._minutes, self._pictures, self._given = began, minutes, pictures, given
        self._doing = "starting"
        self._beat = time.monotonic()
        self._stalls: list[float] = []

    def play(self, language: str) -> None:
        """Ten minutes, or so many."""
        with tempfile.TemporaryDirectory() as scratch:
            (Path(scratch) / "settings.toml").write_text(f'version = 1\nlanguage = "{language}"\n')
            app = App([])
            self._desktop = Desktop(app, DataFolder.open(Path(scratch)))
            heart = QTimer()
            heart.timeout.connect(self._note_beat)
            heart.start(BEAT_MS)
            self._desktop.begin()
            self._answer_questions()
            self._look_around()
            note = f"longest {max(self._stalls, default=0.0):.2f} s"
            show([Figure("the window stood still", len(self._stalls), "times", note=note)], self._given)
            QTimer.singleShot(0, self._desktop.quit)
            app.exec()

    # -- what a newcomer does --------------------------------------------------------------------------------

    def _answer_questions(self) -> None:
        wizard = self._desktop._wizard
        assert wizard is not None
        self._until(wizard.isVisible, "to the first-run questions")
        for number, _ in enumerate(wizard._steps, 1):
            self._doing = f"question {number}"
            let_run(READ_SECONDS)
            self._until(wizard._next.isEnabled, f"to the answer of question {number}")
            self._picture(wizard, self._doing)
            QTest.mouseClick(wizard._next, Qt.MouseButton.LeftButton)
        self._doing = "home"
        self._until(self._desktop.window.isVisible, "to the window")
        self._picture(self._desktop.window, "home at first")

    def _look_around(self) -> None:
        view, moments = self._desktop.view, [minute for minute in LOOKED_AT if minute <= self._minutes]
        todo = {"point": lambda: len(view.curves) > 0, "sentence": lambda: view.held_out_gain is not None}
        names = {"point": "to the first point", "sentence": "to a sentence on whether it learns"}
        while self._past < 60 * self._minutes or moments:
            let_run(0.2)
            for name in [name for name, holds in todo.items() if holds()]:
                del todo[name]
                self._reached(names[name])
            if moments and self._past >= 60 * moments[0]:
                self._write_down(moments.pop(0))
            if "point" not in todo and self._past > TOUR_SECONDS and len(self._desktop.window._pages) == 1:
                self._tour()

    def _tour(self) -> None:
        for name in [*(entry.name for entry in entries()), "home"]:
            self._doing = f"page {name}"
            self._desktop.window.go(name)
            let_run(READ_SECONDS)
            self._picture(self._desktop.window, self._doing)

    def _write_down(self, minute: int) -> None:
        home = self._desktop.window._pages["home"]
        assert isinstance(home, HomePage)
        self._picture(self._desktop.window, f"home after {minute} min")
        tell(f"Home after {minute} min:")
        for label in home.findChildren(QLabel):
            if label.isVisibleTo(home) and label.text():
                tell(f"    {label.text()}")

    # -- what is measured ------------------------------------------------------------------------------------

    @property
    def _past(self) -> float:
        return time.monotonic() - self._began

    def _note_beat(self) -> None:
        now = time.monotonic()
        late = now - self._beat - BEAT_MS / 1000
        self._beat = now
        if late > STALL_SECONDS:
            self._stalls.append(late)
            tell(f"stood still for {late:.2f} s at {self._past:.0f} s: {self._doing}")

    def _reached(self, what: str) -> None:
        show([Figure(what, self._past, "s")], self._given)

    def _until(self, holds: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < deadline, f"not seen: {what}"
            let_run(0.02)
        self._reached(what)

    def _picture(self, widget: QWidget, name: str) -> None:
        if self._pictures is None:
            return
        self._pictures.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        settle()
        widget.grab().save(str(self._pictures / f"{name.replace(' ', '-')}.png"))
        self._beat += time.monotonic() - began  # a newcomer takes none


if __name__ == "__main__":
    main()
