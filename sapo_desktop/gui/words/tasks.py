"""Tasks by their titles, as in `Greatest common divisor, easy` for `gcd/easy`."""

from __future__ import annotations

import functools
import tomllib

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.core.resources import resource
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.sentences import catalogued

_ID = 8
"""Characters of the id of a task that is not known here: enough to tell two apart."""


def task_name(task: str) -> str:
    """A task by its family's title and its level; an id of a task that is not known here, by its beginning."""
    family, _, level = task.partition("/")
    title = _titles().get(family)
    if not level:
        return catalogued(title) if title else tr("unknown task {id}").format(id=one_line(family, _ID))
    name = catalogued(title) if title else one_line(family, 60).replace("_", " ")
    return f"{name}, {level_name(level)}"


def level_name(level: str) -> str:
    names = {"easy": tr("easy"), "middle": tr("middle"), "hard": tr("hard"), "paper": tr("paper")}
    return names.get(level) or one_line(level, 40)


def families() -> list[tuple[str, str]]:
    """Each family with its title, sorted by that."""
    return sorted(((name, catalogued(title)) for name, title in _titles().items()), key=lambda one: one[1].casefold())


@functools.cache
def _titles() -> dict[str, str]:
    """Family to title, in English. A window may not load tasks/catalogue.py, which is the worker's."""
    catalogue = tomllib.loads(resource("tasks.toml").read_text(encoding="utf-8"))
    return {name: family["title"] for name, family in catalogue.items()}
