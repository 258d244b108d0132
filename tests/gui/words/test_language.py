"""The window's languages: every text of the code can be translated, and a German window shows no English that has a
translation. A text without German is a warning here; packaging/translations.py --complete fails for it.

What the node says (core/sentences.py) is among them; a library's own words in it, and what peers wrote, stay as they
are.
"""

import ast
import html
import re
import runpy
import shutil
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

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
TRANSLATIONS = ROOT / "resources" / "translations"
PLACEHOLDER = re.compile(r"\{\w*\}")
LONG = 5
"""Number of words from which a text is also searched inside others."""


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
    """The translations that a language's file holds."""
    return {key: text for key, text in listed(TRANSLATIONS / f"sapo_{name}.ts").items() if all(text.forms)}


def listed(file: Path) -> dict[tuple[str, str], Text]:
    """All texts of a .ts file; those that wait for a translation have empty forms."""
    found = {}
    for message in ET.parse(file).getroot().iter("message"):
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


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "packaging" / "translations.py"))


@pytest.fixture(scope="module")
def fresh(script: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The .ts files as the texts of the code make them."""
    folder = tmp_path_factory.mktemp("fresh")
    for name in script["LANGUAGES"]:
        shutil.copy(TRANSLATIONS / f"sapo_{name}.ts", folder)
        script["collect"](folder, name)
    return folder


def test_english_is_complete_and_missing_german_is_a_warning(
    script: dict[str, Any], fresh: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = script["report"](fresh, complete=False)
    said = capsys.readouterr().out
    assert not wrong, said
    if said:
        warnings.warn(f"German readers see some English:\n{said}", stacklevel=1)


@pytest.mark.parametrize(
    ("language_", "before", "after", "compiled", "check"),
    [
        ("de", "<source>Home</source>", "<source>House</source>", True, 0),
        ("de", "<translation>Pause</translation>", "<translation>Rast</translation>", False, 1),
        ("en", "<source>%n notice(s)</source>", "<source>%n note(s)</source>", True, 1),
    ],
    ids=["a text without German", "a translation that was not compiled", "a count without English"],
)
def test_only_a_release_needs_the_german(
    script: dict[str, Any], fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    language_: str, before: str, after: str, compiled: bool, check: int,
) -> None:  # fmt: skip
    kept = tmp_path / "kept"
    shutil.copytree(TRANSLATIONS, kept)
    file = kept / f"sapo_{language_}.ts"
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8")
    if compiled:
        script["compile_"](file, file.with_suffix(".qm"))
    monkeypatch.setitem(script["report"].__globals__, "WHERE", kept)
    for complete, code in ((False, check), (True, 1)):
        shutil.copytree(fresh, tmp_path / f"fresh-{complete}")
        assert script["report"](tmp_path / f"fresh-{complete}", complete=complete) == code


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


def test_every_text_of_the_code_can_be_collected(fresh: Path) -> None:
    """Qt's lupdate reads no f-string: what stands in one would never be translated."""
    german, english = (listed(fresh / f"sapo_{name}.ts") for name in ("de", "en"))
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
    assert "Lernen starten" in found and [text for text in found if is_english(text)] == []


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
