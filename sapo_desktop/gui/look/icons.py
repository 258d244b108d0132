"""Our own icons: SVG files drawn in one colour, which is the theme's at the moment they are made."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from sapo_desktop.core.resources import resource
from sapo_desktop.gui.look import theme

_SIZES = (16, 18, 20, 22, 24, 32, 36, 48, 64)
"""18 and 22 are what buttons have at 100%: a picture that is made smaller blurs."""


def icon(name: str, colour: str | None = None) -> QIcon:
    """The icon of this name in `colour` (#rrggbb; the theme's muted text without one)."""
    return _icon(name, colour or theme.current().muted)


def pixmap(name: str, size: int, colour: str | None = None, ratio: float = 1.0) -> QPixmap:
    """The same as a picture of `size` device-independent pixels."""
    return _pixmap(name, size, colour or theme.current().muted, ratio)


def face(name: str) -> QIcon:
    """The app's own picture, in several colours of its own: `sapo`, or `tray-` and a state."""
    return _icon(name, "")


@lru_cache(maxsize=256)
def _icon(name: str, colour: str) -> QIcon:
    made = QIcon()
    for size in _SIZES:
        made.addPixmap(_pixmap(name, size, colour, 1.0))
    return made


@lru_cache(maxsize=512)
def _pixmap(name: str, size: int, colour: str, ratio: float) -> QPixmap:
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
