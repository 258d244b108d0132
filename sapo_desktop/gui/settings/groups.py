"""The groups of settings, the control for each, search, and what is shown of it. No Qt.

A setting's name, group and sentence are on its field in core/settings.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args, get_origin, get_type_hints

from msgspec import inspect

from sapo_desktop.core import settings_file
from sapo_desktop.core.settings import GroupName, Settings

Value = bool | int | float | str

GROUPS: Mapping[GroupName, tuple[str, ...]] = MappingProxyType(
    {
        name: tuple(key for key in settings_file.known_keys() if settings_file.describe(key).group == name)
        for name in get_args(GroupName)
        if name not in ("kept", "lab")
    }
)
"""In display order; the most important first."""
_FINE = {"learning_rate"}
"""Numbers that may need many digits after the point: typed, because arrows would take forever."""

_STEPS = {"text_size": 10, "max_tokens": 32, "validate_every": 10}
"""Step of an arrow, if it is not 1."""
_LEAST = 0.001
"""Stands for the smallest number above 0."""


@dataclass(frozen=True)
class OnOff:
    """A switch."""


@dataclass(frozen=True)
class OneOf:
    values: tuple[str, ...]


@dataclass(frozen=True)
class Number:
    low: float
    high: float
    step: float
    whole: bool = False


@dataclass(frozen=True)
class Typed:
    """A line of text that the worker checks."""

    number: bool = False


Control = OnOff | OneOf | Number | Typed


def control(key: str) -> Control:
    """The control for the type of this setting."""
    return _CONTROLS[key]


def as_typed(value: Value) -> str:
    """A value as SetSettings expects it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return repr(value) if isinstance(value, float) else str(value)


def found(query: str, texts: Mapping[str, Sequence[str]]) -> dict[GroupName, list[str]]:
    """The settings that contain every word of the query in their texts or key, by group; all of them for an empty
    query."""
    hits: dict[GroupName, list[str]] = {}
    for group, keys in GROUPS.items():
        for key in keys:
            if matches(query, (key, *texts[key])):
                hits.setdefault(group, []).append(key)
    return hits


def matches(query: str, texts: Sequence[str]) -> bool:
    """Whether every word of the query is in these texts."""
    hay = " ".join(texts).casefold()
    return all(word in hay for word in query.casefold().split())


def _controls() -> dict[str, Control]:
    info = inspect.type_info(Settings)
    assert isinstance(info, inspect.StructType)
    hints = get_type_hints(Settings)
    return {field.name: _control_of(field, hints[field.name]) for field in info.fields}


def _control_of(field: inspect.Field, hint: object) -> Control:
    kind = field.type.type if isinstance(field.type, inspect.Metadata) else field.type
    if get_origin(hint) is Literal:
        return OneOf(get_args(hint))  # in the order of the settings; inspect sorts them
    if field.name in _FINE:
        return Typed(number=True)
    match kind:
        case inspect.BoolType():
            return OnOff()
        case inspect.IntType(ge=low, le=high):
            return Number(low or 0, high or 0, _STEPS.get(field.name, 1), whole=True)
        case inspect.FloatType(gt=above, ge=low, le=high):
            step = 0.5 if high is not None and high > 10 else 0.1
            return Number(_LEAST if above is not None else float(low or 0), float(high or 0), step)
        case _:
            return Typed()


_CONTROLS = _controls()
