"""One window, in its own process, that measures itself: cost.py starts it and reads its lines.

bare                 pyqtgraph's smallest window, to its first paint
start FOLDER         ours, to its first paint
load FOLDER SECONDS  ours, with a node at work and 100,000 points: frames, clicks, memory, then hidden in the tray

Each frame and click is reported as [wall, CPU of the window's thread] in seconds: the second hardly depends on other
load.
"""

import json
import os
import random
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Any

BEGAN = time.monotonic()

import msgspec  # noqa: E402
from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal  # noqa: E402
from PySide6.QtWidgets import QApplication, QWidget  # noqa: E402

from tests.display import let_run  # noqa: E402

Taken = tuple[float, float]
"""Wall time and CPU time of the window's thread, seconds."""
POINTS = 100_000
PATIENCE = 500.0


class FirstPaint(QObject):
    """Says what it took to the first picture: until all that is painted in the first go has been, not just begun."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() is QEvent.Type.Paint:
            QTimer.singleShot(0, self._painted)  # after the children of this widget
        return False

    def _painted(self) -> None:
        spent = resource.getrusage(resource.RUSAGE_SELF)
        tell(cpu=spent.ru_utime + spent.ru_stime, wall=time.monotonic() - BEGAN)
        os._exit(0)


class Clicks(QObject):
    """Clicks that another thread asks for at random moments, and how long until their effect is painted."""

    _asked = Signal(float)

    def __init__(self, buttons: list[QWidget], shown: QWidget) -> None:
        super().__init__()
        self.taken: list[Taken] = []
        self._buttons, self._shown = buttons, shown
        self._asked.connect(self._click, Qt.ConnectionType.QueuedConnection)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _ask(self) -> None:
        draw = random.Random(1)
        while not self._over.wait(draw.uniform(0.05, 0.2)):
            self._asked.emit(time.perf_counter())

    def _click(self, asked: float) -> None:
        from PySide6.QtTest import QTest  # no part of the window, so not there yet when its memory is looked at

        began = time.thread_time()
        QTest.mouseClick(self._buttons[len(self.taken) % len(self._buttons)], Qt.MouseButton.LeftButton)
        self._shown.repaint()
        self.taken.append((time.perf_counter() - asked, time.thread_time() - began))


def tell(**values: Any) -> None:
    print(json.dumps(values), flush=True)


def bare() -> None:
    import pyqtgraph as pg

    app = QApplication([])
    window = pg.PlotWidget()
    window.plot([1, 2, 3], [1, 3, 2])
    first = FirstPaint(window.viewport())
    window.show()
    app.exec()
    del first


def start(folder: Path) -> None:
    app, desktop = our_desktop(folder)
    first = FirstPaint(desktop.window.centralWidget())
    desktop.begin()
    app.exec()
    del first


def load(folder: Path, seconds: float) -> None:
    from sapo_desktop.worker.control.messages.requests import Pause, Resume, StartRounds

    app, desktop = our_desktop(folder)
    desktop.begin()
    wait(lambda: desktop.view.attached, "no node")
    desktop.bridge.ask(StartRounds(), of=desktop)
    wait(lambda: len(desktop.view.curves) >= 2, "no round")
    tell(rss=rss(), anonymous=rss("RssAnon"))
    fill(desktop)
    chart = desktop.window.page._chart.chart
    segments = desktop.window.page._chart._range
    frames, clicks = animate(chart, seconds), clicked(segments, chart, seconds)
    tell(frames=frames, clicks=clicks, rss=rss(), anonymous=rss("RssAnon"))
    desktop.bridge.ask(Pause(), of=desktop)
    let_run(1)
    tell(frames=animate(chart, seconds / 2), clicks=clicked(segments, chart, seconds / 2))
    desktop.bridge.ask(Resume(), of=desktop)
    rounds = len(desktop.view.curves)
    desktop.window.hide()
    let_run(2)
    before, began = cpu(), time.monotonic()
    let_run(2 * seconds)
    tell(hidden=(cpu() - before) / (time.monotonic() - began), rounds=len(desktop.view.curves) - rounds)
    desktop.quit()
    app.exec()


def our_desktop(folder: Path) -> tuple[Any, Any]:
    from sapo_desktop.gui.shell.app import App, Desktop
    from sapo_desktop.gui.shell.remembered import WELCOME, Remembered, remember
    from sapo_desktop.system.folders import DataFolder

    data = DataFolder.open(folder)
    remember(data, Remembered(welcomed=WELCOME))
    app = App([])
    return app, Desktop(app, data)


def fill(desktop: Any) -> None:
    """Fill the window as if the node had played a hundred thousand rounds."""
    from tests.gui.scenes import swarm_curve

    curves = desktop.view.curves
    curves.load(swarm_curve(POINTS))
    # The node's real rounds continue behind the made up ones.
    add = curves.add
    curves.add = lambda report: add(msgspec.structs.replace(report, round=curves.last_round + 1))
    desktop.bridge.changed.emit(frozenset({"curves"}))
    let_run(0.5)


def animate(chart: Any, seconds: float) -> list[Taken]:
    """The time from a change of the view to its picture, during dragging and zooming."""
    draw = random.Random(1)
    taken = []
    until = time.monotonic() + seconds
    low, wide = 0.0, float(POINTS)
    while time.monotonic() < until:
        wide = min(POINTS, max(50.0, wide * draw.uniform(0.9, 1.12)))
        low = min(max(0.0, low + draw.uniform(-0.05, 0.05) * wide), POINTS - wide)
        began, computed = time.perf_counter(), time.thread_time()
        chart.go(low, low + wide)
        chart.repaint()
        taken.append((time.perf_counter() - began, time.thread_time() - computed))
        let_run(0.004)
    return taken


def clicked(segments: Any, chart: Any, seconds: float) -> list[Taken]:
    """The time from a click on a range to its picture."""
    clicks = Clicks(list(segments.buttons.values()), chart)
    let_run(seconds)
    clicks.stop()
    return clicks.taken


def wait(holds: Any, complaint: str) -> None:
    until = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > until:
            sys.exit(complaint)
        let_run(0.05)


def rss(name: str = "VmRSS") -> int:
    """Bytes; Linux only."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def cpu() -> float:
    spent = resource.getrusage(resource.RUSAGE_SELF)
    return spent.ru_utime + spent.ru_stime


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["bare"]:
            bare()
        case ["start", folder]:
            start(Path(folder))
        case ["load", folder, seconds]:
            load(Path(folder), float(seconds))
