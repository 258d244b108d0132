"""Tasks by their titles, as in `Greatest common divisor, easy` for `gcd/easy`; in English."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.core.resources import resource

_ID = 8
"""Characters of the id of a task that is not known here: enough to tell two apart."""


def task_title(task: str) -> str:
    """A task by its family's title and its level; an id of a task that is not known here, by its beginning."""
    family, _, level = task.partition("/")
    if not level:
        return titles().get(family) or f"unknown task {short_id(family)}"
    return f"{titles().get(family) or plain_family(family)}, {one_line(level, 40)}"


def short_id(task: str) -> str:
    return one_line(task, _ID)


def plain_family(name: str) -> str:
    """A family that has no title here: `brand new` for `brand_new`."""
    return one_line(name, 60).replace("_", " ")


@functools.cache
def titles() -> Mapping[str, str]:
    """Family to title. A client may not load tasks/catalogue.py, which is the worker's."""
    catalogue = tomllib.loads(resource("tasks.toml").read_text(encoding="utf-8"))
    return {name: family["title"] for name, family in catalogue.items()}
