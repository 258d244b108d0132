"""Widgets without a display, in the looks that everything is drawn in."""

from __future__ import annotations

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from PySide6.QtWidgets import QApplication

from sapo_desktop.gui import theme


@pytest.fixture(scope="session", autouse=True)
def looks(qapp: QApplication) -> None:
    """Fusion and the light palette, as a start of the window puts them on."""
    qapp.setStyle("Fusion")
    theme.wear(theme.LIGHT)
