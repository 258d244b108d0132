"""Titles of tasks, as in `Greatest common divisor, easy` for `gcd/easy`; in English."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.core.resources import resource

_ID = 8
"""Characters shown of an unknown task's id, enough to distinguish two."""


def task_title(task: str) -> str:
    """A task by its family's title and its level; an unknown task by the beginning of its id."""
    family, _, level = task.partition("/")
    if not level:
        return titles().get(family) or f"unknown task {short_id(family)}"
    return f"{titles().get(family) or plain_family(family)}, {one_line(level, 40)}"


def short_id(task: str) -> str:
    return one_line(task, _ID)


def plain_family(name: str) -> str:
    """A family without a title here: `brand new` for `brand_new`."""
    return one_line(name, 60).replace("_", " ")


@functools.cache
def titles() -> Mapping[str, str]:
    """Family -> title. A client must not import tasks/catalogue.py, which is the worker's."""
    catalogue = tomllib.loads(resource("tasks.toml").read_text(encoding="utf-8"))
    return {name: family["title"] for name, family in catalogue.items()}
