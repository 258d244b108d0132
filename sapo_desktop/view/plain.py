"""Whole records made plain: no text in them hides or reorders what is read, or is too long. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from sapo_desktop.core.plain_text import clean, one_line
from sapo_desktop.core.sentences import Sentence

Value = TypeVar("Value")


def plain(value: Value, made: Callable[[str], str] = one_line) -> Value:
    """A displayable copy of a record, or of its content, with `made` applied to every text in it. Names still refer
    to the same things, unless a name was unsafe to show."""
    if isinstance(value, str):
        return made(value)  # type: ignore[return-value]
    if isinstance(value, Sentence):  # its template is our own
        return Sentence(template=value.template, values=plain(value.values, made))  # type: ignore[return-value]
    if isinstance(value, list | tuple):
        return type(value)(plain(item, made) for item in value)
    if isinstance(value, dict):
        return {plain(key, made): plain(item, made) for key, item in value.items()}  # type: ignore[return-value]
    if isinstance(value, msgspec.Struct):
        fields = {field: plain(getattr(value, field), made) for field in value.__struct_fields__}
        return msgspec.structs.replace(value, **fields)
    return value


def many_lines(text: str) -> str:
    """Plain, with its line breaks, for longer texts."""
    return clean(text)[:4000]
