"""Films a newcomer's first minutes for the README: the last setup page, then Home while the line rises.

    python packaging/film.py [--minutes 4] [--out docs/screens/learning.webp]      needs Xvfb

A real window, a real node, an empty data folder, nothing staged: the film shows what this run learned. One picture
every few seconds, shown faster.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from PIL import Image
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.bench.window.newcomer import Newcomer  # noqa: E402
from tests.display import let_run, on_a_display  # noqa: E402

EVERY_SECONDS = 5.0
FIRST_MS, EACH_MS, LAST_MS = 2000, 250, 4000
WIDTH = 900
"""Pixels, as README shows it."""
PAPER = (245, 245, 240)


class Filmed(Newcomer):
    """A new user who clicks through the setup pages and then only watches Home."""

    def __init__(self, minutes: float) -> None:
        super().__init__(time.monotonic(), minutes, None, argparse.Namespace(json=False))
        self.frames: list[Image.Image] = []

    def _look_around(self) -> None:
        while self._past < 60 * self._minutes:
            let_run(EVERY_SECONDS)
            self.frames.append(picture_of(self._desktop.window))

    def _picture(self, widget: QWidget, name: str) -> None:
        if name == "question 4":
            self.frames.append(picture_of(widget))


def picture_of(widget: QWidget) -> Image.Image:
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    size = (image.width(), image.height())
    return Image.frombytes("RGB", size, bytes(image.constBits()), "raw", "RGB", image.bytesPerLine())


def film(frames: list[Image.Image], out: Path) -> None:
    """Write the frames, each centred on a canvas of the largest one's size."""
    size = (max(frame.width for frame in frames), max(frame.height for frame in frames))
    small = (WIDTH, round(size[1] * WIDTH / size[0]))
    shown = []
    for frame in frames:
        paper = Image.new("RGB", size, PAPER)
        paper.paste(frame, ((size[0] - frame.width) // 2, (size[1] - frame.height) // 2))
        shown.append(paper.resize(small, Image.Resampling.LANCZOS))
    times = [FIRST_MS, *[EACH_MS] * (len(shown) - 2), LAST_MS]
    shown[0].save(out, save_all=True, append_images=shown[1:], duration=times, loop=0, quality=80, method=6)
    print(f"{out}: {len(shown)} pictures, {out.stat().st_size / 1e3:,.0f} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description="Film a new user's first minutes.")
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screens" / "learning.webp")
    given = parser.parse_args()
    on_a_display("1400x1000", tray=True)
    newcomer = Filmed(given.minutes)
    newcomer.play("en")
    film(newcomer.frames, given.out)


if __name__ == "__main__":
    main()
