"""The catalogues' texts on tasks and models, in the window's language."""

import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator
from PySide6.QtWidgets import QApplication

from sapo_desktop.core.resources import resource
from sapo_desktop.gui.learning.task_choice import family_rows
from sapo_desktop.models.catalogue import model_catalogue
from sapo_desktop.tasks.catalogue import load_catalogue
from tests.gui.staged_try import FAMILIES, tasks

ROOT = Path(__file__).resolve().parents[3]


class Shouting(QTranslator):
    def translate(self, context: str, text: str, about: str | None = None, n: int = -1) -> str:
        return text.upper()

    def isEmpty(self) -> bool:  # noqa: N802
        return False


@pytest.fixture
def _shouting(qapp: QApplication) -> Iterator[None]:
    translator = Shouting()
    QCoreApplication.installTranslator(translator)
    yield
    QCoreApplication.removeTranslator(translator)


def test_every_title_and_every_word_about_a_model_is_collected() -> None:
    collected = runpy.run_path(str(ROOT / "packaging" / "translations.py"))["catalogue_texts"]()
    titles = {family.title for family in load_catalogue(resource("tasks.toml")).families}
    assert collected == titles | {entry.about for entry in model_catalogue().models}


@pytest.mark.usefixtures("_shouting")
def test_families_go_by_their_titles_in_the_windows_language() -> None:
    titles = {title.upper() for title in FAMILIES.values()}
    assert {row.title for row in family_rows(tasks().items, frozenset())} == titles
