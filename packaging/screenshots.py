"""Takes the pictures of docs/screens: every page, light and dark, and the states of a page.

    python packaging/screenshots.py [--only WORD]      needs Xvfb

The window is the real one; its content comes from tests/gui (scenes.py, staged_*.py). The curve of learning alone is a
real one (docs/data/learning.json); peers and their actions are made up.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.display import on_a_display  # noqa: E402

WHERE = ROOT / "docs" / "screens"


class Shot(NamedTuple):
    """One picture."""

    name: str
    page: str = "home"
    scene: str = "swarm"
    theme: str = "light"
    size: tuple[int, int] = (1180, 860)
    percent: int = 100
    language: str = "en"


def shots() -> Iterator[Shot]:
    for page in ("home", "learning", "peers", "model", "try", "settings", "log"):
        yield Shot(page, page)
        yield Shot(f"{page}-dark", page, theme="dark")
    yield Shot("home-silo", scene="silo")
    yield Shot("home-silo-dark", scene="silo", theme="dark")
    yield Shot("home-empty", scene="new", size=(900, 600))
    yield Shot("home-starting", scene="starting", size=(900, 600))
    yield Shot("home-lost", scene="lost", size=(900, 600))
    yield Shot("home-cannot-start", scene="cannot start", size=(900, 600))
    yield Shot("home-battery", scene="battery", size=(900, 600))
    yield Shot("home-german", language="de")
    yield Shot("home-large-text", percent=200)
    yield Shot("learning-new", "learning", "new")
    yield Shot("peers-silo", "peers", "silo")
    yield Shot("peers-asking", "peers", "asking")
    yield Shot("model-new", "model", "new")
    yield Shot("model-hub", "model", "hub")
    yield Shot("settings-large-text-dark", "settings", theme="dark", percent=200)
    for step in range(1, 5):
        yield Shot(f"first-run-{step}", f"first run {step}", "new", size=(760, 600))


def main() -> None:
    parser = argparse.ArgumentParser(description="Take the pictures of docs/screens.")
    parser.add_argument("--only", default="", help="pictures whose name has this word")
    given = parser.parse_args()
    on_a_display("1920x1200")
    WHERE.mkdir(parents=True, exist_ok=True)
    take([shot for shot in shots() if given.only in shot.name])


def take(wanted: list[Shot]) -> None:
    from PySide6.QtGui import QImage
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    from sapo_desktop.gui.look import theme
    from sapo_desktop.gui.look.screen import settle
    from sapo_desktop.gui.words import language

    app = QApplication([])
    app.setStyle("Fusion")
    for shot in wanted:
        language.speak(shot.language)
        theme.wear(theme.THEMES[shot.theme], shot.percent)
        widget = first_run(shot) if shot.page.startswith("first run") else window(shot)
        widget.resize(*shot.size)
        QTest.qWait(700)
        settle()
        # 0: as small as PNG can be.
        picture = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
        picture.save(str(WHERE / f"{shot.name}.png"), "PNG", 0)
        widget.hide()
        widget.deleteLater()
        print(shot.name, flush=True)


def window(shot: Shot):  # type: ignore[no-untyped-def]
    from sapo_desktop.gui.shell.actions import Actions
    from sapo_desktop.gui.shell.window import MainWindow
    from tests.gui.all_pages.every_page import staged

    view = scene(shot.scene)
    bridge = staged(view)
    made = MainWindow(view, bridge, Actions(view, bridge))
    made.resize(*shot.size)
    made.show()
    made.go(shot.page)
    if shot.scene == "hub":
        models = made.page._models
        models._which.buttons["hub"].click()
        models.search.words.setText("small")
        models.search.button.click()
        models.table.setFocus()
    return made


def first_run(shot: Shot):  # type: ignore[no-untyped-def]
    from sapo_desktop.gui.first_run.wizard import Wizard
    from tests.gui.all_pages.every_page import staged

    bridge = staged(scene("new"))
    made = Wizard(bridge.view, bridge)
    made.show()
    for _ in range(int(shot.page[-1]) - 1):
        made._go_on()
    return made


def scene(name: str):  # type: ignore[no-untyped-def]
    """The view that a picture shows."""
    import msgspec

    from sapo_desktop.core.errors import ModelError
    from sapo_desktop.core.why import OnBattery
    from sapo_desktop.models.files.locate import locate
    from sapo_desktop.view.link import Connecting, Lost
    from sapo_desktop.view.viewmodel import View
    from sapo_desktop.worker.control.messages.events import StateChanged
    from sapo_desktop.worker.control.messages.swarm import JoinRequest
    from tests.gui.scenes import ANSWERED, NOW, a_view, silo_curve, swarm_curve

    match name:
        case "swarm" | "hub":
            view = a_view(swarm_curve(), silo=False, share=True)
            view.take(ANSWERED)
        case "asking":
            view = a_view(swarm_curve(), silo=False, share=True, swarm="cd" * 32, label="bert")
            assert view.swarm is not None
            first, *others = view.swarm.links
            mine = msgspec.structs.replace(first, claim=msgspec.structs.replace(first.claim, label="bert"))
            asks = JoinRequest(key="7c1e9a02d4b85f36" * 4, label="anna", seconds=190.0)
            view.take_swarm(msgspec.structs.replace(view.swarm, links=[mine, *others], asking=[asks]))
        case "silo":
            view = a_view(silo_curve())
            view.take(ANSWERED)
        case "new":
            return a_view(state="idle")
        case "starting":
            view = View(clock=lambda: NOW)
            view.take(Connecting())
        case "lost":
            view = a_view(silo_curve())
            reason = "The worker has stopped: it was killed (SIGKILL), because the computer ran out of memory."
            view.take(Lost(reason=reason))
        case "cannot start":
            view = a_view(silo_curve())
            try:
                locate("small", Path("/home/you/models"))
            except ModelError as error:
                view.take(Lost(reason=error.text, remedy="model"))
        case "battery":
            view = a_view(silo_curve())
            view.take(StateChanged(state="paused", reason="", why=OnBattery()))
    return view


if __name__ == "__main__":
    main()
