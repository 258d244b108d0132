"""Sentences for people, as data: an English template with its values, so that every client can say it in its language.

    sentence("At most {count} answers are given at once, as memory allows.", count=plan.batch)
    raise ModelError("There is no model {name}: import it, or choose another.", name=name)    # makes one by itself

`str` of a sentence is its English, which terminals and logs show; the window looks its template up in a translation and
fills in the same values (gui/words/sentences.py). packaging/translations.py collects the templates of both, so each is
one literal, never an f-string. What nobody can translate beforehand (a path, a library's error, a peer's name) is a
value. A number is written as a count (1,240); one that is not (a port, a year, an exact share) is given as text.
"""

from __future__ import annotations

import math
import os
import re
import shlex
import time
from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from sapo_desktop.core.records import Record

_FIELD = re.compile(r"\{(\w+)\}")
_UNITS = ("B", "KB", "MB", "GB")
_PLAIN_ON_WINDOWS = re.compile(r"[\w@+=:.,/\\-]+", re.ASCII)
"""What needs no quotes in any shell of Windows."""


class Size(Record, frozen=True, kw_only=True, tag=True):
    """Bytes, said in powers of 1000."""

    bytes: int

    def __str__(self) -> str:
        size = float(self.bytes)
        for unit in _UNITS:
            if abs(size) < 1000:
                return f"{size:.{0 if unit == 'B' or abs(size) >= 100 else 1}f} {unit}"
            size /= 1000
        return f"{size:.1f} TB"


class Span(Record, frozen=True, kw_only=True, tag=True):
    """A time that something takes."""

    seconds: float

    def __str__(self) -> str:
        whole = round(self.seconds)
        if whole < 60:
            return f"{self.seconds:.1f} s" if self.seconds < 10 else f"{whole} s"
        if whole < 3600:
            return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
        return f"{whole // 3600} h {whole % 3600 // 60} min"


class Left(Record, frozen=True, kw_only=True, tag=True):
    """What is left of a time, rounded up as far as a person cares."""

    seconds: float

    def __str__(self) -> str:
        if self.seconds < 60:
            return f"{math.ceil(self.seconds)} s"
        minutes = math.ceil(self.seconds / 60)
        return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


class Moment(Record, frozen=True, kw_only=True, tag=True):
    """A time of day by this computer's clock. `day`: whether the weekday is written too."""

    unix: float
    day: bool = False

    def __str__(self) -> str:
        return time.strftime("%A %H:%M" if self.day else "%H:%M", time.localtime(self.unix))


class Sentence(Record, frozen=True, kw_only=True, tag=True):
    """A template with what is filled in for its `{names}`. A value may be a sentence itself, or several."""

    template: str
    values: dict[str, Value] = msgspec.field(default_factory=dict)
    in_terminal: str = ""
    """The command that does what is advised, with the same `{names}`, each one word of the shell (`quoted`): a
    window has its own way and leaves it out."""

    def __hash__(self) -> int:
        return hash(str(self))  # msgspec's own would stumble over the values

    def __str__(self) -> str:
        words, commands = self._apart()
        return f"{words} In a terminal: {'; '.join(commands)}" if commands else words

    def _apart(self) -> tuple[str, list[str]]:
        """The words and the commands, those of sentences within it first: they are said once, behind all words."""
        values, commands = {}, []
        for name, value in self.values.items():
            values[name], within = _english(value)
            commands += within
        if self.in_terminal:
            commands.append(filled(self.in_terminal, {name: quoted(value) for name, value in values.items()}))
        return filled(self.template, values), list(dict.fromkeys(commands))


Text: TypeAlias = str | Sentence
"""What a person reads: a sentence, or words that nobody translates."""
Value: TypeAlias = str | int | float | Size | Span | Left | Moment | Sentence | list[str | Sentence]


def sentence(template: str, *, in_terminal: str = "", **values: Value) -> Sentence:
    """The sentence of this template, which is one literal (see the module)."""
    carried = {name: _carried(value) for name, value in values.items()}
    return Sentence(template=template, values=carried, in_terminal=in_terminal)


def filled(template: str, values: dict[str, str]) -> str:
    """`template` with its `{names}` replaced; a name without a value stays as it is. Values are never looked into."""
    return _FIELD.sub(lambda field: values.get(field[1], field[0]), template)


def joined(texts: Sequence[Text], between: str = " ") -> Text:
    """One after the other, as one text."""
    if len(texts) == 1:
        return texts[0]
    return Sentence(template=between.join(f"{{{place}}}" for place in range(len(texts))), values=_numbered(texts))


def _numbered(texts: Sequence[Text]) -> dict[str, Value]:
    return {str(place): text for place, text in enumerate(texts)}


def _carried(value: Value) -> Value:
    """As a message can carry it: a damaged file may tell numbers of any size."""
    return f"{value:,}" if isinstance(value, int) and not -(2**63) <= value < 2**64 else value


def _english(value: Value) -> tuple[str, list[str]]:
    """What is filled in for a value, and the commands that stand in it."""
    match value:
        case Sentence():
            return value._apart()
        case bool() | str() | Size() | Span() | Left() | Moment():
            return str(value), []
        case int():
            return f"{value:,}", []
        case float():
            return f"{value:g}", []
        case list():
            items = [_english(item) for item in value]
            return "; ".join(words for words, _ in items), [one for _, commands in items for one in commands]


def quoted(word: object) -> str:
    """`word` as one word of a command line, whatever stands in it: for a POSIX shell, or for the shells of Windows.

    PowerShell and cmd agree on double quotes only where neither fills in a name. A word with a sign that PowerShell
    would look into is quoted for PowerShell alone.
    """
    text = str(word)
    if os.name != "nt":
        return shlex.quote(text)
    if _PLAIN_ON_WINDOWS.fullmatch(text):
        return text
    if any(sign in text for sign in '$`"“”„'):
        return "'" + re.sub("(['‘’‚‛])", r"\1\1", text) + "'"
    return f'"{text}"'
