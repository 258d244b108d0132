"""docs/glossary.md: one word for one thing in every text of the window, in English and in German."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[3]
CODE = re.compile(
    r"`[^`]*`|\{\w+\}|<[^>]+>|--[\w-]+|\w+://\S+|\b(?:KEY|PORT)\b|\b\w+_\w+\b|[\w./]*\.[a-z]{3,}\b|\bthreads:"
    r"|sapo-desktop [\w-]+( [\w-]+)*|(?:peers|models|settings) (?:join|cancel|set)[ \w]*"
    r"|\b(?:model )?(?:to|auf) (?:torch|none|auto|lora|starter)\b"
)
"""What nobody translates: commands, names of settings, addresses, values."""


class Word(NamedTuple):
    """One row of the glossary."""

    word: str
    means: str
    never: list[str]
    german: list[str]
    never_german: list[str]


class Said(NamedTuple):
    """A text of the window without what is no language."""

    english: str
    german: str


def listed(cell: str) -> list[str]:
    return [word.strip() for word in cell.split(",") if word.strip()]


def glossary() -> list[Word]:
    lines = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")][1:]
    return [Word(row[0], row[1], listed(row[2]), listed(row[3]), listed(row[4])) for row in rows]


def texts() -> list[Said]:
    root = ET.parse(ROOT / "resources" / "translations" / "sapo_de.ts").getroot()
    found = []
    for message in root.iter("message"):
        german = " ".join(message.find("translation").itertext())  # type: ignore[union-attr]
        if not german.strip():
            continue  # without German yet
        found.append(Said(CODE.sub(" ", message.findtext("source") or ""), CODE.sub(" ", german)))
    return found


TEXTS = texts()


def has(text: str, word: str) -> bool:
    """Whether it stands there as a word, or as several."""
    return re.search(rf"\b{re.escape(word)}s?\b", text, re.IGNORECASE) is not None


@pytest.mark.parametrize("word", glossary(), ids=lambda word: word.word)
def test_a_word_is_used_alone_for_what_it_is(word: Word) -> None:
    others = [said.english for said in TEXTS if any(has(said.english, other) for other in word.never)]
    assert not others, f"say {word.word}"
    others = [said.german for said in TEXTS if any(has(said.german, other) for other in word.never_german)]
    assert not others, f"sage {word.german[0]}"
    unnamed = [
        said
        for said in TEXTS
        if has(said.english, word.word) and not any(w.lower() in said.german.lower() for w in word.german)
    ]
    assert not unnamed, f"{word.word} is {' or '.join(word.german)}"
