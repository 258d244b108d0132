"""Collects the window's texts and compiles their translations.

    python packaging/translations.py               put new texts into the .ts files, compile them to .qm
    python packaging/translations.py --check       exit code 1 if English plurals or a .qm are out of date
    python packaging/translations.py --complete    the same, and a text without German counts too (before a release)

A text without German is shown in English, so that nobody needs German to change a sentence; --check only lists it. The
worker's sentences (core/sentences.py), texts of settings, consent and phases, the titles of tasks and what the
catalogue says about models are included, since the window shows them too. Qt's own tools do both (lupdate, lrelease;
they come with PySide6). A language's .ts file is edited by hand or with Qt Linguist. English has one too, for its
plurals.
"""

from __future__ import annotations

import argparse
import ast
import filecmp
import shutil
import subprocess
import sys
import tempfile
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

import PySide6

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from sapo_desktop.core import settings_file  # noqa: E402
from sapo_desktop.core.consent import IN_SHORT, WHAT_IS_PUBLISHED, WHAT_LEAVES  # noqa: E402
from sapo_desktop.core.files.durable import write_atomically  # noqa: E402
from sapo_desktop.view.words import PHASE_WORDS, STAGE_WORDS, VERDICT_WORDS  # noqa: E402

WHERE = ROOT / "resources" / "translations"
LANGUAGES = ("de", "en")
TOOLS = Path(PySide6.__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description="Collect and compile the window's translations.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if the English is out of date")
    parser.add_argument("--complete", action="store_true", help="change nothing; fail if any translation is missing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        there = Path(scratch)
        for path in WHERE.glob("*.ts"):
            shutil.copy(path, there)
        for language in LANGUAGES:
            collect(there, language)
        if options.check or options.complete:
            sys.exit(report(there, complete=options.complete))
        for language in LANGUAGES:
            compile_(there / f"sapo_{language}.ts", there / f"sapo_{language}.qm")
        for path in there.iterdir():
            # A window that starts meanwhile reads a complete file, old or new.
            write_atomically(WHERE / path.name, path.read_bytes())
    for language in LANGUAGES:
        print(f"{language}: {len(unfinished(WHERE / f'sapo_{language}.ts'))} texts without a translation")


def collect(folder: Path, language: str) -> None:
    """Bring a language's file up to date with the texts of the code."""
    sources = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "sapo_desktop" / "gui").rglob("*.py"))
    others = folder / "sentences.py"
    others.write_text(
        "".join(f"tr({text!r})\n" for text in sorted({*sentences(), *catalogue_texts(), *core_texts()})),
        encoding="utf-8",
    )
    sources.append(str(others))
    options = ["-no-obsolete", "-locations", "none", "-source-language", "en", "-target-language", language]
    if language == "en":
        options.append("-pluralonly")
    ts = folder / f"sapo_{language}.ts"
    _run([str(TOOLS / "lupdate"), *sources, *options, "-ts", str(ts)])
    others.unlink()


def sentences() -> list[str]:
    """The templates of the worker's sentences, and of errors that make one, sorted. Ends the program if one is not a
    literal."""
    found = set()
    for path in sorted((ROOT / "sapo_desktop").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (call := _call_with_template(node)) is not None:
                template = call.args[0] if call.args else None
                if not (isinstance(template, ast.Constant) and isinstance(template.value, str)):
                    sys.exit(f"{path.relative_to(ROOT)}:{call.lineno}: a sentence's template must be one literal.")
                found.add(template.value)
    return sorted(found)


def _call_with_template(node: ast.AST) -> ast.Call | None:
    """`sentence(...)`, or an error that is raised or returned with values in addition to its text."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "sentence":
        return node
    call = node.exc if isinstance(node, ast.Raise) else node.value if isinstance(node, ast.Return) else None
    if (
        not isinstance(call, ast.Call)
        or not isinstance(call.func, ast.Name)
        or not call.func.id.lstrip("_")[:1].isupper()
    ):
        return None
    has_values = bool({keyword.arg for keyword in call.keywords} - {"killed"})
    return call if has_values and call.args and isinstance(call.args[0], ast.Constant | ast.JoinedStr) else None


def catalogue_texts() -> set[str]:
    """Texts of the catalogues for a person: titles of families, a sentence about each model."""
    tasks, models = (
        tomllib.loads((ROOT / "resources" / f"{name}.toml").read_text(encoding="utf-8")) for name in ("tasks", "models")
    )
    return {family["title"] for family in tasks.values()} | {model["about"] for model in models["models"]}


def core_texts() -> set[str]:
    """Each setting's name and explanation, the text on consent, and words that the terminal uses too."""
    known = [settings_file.describe(key) for key in settings_file.known_keys()]
    settings = {text for info in known for text in (info.title, info.description)}
    shared = {text for words in (PHASE_WORDS, STAGE_WORDS, VERDICT_WORDS) for text in words.values()}
    return settings | {*WHAT_LEAVES, *IN_SHORT, *WHAT_IS_PUBLISHED} | shared


def compile_(ts: Path, qm: Path) -> None:
    _run([str(TOOLS / "lrelease"), str(ts), "-qm", str(qm)])


def report(fresh: Path, complete: bool) -> int:
    """Print how `fresh` .ts files differ from the committed ones; return the exit code."""
    wrong = 0
    for language in LANGUAGES:
        counts = complete or language == "en"
        name = f"sapo_{language}.ts"
        if not (WHERE / name).exists() or not filecmp.cmp(fresh / name, WHERE / name, shallow=False):
            print(f"{name} is out of date: python packaging/translations.py")
            wrong |= counts
        for text in unfinished(fresh / name):
            print(f"{language}: no translation of {text!r}")
            wrong |= counts
        compiled = f"sapo_{language}.qm"
        compile_(WHERE / name, fresh / compiled)
        if not filecmp.cmp(fresh / compiled, WHERE / compiled, shallow=False):
            print(f"{compiled} was not compiled from {name}: python packaging/translations.py")
            wrong = 1
    return wrong


def unfinished(ts: Path) -> list[str]:
    """Texts of a .ts file that have no translation yet, or an empty one."""
    return [
        message.findtext("source", "")
        for message in ET.parse(ts).getroot().iter("message")
        if (found := message.find("translation")) is None
        or found.get("type") == "unfinished"
        or not all((form.text or "").strip() for form in found.findall("numerusform") or [found])
    ]


def _run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)


if __name__ == "__main__":
    main()
