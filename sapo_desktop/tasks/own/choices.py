"""The question to the owner of a file that can be read in several ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.plain_text import shortened
from sapo_desktop.core.sentences import Text, sentence


class Choice(NamedTuple):
    """One of several ways to read a file. `value`: the option's value; `first`: examples of rows read that way."""

    value: str
    label: Text
    first: list[tuple[str, str]]


class Undecided(TaskError):
    """A file with several readings, or with only one that its owner should confirm. `question`: the text above the
    choices; `asked`: the field of How that decides."""

    def __init__(self, file: str, question: Text, asked: Literal["answers", "encoding"], choices: list[Choice]) -> None:
        text = sentence(
            "{question} Options: {ways}.",
            question=question,
            ways=[f"{choice.value} ({in_words(choice.first)})" for choice in choices],
            file=file,
            option=f"--{asked}",
            first=choices[0].value,
            in_terminal="sapo-desktop tasks add {file} {option} {first}",
        )
        super().__init__(text)
        self.question, self.asked, self.choices = question, asked, choices


def in_words(pairs: Sequence[tuple[str, str]]) -> str:
    """Text as written and as read: `0,250 → 0,25; 7`."""
    return "; ".join(shortened(a, 60) if b in (a, "") else f"{shortened(a, 60)} → {shortened(b, 60)}" for a, b in pairs)
