"""What the owner of a file is asked, where it can be read in several ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.plain_text import shortened
from sapo_desktop.core.sentences import Text, sentence


class Choice(NamedTuple):
    """One of several ways to read a file. `value`: what to give for it; `first`: some rows read that way."""

    value: str
    label: Text
    first: list[tuple[str, str]]


class Undecided(TaskError):
    """A file that can be read in several ways, or only in one that its owner should know of. `question`: what to ask
    where the choices are shown; `asked`: the part of How that decides it."""

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
    """What is written and how it is read: `0,250 → 0,25; 7`."""
    return "; ".join(shortened(a, 60) if b in (a, "") else f"{shortened(a, 60)} → {shortened(b, 60)}" for a, b in pairs)
