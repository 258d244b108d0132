"""Titles of tasks (view/tasks.py) and models in the window's language."""

from __future__ import annotations

import tomllib
from functools import cache

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.core.resources import resource
from sapo_desktop.gui.words.language import catalogued, tr
from sapo_desktop.view.tasks import plain_family, short_id, titles


def task_name(task: str) -> str:
    """A task by its family's title and its level; an unknown task by the beginning of its id."""
    family, _, level = task.partition("/")
    title = titles().get(family)
    if not level:
        return catalogued(title) if title else tr("unknown task {id}").format(id=short_id(family))
    return f"{catalogued(title) if title else plain_family(family)}, {level_name(level)}"


def level_name(level: str) -> str:
    names = {
        "first": tr("first", "level"),
        "easy": tr("easy"),
        "middle": tr("middle"),
        "hard": tr("hard"),
        "paper": tr("paper"),
    }
    return names.get(level) or one_line(level, 40)


def families() -> list[tuple[str, str]]:
    """Each family with its title, sorted by title."""
    return sorted(((name, catalogued(title)) for name, title in titles().items()), key=lambda one: one[1].casefold())


def model_title(model: str) -> str:
    """`Qwen3 0.6B` for the value qwen3-0.6b of the setting `model`; other models have no other name."""
    return _model_titles().get(model) or one_line(model, 160)


@cache
def _model_titles() -> dict[str, str]:
    # Not from the worker: the first run and a node that cannot start have no catalogue.
    found = tomllib.loads(resource("models.toml").read_text(encoding="utf-8"))
    return {model["id"]: model["name"] for model in found["models"]}
