"""Paints every page, part of a page, state and dialog in eight looks, to be looked at one by one.

    python packaging/looks.py FOLDER [--parts dialogs states] [--only WORD]      needs Xvfb; four minutes for all

A look is a theme, a language, a text size and the room that a screen leaves; each value of each comes with several of
the others. What is shown comes from tests/gui, as in screenshots.py.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "packaging")]

from tests.display import on_a_display  # noqa: E402


class Look(NamedTuple):
    theme: str
    language: str
    percent: int
    size: tuple[int, int]
    """What a screen leaves, in Qt's pixels: of 1024x600, 1280x800, 1920x1080 and 2560x1440."""

    @property
    def name(self) -> str:
        return f"{self.theme}-{self.language}-{self.percent}-{self.size[0]}"


SMALL, USUAL, LARGE, HUGE = (1008, 540), (1264, 740), (1904, 1020), (2544, 1380)
LOOKS = [
    Look("light", "en", 100, SMALL),
    Look("dark", "de", 100, USUAL),
    Look("light", "de", 200, LARGE),
    Look("dark", "en", 200, HUGE),
    Look("light", "en", 200, USUAL),
    Look("dark", "de", 200, SMALL),
    Look("light", "de", 100, HUGE),
    Look("dark", "en", 100, LARGE),
]
STATES = ("silo", "new", "starting", "lost", "cannot start", "battery")
"""Home's, beside the usual one (screenshots.scene)."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Paint everything in eight looks.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="what is walked through")
    parser.add_argument("--only", default="", help="pictures whose name has this word")
    given = parser.parse_args()
    on_a_display("2600x1500")
    given.folder.mkdir(parents=True, exist_ok=True)
    paint(given.folder, given.parts, given.only)


def paint(folder: Path, parts: list[str], only: str) -> None:
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    from sapo_desktop.gui.look import theme
    from sapo_desktop.gui.look.screen import settle
    from sapo_desktop.gui.words import language

    app = QApplication([])
    app.setStyle("Fusion")
    for look in LOOKS:
        language.speak(look.language)
        theme.wear(theme.THEMES[look.theme], look.percent)
        for state, widget in itertools.chain.from_iterable(PARTS[part](look) for part in parts):
            name = f"{state.replace(' ', '-')}--{look.name}"
            if only in name:
                QTest.qWait(300)
                settle()
                widget.grab().save(str(folder / f"{name}.png"))
                print(name, flush=True)


def pages(look: Look) -> Iterator[tuple]:  # type: ignore[type-arg]
    """Every page and part of one, with what is folded unfolded."""
    from tests.gui.all_pages.every_page import a_full_window, go_round

    window = a_full_window()
    window.resize(*look.size)
    for place in go_round(window):
        yield place, window
    window.hide()


def states(look: Look) -> Iterator[tuple]:  # type: ignore[type-arg]
    from screenshots import Shot, window

    for state in STATES:
        made = window(Shot(state, scene=state, size=look.size))
        yield f"home {state}", made
        made.hide()
    for page in ("learning", "peers", "model"):
        made = window(Shot(page, page, "new", size=look.size))
        yield f"{page} new", made
        made.hide()


def first_run(look: Look) -> Iterator[tuple]:  # type: ignore[type-arg]
    from PySide6.QtCore import QPoint, QRect, QSize
    from screenshots import Shot
    from screenshots import first_run as at

    for step in range(1, 5):
        made = at(Shot("", f"first run {step}"))
        made._on_screen.place(QRect(QPoint(0, 0), QSize(*look.size)))
        yield f"first run {step}", made
        made.hide()


def dialogs(look: Look) -> Iterator[tuple]:  # type: ignore[type-arg]
    """Over a window, as a person meets them."""
    from screenshots import scene

    from sapo_desktop.gui.model.transfer import HubSheet, TokenSheet
    from sapo_desktop.gui.peers.answer import AnswerSheet
    from sapo_desktop.gui.peers.join import JoinSheet
    from sapo_desktop.gui.peers.me import ConsentSheet
    from sapo_desktop.gui.peers.passphrase import PassphraseSheet
    from sapo_desktop.gui.peers.private import AdmitSheet, InviteSheet
    from sapo_desktop.gui.shell.actions import Actions
    from sapo_desktop.gui.shell.mini import MiniWindow
    from sapo_desktop.gui.shell.window import AwaySheet, MainWindow
    from tests.gui.all_pages.every_page import staged

    view = scene("silo")
    bridge = staged(view)
    actions = Actions(view, bridge)
    parent = MainWindow(view, bridge, actions)
    parent.resize(*look.size)
    parent.show()
    for made in (
        JoinSheet(parent, view, bridge, "wss://relay.example:8765"),
        ConsentSheet(parent, lambda: None),
        InviteSheet(parent, bridge),
        AdmitSheet(parent, bridge),
        AnswerSheet(parent, view, bridge),
        PassphraseSheet(parent, "A passphrase", "It opens the key.", lambda _: None, new=True),
        HubSheet(parent, bridge),
        TokenSheet(parent, bridge),
        AwaySheet(parent),
    ):
        made.open()
        yield f"dialog {type(made).__name__}", made
        made.close()
    parent.hide()
    small = MiniWindow(view, bridge, actions)
    small.show()
    yield "small window", small
    small.hide()


PARTS: dict[str, Callable[[Look], Iterator[tuple]]] = {  # type: ignore[type-arg]
    "pages": pages,
    "states": states,
    "first-run": first_run,
    "dialogs": dialogs,
}


if __name__ == "__main__":
    main()
