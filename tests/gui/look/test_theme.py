"""The palettes: contrast by WCAG 2.2, and chart colours that colour-blind people can tell apart."""

import itertools
import logging
import re
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QFontInfo, QRawFont
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sapo_desktop.core.resources import resource
from sapo_desktop.gui.look import theme
from sapo_desktop.gui.look.theme import DARK, LIGHT, Theme
from sapo_desktop.gui.widgets.table import Table, number
from sapo_desktop.gui.widgets.text import Label, Role

# Brettel, Viénot and Mollon's simplification by Viénot 1999, in linear RGB.
_BLIND = {
    "none": np.eye(3),
    "protan": np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]]),
    "deutan": np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]]),
}
_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
_WHITE = np.array([0.9505, 1.0, 1.089])


def linear(colour: str) -> np.ndarray:
    values = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    light, dark = sorted((float(linear(c) @ _XYZ[1]) for c in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    x, y, z = np.cbrt(np.maximum(_XYZ @ np.clip(rgb, 0, 1) / _WHITE, 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=lambda found: found.name)
def test_every_text_can_be_read(colours: Theme) -> None:
    pairs = [
        *itertools.product(
            (colours.text, colours.muted), (colours.page, colours.surface, colours.sunken, colours.hover)
        ),
        *((colours.text, wash) for wash in (colours.accent_soft, colours.warning_soft, colours.danger_soft)),
        (colours.text, colours.silo_soft),
        (colours.accent, colours.accent_soft),
        (colours.warning, colours.warning_soft),
        (colours.danger, colours.danger_soft),
        (colours.silo, colours.silo_soft),
        *((tone, colours.surface) for tone in (colours.accent, colours.danger, colours.warning, colours.silo)),
        (colours.on_accent, colours.accent),
        (colours.on_accent, colours.accent_hover),
        (colours.on_silo, colours.silo),
        (colours.surface, colours.text),
    ]
    assert [(a, b, round(contrast(a, b), 2)) for a, b in pairs if contrast(a, b) < 4.5] == []


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=lambda found: found.name)
def test_what_can_be_operated_and_focus_can_be_seen(colours: Theme) -> None:
    lines = (colours.edge, colours.focus, colours.chart_me, colours.chart_swarm, colours.chart_held_out)
    assert [c for c in lines if contrast(c, colours.surface) < 3] == []
    assert contrast(colours.focus, colours.page) >= 3


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=lambda found: found.name)
def test_arrows_have_one_colour_that_every_theme_shows(colours: Theme) -> None:
    arrows = re.findall(r"url\(icons:(.+?)\)", theme._sheet())
    assert arrows == ["arrow-down.svg", "arrow-up.svg"]
    for arrow in arrows:
        [colour] = re.findall(r'stroke="(#.{6})"', resource(f"icons/{arrow}").read_text(encoding="utf-8"))
        assert contrast(colour, colours.surface) >= 3


@pytest.mark.parametrize("eyes", _BLIND)
@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=lambda found: found.name)
def test_the_curves_can_be_kept_apart(colours: Theme, eyes: str) -> None:
    seen = {c: lab(_BLIND[eyes] @ linear(c)) for c in (colours.chart_me, colours.chart_swarm, colours.chart_held_out)}
    close = [
        (one, other, round(float(np.linalg.norm(seen[one] - seen[other]))))
        for one, other in itertools.combinations(seen, 2)
        if np.linalg.norm(seen[one] - seen[other]) < 20
    ]
    assert close == [], "and dashes and marks tell them apart besides"


def test_text_grows_with_the_setting(qapp: QApplication) -> None:
    theme.wear(DARK, 200)
    assert theme.pixels("body") == 28 and qapp.font().pixelSize() == 28
    assert theme.current() is DARK
    assert f"font-size: {theme.pixels('title')}px" in qapp.styleSheet()


def test_a_named_theme_goes_before_the_systems(qapp: QApplication) -> None:
    assert theme.chosen("dark") is DARK and theme.chosen("light") is LIGHT
    assert theme.chosen("system") in (LIGHT, DARK)


@pytest.mark.parametrize("percent", [100, 200])
def test_every_text_is_in_the_shipped_font_with_digits_of_one_width(qtbot: QtBot, percent: int) -> None:
    theme.wear(LIGHT, percent)
    roles: tuple[Role, ...] = ("body", "caption", "muted", "strong", "subtitle", "title", "display", "chip")
    shown = [*(Label("0", role) for role in roles), Table("numbers", [number("n", lambda row: row)])]
    for widget in shown:
        qtbot.addWidget(widget)
        widget.ensurePolished()
        metrics = widget.fontMetrics()
        assert QFontInfo(widget.font()).family() == "Inter"
        assert len({metrics.horizontalAdvance(6 * digit) for digit in "0123456789"}) == 1
        assert metrics.horizontalAdvance("------") < metrics.horizontalAdvance("000000"), "only digits are widened"
    assert len({widget.fontMetrics().height() for widget in shown}) > 3


def test_the_shipped_font_has_every_character_of_both_languages(qapp: QApplication) -> None:
    said = {*"".join(path.read_text(encoding="utf-8") for path in resource("translations").glob("*.ts"))}
    said -= {*"\n∧∨"}  # Inter has no signs of logic
    for kind in ("Regular", "SemiBold"):
        path = resource(f"fonts/Inter-{kind}.ttf")
        assert path.read_bytes()[:4] == b"\x00\x01\x00\x00", "TrueType, which every system reads"
        font = QRawFont(str(path), 14)
        assert [one for one in sorted(said) if not font.supportsCharacter(ord(one))] == []


def test_a_damaged_font_is_logged_and_the_desktops_is_used(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    damaged = tmp_path / "font.ttf"
    damaged.write_bytes(b"no font")
    monkeypatch.setattr(theme, "resource", lambda name: damaged if name.endswith(".ttf") else resource(name))
    theme._shipped.cache_clear()
    try:
        with caplog.at_level(logging.WARNING):
            theme.wear(LIGHT, 150)
        assert qapp.font().pixelSize() == 21 and "Inter" not in qapp.font().families()
        assert "cannot be read" in caplog.text
    finally:
        monkeypatch.undo()
        theme._shipped.cache_clear()
