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
"""Characters that need no quotes in any shell of Windows."""


class Size(Record, frozen=True, kw_only=True, tag=True):
    """Bytes, shown in powers of 1000."""

    bytes: int

    def __str__(self) -> str:
        size = float(self.bytes)
        for unit in _UNITS:
            if abs(size) < 1000:
                return f"{size:.{0 if unit == 'B' or abs(size) >= 100 else 1}f} {unit}"
            size /= 1000
        return f"{size:.1f} TB"


class Span(Record, frozen=True, kw_only=True, tag=True):
    """A duration."""

    seconds: float

    def __str__(self) -> str:
        whole = round(self.seconds)
        if whole < 60:
            return f"{self.seconds:.1f} s" if self.seconds < 10 else f"{whole} s"
        if whole < 3600:
            return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
        return f"{whole // 3600} h {whole % 3600 // 60} min"


class Left(Record, frozen=True, kw_only=True, tag=True):
    """Remaining time, rounded up to a useful precision."""

    seconds: float

    def __str__(self) -> str:
        if self.seconds < 60:
            return f"{math.ceil(self.seconds)} s"
        minutes = math.ceil(self.seconds / 60)
        return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


class Moment(Record, frozen=True, kw_only=True, tag=True):
    """A local time of day. `day`: whether to include the weekday."""

    unix: float
    day: bool = False

    def __str__(self) -> str:
        return time.strftime("%A %H:%M" if self.day else "%H:%M", time.localtime(self.unix))


class Sentence(Record, frozen=True, kw_only=True, tag=True):
    """A template with values for its `{names}`. A value may be a sentence itself, or several."""

    template: str
    values: dict[str, Value] = msgspec.field(default_factory=dict)
    in_terminal: str = ""
    """The command that follows the advice, with the same `{names}`, each as one word of the shell (`quoted`). A
    window has its own way and omits it."""

    def __hash__(self) -> int:
        return hash(str(self))  # msgspec's own hash fails on the values

    def __str__(self) -> str:
        words, commands = self._apart()
        return f"{words} In a terminal: {'; '.join(commands)}" if commands else words

    def _apart(self) -> tuple[str, list[str]]:
        """The words and the commands, inner sentences first; commands are shown once, after all words."""
        values, commands = {}, []
        for name, value in self.values.items():
            values[name], within = _english(value)
            commands += within
        if self.in_terminal:
            commands.append(filled(self.in_terminal, {name: quoted(value) for name, value in values.items()}))
        return filled(self.template, values), list(dict.fromkeys(commands))


Text: TypeAlias = str | Sentence
"""What a person reads: a sentence, or text that is not translated."""
Value: TypeAlias = str | int | float | Size | Span | Left | Moment | Sentence | list[str | Sentence]


def sentence(template: str, *, in_terminal: str = "", **values: Value) -> Sentence:
    """Make a sentence. The template must be one literal (see the module)."""
    carried = {name: _carried(value) for name, value in values.items()}
    return Sentence(template=template, values=carried, in_terminal=in_terminal)


def filled(template: str, values: dict[str, str]) -> str:
    """`template` with its `{names}` replaced; a name without a value stays as it is. Values are never expanded."""
    return _FIELD.sub(lambda field: values.get(field[1], field[0]), template)


def joined(texts: Sequence[Text], between: str = " ") -> Text:
    """Several texts in sequence, as one text."""
    if len(texts) == 1:
        return texts[0]
    return Sentence(template=between.join(f"{{{place}}}" for place in range(len(texts))), values=_numbered(texts))


def _numbered(texts: Sequence[Text]) -> dict[str, Value]:
    return {str(place): text for place, text in enumerate(texts)}


def _carried(value: Value) -> Value:
    """The value in a form that messages can carry: a damaged file may hold numbers of any size."""
    return f"{value:,}" if isinstance(value, int) and not -(2**63) <= value < 2**64 else value


def _english(value: Value) -> tuple[str, list[str]]:
    """The text for a value, and the commands in it."""
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
    """Quote `word` as one word of a command line, for a POSIX shell or for the shells of Windows.

    PowerShell and cmd agree on double quotes only if neither would expand a name. A word with a character that
    PowerShell would expand is quoted for PowerShell only.
    """
    text = str(word)
    if os.name != "nt":
        return shlex.quote(text)
    if _PLAIN_ON_WINDOWS.fullmatch(text):
        return text
    if any(sign in text for sign in '$`"“”„'):
        return "'" + re.sub("(['‘’‚‛])", r"\1\1", text) + "'"
    return f'"{text}"'
