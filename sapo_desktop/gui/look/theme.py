"""Colours, type and spacing: one light and one dark palette, one type scale, one grid.

Plain Qt styling (Fusion, a palette and one style sheet), so every widget updates at once. Custom painting calls
`current()` while it paints. Contrast and colour-blind distances of both palettes are tested
(tests/gui/look/test_theme.py).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from string import Template
from typing import Literal

from PySide6.QtCore import QDir, QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication

from sapo_desktop.core.resources import resource
from sapo_desktop.view.words import PHASES

log = logging.getLogger(__name__)

GRID = 8
"""Every distance is a multiple of half of this."""
_WEIGHTS = ("Regular", "SemiBold")
"""The only ones that the window uses."""
SCALE = {"caption": 12, "body": 14, "strong": 14, "subtitle": 16, "title": 22, "display": 30}
"""Pixels at 100%."""


@dataclass(frozen=True)
class Theme:
    """One palette, as #rrggbb. `on_x` is text on x, `x_soft` a wash of it behind ordinary text."""

    name: Literal["light", "dark"]
    page: str
    surface: str
    sunken: str
    hover: str
    line: str
    edge: str
    """The frame of controls: contrast 3 to 1 against the surface."""
    text: str
    muted: str
    accent: str
    accent_hover: str
    on_accent: str
    accent_soft: str
    focus: str
    danger: str
    danger_soft: str
    warning: str
    warning_soft: str
    silo: str
    on_silo: str
    silo_soft: str
    chart_me: str
    chart_swarm: str
    chart_held_out: str
    chart_base: str
    phases: Mapping[str, str]

    def colour(self, name: str) -> str:
        """A colour by its name here, or that of a phase of a round."""
        return self.phases.get(name) or str(getattr(self, name))


def _by_phase(*colours: str) -> dict[str, str]:
    """In the order of a round."""
    return dict(zip(PHASES, colours, strict=True))


LIGHT = Theme(
    name="light",
    page="#f4f5f1",
    surface="#ffffff",
    sunken="#ecefe8",
    hover="#e4e9e0",
    line="#dde1d8",
    edge="#858e85",
    text="#1a201b",
    muted="#58615a",
    accent="#14713f",
    accent_hover="#0f5a32",
    on_accent="#ffffff",
    accent_soft="#dcefe2",
    focus="#0f62c4",
    danger="#ab2e1b",
    danger_soft="#fbe5df",
    warning="#7f5200",
    warning_soft="#fbeecf",
    silo="#5a3ea6",
    on_silo="#ffffff",
    silo_soft="#eae4f8",
    chart_me="#0069a8",
    chart_swarm="#c95500",
    chart_held_out="#00805c",
    chart_base="#858e85",
    phases=_by_phase("#9aa39b", "#0069a8", "#7a4ea3", "#c95500", "#b8860b", "#00805c", "#6b746c", "#a8376b"),
)
DARK = Theme(
    name="dark",
    page="#131614",
    surface="#1b1f1c",
    sunken="#232825",
    hover="#2b312d",
    line="#303631",
    edge="#7b857d",
    text="#e8ede9",
    muted="#a6b0a8",
    accent="#52c98e",
    accent_hover="#76d9a7",
    on_accent="#05230f",
    accent_soft="#1c3a2a",
    focus="#7fb6ff",
    danger="#ff9480",
    danger_soft="#43211b",
    warning="#f0bd5b",
    warning_soft="#3c2f14",
    silo="#bca8f7",
    on_silo="#1e123f",
    silo_soft="#2f2850",
    chart_me="#63b5f0",
    chart_swarm="#f0a13c",
    chart_held_out="#3fcfa0",
    chart_base="#7b857d",
    phases=_by_phase("#747e76", "#63b5f0", "#b99be6", "#f0a13c", "#e3c766", "#3fcfa0", "#8d978f", "#e889b2"),
)
THEMES = {"light": LIGHT, "dark": DARK}


class _Looks(QObject):
    """The current theme and text size, with change signals."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.theme = LIGHT
        self.text_percent = 100


_looks: _Looks | None = None


def looks() -> _Looks:
    """Its signal `changed` announces new colours or sizes. Needs a QApplication."""
    global _looks
    if _looks is None:
        _looks = _Looks()
    return _looks


def current() -> Theme:
    return looks().theme


def pixels(role: str) -> int:
    """The size of a text of this role."""
    return round(SCALE[role] * looks().text_percent / 100)


def scaled(size: float) -> int:
    """Pixels of something that grows with the text: `size` at 100%."""
    return round(size * looks().text_percent / 100)


def grid(steps: float = 1.0) -> int:
    """A distance; larger text gets slightly more spacing."""
    return round(GRID * steps)


def font(role: str = "body") -> QFont:
    """The font of a role of the type scale."""
    made = QFont(QApplication.font())
    made.setPixelSize(pixels(role))
    if role in ("strong", "subtitle", "title", "display"):
        made.setWeight(QFont.Weight.DemiBold)
    return made


def _plain_font() -> QFont:
    """The shipped font. Scripts that it lacks come from the desktop's font."""
    made = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    made.setFamilies([*_shipped(), *made.families()])
    made.setPixelSize(pixels("body"))
    made.setFeature(QFont.Tag("tnum"), 1)  # digits of one width: a number that changes moves nothing next to it
    return made


@lru_cache(maxsize=1)
def _shipped() -> list[str]:
    """The family of the shipped font; none, which is logged, if Qt cannot read it."""
    read = [QFontDatabase.addApplicationFont(str(resource(f"fonts/Inter-{kind}.ttf"))) for kind in _WEIGHTS]
    if -1 in read:
        log.warning("The shipped font cannot be read, so the window uses the desktop's. Install SAPO Desktop again.")
        return []
    return ["Inter"]


def fixed_font(role: str = "body") -> QFont:
    """For a model's answers, addresses and logs."""
    made = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    made.setPixelSize(pixels(role) - 1)
    return made


def chosen(setting: str) -> Theme:
    """The theme for the setting `theme`; `system` follows the desktop, or light if that is unknown."""
    if setting in THEMES:
        return THEMES[setting]
    dark = QApplication.styleHints().colorScheme() is Qt.ColorScheme.Dark
    return DARK if dark else LIGHT


def wear(theme: Theme, text_percent: int = 100) -> None:
    """Apply these colours and sizes to the whole application."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    mine = looks()
    mine.theme, mine.text_percent = theme, text_percent
    app.setFont(_plain_font())
    app.setPalette(_palette(theme))
    QDir.setSearchPaths("icons", [str(resource("icons"))])  # where the style sheet finds its arrows
    app.setStyleSheet(style_sheet(theme))
    mine.changed.emit()


def _palette(theme: Theme) -> QPalette:
    role = QPalette.ColorRole
    palette = QPalette()
    for which, colour in {
        role.Window: theme.page,
        role.WindowText: theme.text,
        role.Base: theme.surface,
        role.AlternateBase: theme.sunken,
        role.Text: theme.text,
        role.PlaceholderText: theme.muted,
        role.Button: theme.surface,
        role.ButtonText: theme.text,
        role.BrightText: theme.danger,
        role.Highlight: theme.accent,
        role.HighlightedText: theme.on_accent,
        role.ToolTipBase: theme.text,
        role.ToolTipText: theme.surface,
        role.Link: theme.focus,
        role.LinkVisited: theme.focus,
        role.Light: theme.surface,
        role.Midlight: theme.line,
        role.Mid: theme.line,
        role.Dark: theme.edge,
        role.Shadow: theme.line,
        role.Accent: theme.accent,
    }.items():
        palette.setColor(which, QColor(colour))
    for which in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, which, QColor(theme.edge))
    return palette


def style_sheet(theme: Theme) -> str:
    """The application's style sheet (resources/style.qss) in these colours."""
    sizes = {role: pixels(role) for role in SCALE}
    inside, ring = scaled(16), scaled(6)  # of a radio button, inside its frame of two pixels
    radio = {"radio": inside, "radio_half": inside // 2 + 2, "ring": ring, "dot": inside + 4 - 2 * ring}
    around = {"pad": pixels("body") // 2 + 1, "chip": pixels("body") + 2}
    return Template(_sheet()).substitute(asdict(theme), **sizes, **radio, **around)


@lru_cache(maxsize=1)
def _sheet() -> str:
    return resource("style.qss").read_text(encoding="utf-8")
