"""The window's language: every text goes through `tr`, which Qt's translation files answer (resources/translations).

Placeholders are Python's (`{peers}`), filled in after the translation. `%n` is Qt's own count, which chooses the plural
form, and is `%Ln` in translations: 1,240 or 1.240, as in the language. packaging/translations.py collects the texts
with Qt's lupdate. It does not read f-strings, so a `tr` inside one would never be translated; a test finds it.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from sapo_desktop.core.resources import resource

LANGUAGES = {"en": "English", "de": "Deutsch"}
"""The window's languages, by their own names."""

_installed: list[QTranslator] = []


def tr(text: str, about: str | None = None, n: int = -1) -> str:
    """`text` in the window's language. `about` distinguishes two meanings of one text; `n` fills in `%n`."""
    return QCoreApplication.translate("", text, about, n)


def catalogued(text: str) -> str:
    """Another text that packaging/translations.py collects from its place: a task family's title, the catalogue's
    text on a model, a setting's sentence."""
    return tr(text)


def chosen(setting: str) -> str:
    """The language for the setting `language`: the system's if it is `auto`, English if that is not supported."""
    if setting != "auto":
        return setting
    system = QLocale.system().name().partition("_")[0]
    return system if system in LANGUAGES else "en"


def speak(language: str) -> None:
    """Use this language from now on; displayed texts do not change."""
    for translator in _installed:
        QCoreApplication.removeTranslator(translator)
    _installed.clear()
    # English has a file too, of plurals only.
    _install(str(resource(f"translations/sapo_{language}.qm")))
    if language != "en":
        _install(f"{QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)}/qtbase_{language}.qm")
    system = QLocale.system()
    # A German reader in Switzerland writes numbers as in Switzerland.
    QLocale.setDefault(system if system.name().startswith(language) else QLocale(language))


def _install(path: str) -> None:
    translator = QTranslator()
    if translator.load(path):
        QCoreApplication.installTranslator(translator)
        _installed.append(translator)
