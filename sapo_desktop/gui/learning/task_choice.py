"""Which tasks are practised: the meaning of the setting `tasks` (core/task_list.py), its text for a choice, and one
row per family. The worker's list of tasks gives the catalogue's order. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sapo_desktop.core.task_list import meant_by
from sapo_desktop.gui.words.language import catalogued
from sapo_desktop.worker.control.messages.replies import TaskInfo

Catalogue = Mapping[str, Sequence[str]]
"""Family -> its levels, from easy to hard."""


@dataclass(frozen=True)
class FamilyRow:
    """One kind of question with its levels."""

    family: str
    title: str
    levels: tuple[TaskInfo, ...]
    chosen_levels: frozenset[str]
    """Levels that may be practised."""

    @property
    def chosen(self) -> bool:
        """Whether any level may be practised."""
        return bool(self.chosen_levels)

    @property
    def training(self) -> tuple[str, ...]:
        """The levels that rounds currently use."""
        return tuple(level.level for level in self.levels if level.training)

    @property
    def solved(self) -> float | None:
        """Own recent share solved over all levels, by answers."""
        known = [(level.solved, level.answers) for level in self.levels if level.solved is not None and level.answers]
        total = sum(count for _, count in known)
        return sum(share * count for share, count in known) / total if total else None


def by_family(items: Iterable[TaskInfo]) -> dict[str, list[TaskInfo]]:
    """The levels of each family, both in the list's order."""
    found: dict[str, list[TaskInfo]] = {}
    for item in items:
        found.setdefault(item.family, []).append(item)
    return found


def catalogue_of(items: Iterable[TaskInfo]) -> dict[str, list[str]]:
    """The families and levels of a list of tasks, in its order."""
    return {family: [item.level for item in levels] for family, levels in by_family(items).items()}


def chosen_tasks(catalogue: Catalogue, text: str) -> frozenset[str]:
    """The tasks in the setting; those missing in the catalogue are left out."""
    return frozenset(task for word in text.split(",") for task in meant_by(word.strip(), catalogue))


def written(catalogue: Catalogue, chosen: Iterable[str]) -> str:
    """The shortest plain text for this choice; empty if nothing is chosen."""
    wanted = set(chosen)
    if wanted == set(meant_by("all", catalogue)):
        return "all"
    parts: list[str] = []
    for family in catalogue:
        usual = meant_by(family, catalogue)
        mine = [task for task in _of(family, catalogue) if task in wanted]
        if usual and wanted.issuperset(usual):
            parts.append(family)
            mine = [task for task in mine if task not in usual]
        parts += mine
    return ",".join(parts)


def with_family(catalogue: Catalogue, chosen: frozenset[str], family: str, on: bool) -> frozenset[str]:
    """The choice with all ordinary levels of a family, or without the family."""
    tasks = _of(family, catalogue)
    return chosen.difference(tasks) | set(meant_by(family, catalogue) or tasks if on else ())


def _of(family: str, catalogue: Catalogue) -> list[str]:
    """All tasks of a family."""
    return [f"{family}/{level}" for level in catalogue.get(family, ())]


def family_rows(items: Iterable[TaskInfo], chosen: frozenset[str] = frozenset()) -> list[FamilyRow]:
    """A row for every family, in the list's order. `chosen`: the tasks that may be practised."""
    return [
        FamilyRow(
            family,
            catalogued(levels[0].title) or family,
            tuple(levels),
            frozenset(item.level for item in levels if f"{family}/{item.level}" in chosen),
        )
        for family, levels in by_family(items).items()
    ]
