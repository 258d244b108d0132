"""Whole records made plain: every text in them on one line, without what hides or reorders, and not too long. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from sapo_desktop.core import sentences
from sapo_desktop.core.plain_text import one_line
from sapo_desktop.core.sentences import Sentence, Text

Value = TypeVar("Value")
LONGEST = 400
"""Characters of one text."""


def plain(value: Value) -> Value:
    """A copy of a reply, or of what is in one, that can be shown as it is. What it names is still named by it, unless
    the name was one that nobody should see."""
    if isinstance(value, str | Sentence):
        return plain_text(value, _line)  # type: ignore[return-value]
    if isinstance(value, list | tuple):
        return type(value)(plain(item) for item in value)
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}  # type: ignore[return-value]
    if isinstance(value, msgspec.Struct):
        fields = {field: plain(getattr(value, field)) for field in value.__struct_fields__}
        return msgspec.structs.replace(value, **fields)
    return value


def plain_text(text: Text, made: Callable[[str], str]) -> Text:
    """What the worker says, with `made` done to it; of a sentence, to its values. Its template is our own."""
    if isinstance(text, Sentence):
        return Sentence(template=text.template, values={name: _value(one, made) for name, one in text.values.items()})
    return made(text)


def _value(value: sentences.Value, made: Callable[[str], str]) -> sentences.Value:
    match value:
        case str() | Sentence():
            return plain_text(value, made)
        case list():
            return [plain_text(item, made) for item in value]
    return value


def _line(text: str) -> str:
    return one_line(text, LONGEST)
