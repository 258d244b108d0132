"""Our own icons: SVG files drawn in one colour, the theme's at the time of drawing."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from sapo_desktop.core.resources import resource

_OF_FACES = (16, 20, 22, 24, 32, 36, 48, 64)
"""Sizes in pixels for window lists and trays."""


def icon(name: str, side: int, colour: str) -> QIcon:
    """The icon of this name in `colour` (#rrggbb), for display at `side` device-independent pixels: scaling down
    blurs, and drawing every size is slow."""
    ratio = max((screen.devicePixelRatio() for screen in QGuiApplication.screens()), default=1.0)
    return _icon(name, colour, tuple(sorted({side, round(ratio * side), 2 * side})))


def face(name: str) -> QIcon:
    """The app's own picture in several colours: `sapo`, or `tray-` and a state."""
    return _icon(name, "", _OF_FACES)


@lru_cache(maxsize=256)
def _icon(name: str, colour: str, sizes: tuple[int, ...]) -> QIcon:
    made = QIcon()
    for size in sizes:
        made.addPixmap(pixmap(name, size, colour, 1.0))
    return made


@lru_cache(maxsize=512)
def pixmap(name: str, size: int, colour: str, ratio: float) -> QPixmap:
    """The icon as a picture of `size` device-independent pixels."""
    drawn = QPixmap(QSize(round(size * ratio), round(size * ratio)))
    drawn.fill(Qt.GlobalColor.transparent)
    painter = QPainter(drawn)
    QSvgRenderer(QByteArray(_source(name).replace("currentColor", colour).encode())).render(
        painter, QRectF(0, 0, drawn.width(), drawn.height())
    )
    painter.end()
    drawn.setDevicePixelRatio(ratio)
    return drawn


@lru_cache(maxsize=64)
def _source(name: str) -> str:
    return resource(f"icons/{name}.svg").read_text(encoding="utf-8")
