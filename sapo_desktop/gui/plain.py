"""Whole records made plain: every text in them on one line, without what hides or reorders, and not too long. No Qt."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from sapo_desktop.core.plain_text import one_line

Value = TypeVar("Value")
LONGEST = 400
"""Characters of one text."""


def plain(value: Value) -> Value:
    """A copy of a reply, or of what is in one, that can be shown as it is. What it names is still named by it, unless
    the name was one that nobody should see."""
    if isinstance(value, str):
        return one_line(value, LONGEST)  # type: ignore[return-value]
    if isinstance(value, list | tuple):
        return type(value)(plain(item) for item in value)
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}  # type: ignore[return-value]
    if isinstance(value, msgspec.Struct):
        fields = {field: plain(getattr(value, field)) for field in value.__struct_fields__}
        return msgspec.structs.replace(value, **fields)
    return value
