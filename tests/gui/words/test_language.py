"""The window's languages: every text of the code is translated, and a German window shows no English.

What the node says (core/sentences.py) is among them; a library's own words in it, and what peers wrote, stay as they
are.
"""

import ast
import html
import re
import runpy
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLineEdit, QPlainTextEdit, QSystemTrayIcon, QWidget
from pytestqt.qtbot import QtBot

from sapo_desktop.gui.first_run.wizard import Wizard
from sapo_desktop.gui.shell.actions import Actions
from sapo_desktop.gui.shell.tray import Tray
from sapo_desktop.gui.words import language
from sapo_desktop.gui.words.language import tr
from tests.gui.all_pages.every_page import a_full_window
from tests.gui.all_pages.test_strangers import shown_by
from tests.gui.scenes import a_view, silo_curve
from tests.gui.stage import StageBridge

ROOT = Path(__file__).resolve().parents[3]
PLACEHOLDER = re.compile(r"\{\w*\}")
LONG = 5
"""From so many words on, a text is looked for inside of others too."""


class Text(NamedTuple):
    """A text of the code, with what a language has for it: two forms where it counts something."""

    source: str
    about: str
    forms: tuple[str, ...]

    @property
    def counts(self) -> bool:
        return len(self.forms) > 1


@cache
def texts(name: str) -> dict[tuple[str, str], Text]:
    """What a language's file holds."""
    found = {}
    for message in ET.parse(ROOT / "resources" / "translations" / f"sapo_{name}.ts").getroot().iter("message"):
        source, about = message.findtext("source", ""), message.findtext("comment", "")
        translation = message.find("translation")
        assert translation is not None
        forms = [form.text or "" for form in translation.iter("numerusform")] or [translation.text or ""]
        found[source, about] = Text(source, about, tuple(forms))
    return found


def asked_of_tr() -> Iterator[tuple[str, ast.Call]]:
    """Every call of `tr` in the window's code, with where it is. The worker's sentences come from elsewhere."""
    words = ROOT / "sapo_desktop" / "gui" / "words"
    others = {words / "sentences.py", words / "language.py"}
    for path in sorted({*(ROOT / "sapo_desktop" / "gui").rglob("*.py")} - others):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "tr":
                yield f"{path.relative_to(ROOT).as_posix()}:{node.lineno}", node


def about_of(call: ast.Call) -> str:
    about = call.args[1] if len(call.args) > 1 else None
    return about.value if isinstance(about, ast.Constant) and isinstance(about.value, str) else ""


# -- the files -----------------------------------------------------------------------------------------------


def test_the_files_are_up_to_date_and_complete() -> None:
    command = [sys.executable, str(ROOT / "packaging" / "translations.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_text_without_words_in_one_of_its_forms_counts_as_unfinished(tmp_path: Path) -> None:
    said = {
        "done": "<translation>getan</translation>",
        "absent": "",
        "begun": '<translation type="unfinished">bego</translation>',
        "empty": "<translation> </translation>",
        "counted": "<translation><numerusform>eins</numerusform><numerusform>%Ln</numerusform></translation>",
        "half": "<translation><numerusform>eins</numerusform><numerusform></numerusform></translation>",
    }
    messages = "".join(f"<message><source>{name}</source>{text}</message>" for name, text in said.items())
    (tmp_path / "some.ts").write_text(f"<TS>{messages}</TS>", encoding="utf-8")
    unfinished = runpy.run_path(str(ROOT / "packaging" / "translations.py"))["unfinished"]
    assert unfinished(tmp_path / "some.ts") == ["absent", "begun", "empty", "half"]


def test_every_text_of_the_code_was_collected() -> None:
    """Qt's lupdate reads no f-string: what stands in one would never be translated."""
    german, english = texts("de"), texts("en")
    missed = []
    for where, call in asked_of_tr():
        text = call.args[0]
        if not isinstance(text, ast.Constant):
            missed.append(f"{where}: no text, but {ast.unparse(text)}")
            continue
        key = (text.value, about_of(call))
        if key not in german or (len(call.args) > 2 and key not in english):
            missed.append(f"{where}: {text.value!r}")
    assert missed == []


@pytest.mark.parametrize("name", ["de", "en"])
def test_placeholders_and_counts_are_those_of_the_text(name: str) -> None:
    wrong = []
    for text in texts(name).values():
        for at, form in enumerate(text.forms):
            same = sorted(PLACEHOLDER.findall(form)) == sorted(PLACEHOLDER.findall(text.source))
            # One of a thing may be said without the number: "the last round".
            counts = form.count("%Ln")  # as the language writes it
            counted = "%n" not in form and (counts == text.source.count("%n") or (text.counts and at == counts == 0))
            if not (same and counted):
                wrong.append((text.source, form))
    assert wrong == []


@pytest.mark.parametrize("name", ["de", "en"])
def test_spaces_at_the_ends_and_marks_of_the_end_are_kept(name: str) -> None:
    def edges(text: str) -> tuple[bool, bool, str]:
        end = text[-1:] if text[-1:] in ".:?!" and not text.endswith("...") else ""
        return text.startswith(" "), text.endswith(" "), end

    wrong = [(text.source, form) for text in texts(name).values() for form in text.forms
             if edges(form) != edges(text.source)]  # fmt: skip
    assert wrong == []


def test_german_is_set_as_german_is() -> None:
    wrong = [form for text in texts("de").values() for form in text.forms if re.search(r"[\"'’”]|\.\.\.| - ", form)]
    assert wrong == []


# -- the plurals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "english", "german"),
    [(0, "0 notices", "0 Meldungen"), (1, "1 notice", "1 Meldung"), (5, "5 notices", "5 Meldungen")],
)
def test_one_is_one_and_all_else_is_many(qapp: QApplication, count: int, english: str, german: str) -> None:
    assert tr("%n notice(s)", None, count) == english
    language.speak("de")
    assert tr("%n notice(s)", None, count) == german
    language.speak("en")


def test_english_never_shows_its_brackets(qapp: QApplication) -> None:
    shown = [tr(text.source, text.about or None, count) for text in texts("en").values() for count in (0, 1, 2, 40)]
    assert [text for text in shown if "(s)" in text or "(es)" in text or "%n" in text] == []
    assert tr("mean of the last %n round(s)", None, 1) == "mean of the last round"


# -- a German window -----------------------------------------------------------------------------------------


@pytest.fixture
def in_german(qapp: QApplication) -> Iterator[None]:
    language.speak("de")
    yield
    language.speak("en")


def test_a_german_window_shows_no_english(qtbot: QtBot, in_german: None) -> None:
    window = a_full_window()
    qtbot.addWidget(window)
    found = {(type(widget).__name__, text) for widget in everything_in(window) for text in words_of(widget)}
    assert "Übersicht" in {text for _, text in found}
    assert sorted((kind, text) for kind, text in found if is_english(text) or "Ctrl" in text) == []


def test_the_german_wizard_shows_no_english(qtbot: QtBot, in_german: None) -> None:
    view = a_view(state="idle")
    wizard = Wizard(view, StageBridge(view))
    qtbot.addWidget(wizard)
    wizard.show()
    found = set()
    for _ in range(4):
        found |= {text for widget in everything_in(wizard) for text in words_of(widget)}
        wizard._go_on()
    assert "Jetzt lernen" in found and [text for text in found if is_english(text)] == []


def test_a_tray_that_speaks_german_from_now_on_shows_no_english(
    qtbot: QtBot, in_german: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    language.speak("en")
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", staticmethod(lambda: True))
    view = a_view(silo_curve())
    bridge = StageBridge(view)
    tray = Tray(view, bridge, Actions(view, bridge))
    language.speak("de")
    tray.retranslate()
    found = {action.text() for menu in (tray._menu, tray._pauses) for action in menu.actions()}
    tray.close()
    assert {"Beenden", "Pause", "Bis morgen"} <= found and [text for text in found if is_english(text)] == []


def everything_in(window: QWidget) -> list[QWidget]:
    return [window, *window.findChildren(QWidget)]


def words_of(widget: QWidget) -> Iterator[str]:
    """All that a widget shows or tells: texts, cells, headings, hints, and what a screen reader says."""
    yield from shown_by(widget)
    yield widget.accessibleDescription()
    yield html.unescape(re.sub("<[^>]*>", "", widget.toolTip()))
    if isinstance(widget, QLineEdit | QPlainTextEdit):
        yield widget.placeholderText()
    if isinstance(widget, QAbstractItemView) and (model := widget.model()) is not None:
        for column in range(model.columnCount()):
            for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
                heading = str(model.headerData(column, Qt.Orientation.Horizontal, role) or "")
                yield html.unescape(re.sub("<[^>]*>", "", heading))


@cache
def english() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What tells English: a whole text that German has otherwise, or a longer one anywhere in a text."""
    whole, within = [], []
    for text in texts("de").values():
        if text.source in (plain(form) for form in text.forms):
            continue
        parts = re.split(rf"{PLACEHOLDER.pattern}|%n", text.source)
        long = len("".join(parts).split()) >= LONG
        # For a placeholder stands anything in a long text, but one word in a short one: else that would match too much.
        whole.append((r".+" if long else r"\S+").join(map(re.escape, parts)))
        if long and len(parts) == 1:
            within.append(re.escape(text.source))
    return re.compile("|".join(f"(?:{one})" for one in whole)), re.compile("|".join(within))


@cache
def german() -> frozenset[str]:
    return frozenset(plain(form) for text in texts("de").values() for form in text.forms)


def is_english(text: str) -> bool:
    """Some words are both: `Test` in German is one too."""
    whole, within = english()
    return plain(text) not in german() and (whole.fullmatch(text) is not None or within.search(text) is not None)


def plain(text: str) -> str:
    """With spaces that a line may end at, as a table's cell has them."""
    return text.replace("\u00a0", " ")
