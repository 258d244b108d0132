"""Steps for letters: copying with a counter, shifting letter by letter."""

from __future__ import annotations

import re
from typing import Any


def spell_backward(entry: dict[str, Any]) -> str:
    """The word with a number at each letter, then the letters by falling number."""
    word = entry["question"].split(": ")[-1]
    forward = "".join(f"{letter}{place % 10}" for place, letter in enumerate(word, 1))
    backward = "".join(f"{place % 10}{word[place - 1]}" for place in range(len(word), 0, -1))
    return f"{forward} {backward}<answer>{word[::-1]}</answer>"


def letter_counting(entry: dict[str, Any]) -> str:
    """The text copied, with the count so far behind each hit."""
    match = re.search(r'letter "(.)" appear in the text: "(.*)"\?', entry["question"])
    if match is None:
        raise ValueError(f"no letter to count in {entry['question']!r}")
    target, text = match[1], match[2]
    copied, count = [target, ":"], 0
    for character in text:
        copied.append(character)
        if character.lower() == target:
            count += 1
            copied.append(f"#{count}")
    return f"{''.join(copied)}<answer>{count}</answer>"


def _back(text: str, rotation: int) -> str:
    return "".join(chr((ord(c) - 65 - rotation) % 26 + 65) if c.isalpha() else c for c in text)


def caesar_cipher(entry: dict[str, Any]) -> str:
    """The first word shifted back by 1, 2, ... until it reads as the clear text's does; then all of it."""
    match = re.search(r"cipher text: ([A-Z ]+)\. Provide", entry["question"])
    if match is None:
        raise ValueError(f"no cipher text in {entry['question']!r}")
    rotation = entry["metadata"]["rotation"]
    first = match[1].split(" ")[0]
    trials = " ".join(f"{shift}{_back(first, shift)}" for shift in range(1, rotation + 1))
    return f"{first} {trials}<answer>{_back(match[1], rotation)}</answer>"
