"""Dialogs for files and folders: the desktop's own, called from one place."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QStandardPaths
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

_last_folder = ""
"""The user's last folder, in which the next dialog opens."""


def ask_save_path(parent: QWidget, title: str, suggestion: str, kinds: str = "") -> str:
    """Where to write; the dialog asks before replacing a file.

    Args:
        suggestion: a file name, or a whole path.
        kinds: as in `Text (*.txt);;All files (*)`.

    Returns:
        The full path, "" if the user cancelled.
    """
    suggested = str(Path(_folder()) / suggestion)  # a whole path does not change
    chosen, _ = QFileDialog.getSaveFileName(parent, title, suggested, kinds, options=_options())
    return _remembered(chosen)


def ask_open_path(parent: QWidget, title: str, kinds: str = "") -> str:
    """An existing file; "" if the user cancelled."""
    chosen, _ = QFileDialog.getOpenFileName(parent, title, _folder(), kinds, options=_options())
    return _remembered(chosen)


def ask_folder(parent: QWidget, title: str) -> str:
    """An existing folder; "" if the user cancelled."""
    options = _options() | QFileDialog.Option.ShowDirsOnly
    return _remembered(QFileDialog.getExistingDirectory(parent, title, _folder(), options))


def _options() -> QFileDialog.Option:
    # Without a desktop there is no native dialog, and a test must be able to control it.
    bare = QGuiApplication.platformName() in ("offscreen", "minimal")
    return QFileDialog.Option.DontUseNativeDialog if bare else QFileDialog.Option(0)


def _folder() -> str:
    return _last_folder or QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)


def _remembered(chosen: str) -> str:
    global _last_folder
    if not chosen:
        return ""
    path = Path(chosen)
    _last_folder = str(path if path.is_dir() else path.parent)
    return str(path)
