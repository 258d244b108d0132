"""Which file or folder: the desktop's own dialogs, asked for in one place."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QStandardPaths
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

_last_folder = ""
"""Where the user was last: the next dialog begins there."""


def ask_save_path(parent: QWidget, title: str, suggestion: str, kinds: str = "") -> str:
    """Where to write; the user was asked where a file is there already.

    Args:
        suggestion: a file name, or a whole path.
        kinds: as in `Text (*.txt);;All files (*)`.

    Returns:
        The full path, "" where the user went back.
    """
    beside_the_last = str(Path(_folder()) / suggestion)  # a whole path stays what it is
    chosen, _ = QFileDialog.getSaveFileName(parent, title, beside_the_last, kinds, options=_options())
    return _remembered(chosen)


def ask_open_path(parent: QWidget, title: str, kinds: str = "") -> str:
    """A file that is there; "" where the user went back."""
    chosen, _ = QFileDialog.getOpenFileName(parent, title, _folder(), kinds, options=_options())
    return _remembered(chosen)


def ask_folder(parent: QWidget, title: str) -> str:
    """A folder that is there; "" where the user went back."""
    options = _options() | QFileDialog.Option.ShowDirsOnly
    return _remembered(QFileDialog.getExistingDirectory(parent, title, _folder(), options))


def _options() -> QFileDialog.Option:
    # Without a desktop there is no dialog of its own, and a test must be able to reach into it.
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
