"""Which tasks are practised: what the setting `tasks` means, how a choice is written, and one row a family. No Qt.

The worker's own reader is tasks/catalogue.py, which a window may not load; the rule is the same, and a test compares
them: a family alone means all its levels but `paper`, a level alone that level of every family, `all` everything but
`paper`. The catalogue's order comes from the worker's list of tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sapo_desktop.gui.words.sentences import catalogued
from sapo_desktop.worker.control.messages.replies import TaskInfo

PAPER = "paper"
"""The level that is only practised where it is named."""
LONGEST_TEXT = 2000
"""Of the setting."""

Catalogue = Mapping[str, Sequence[str]]
"""Per family its levels, from easy to hard."""
Task = tuple[str, str]
"""Family and level."""


@dataclass(frozen=True)
class LevelRow:
    """One level of a family."""

    level: str
    chosen: bool
    """Whether it may be practised."""
    training: bool
    """Whether rounds ask for it now."""
    solved: float | None
    answers: int
    reward: float | None
    config: tuple[tuple[str, str], ...]
    """What makes it as hard as it is."""


@dataclass(frozen=True)
class FamilyRow:
    """One kind of question with its levels."""

    family: str
    title: str
    levels: tuple[LevelRow, ...]

    @property
    def chosen(self) -> bool:
        """Whether any level may be practised."""
        return any(level.chosen for level in self.levels)

    @property
    def training(self) -> tuple[str, ...]:
        """The levels that rounds ask for now."""
        return tuple(level.level for level in self.levels if level.training)

    @property
    def answers(self) -> int:
        """Own recent answers, all levels."""
        return sum(level.answers for level in self.levels)

    @property
    def solved(self) -> float | None:
        """Own recent share solved, all levels, by answers."""
        known = [(level.solved, level.answers) for level in self.levels if level.solved is not None and level.answers]
        total = sum(count for _, count in known)
        return sum(share * count for share, count in known) / total if total else None


def catalogue_of(items: Iterable[TaskInfo]) -> dict[str, list[str]]:
    """The families and levels of a list of tasks, in its order."""
    found: dict[str, list[str]] = {}
    for item in items:
        found.setdefault(item.family, []).append(item.level)
    return found


def chosen_tasks(catalogue: Catalogue, text: str) -> frozenset[Task]:
    """What the setting stands for; what the catalogue does not have is left out."""
    chosen: set[Task] = set()
    for item in (part.strip() for part in text.split(",")):
        family, _, level = item.partition("/")
        if level:
            chosen |= {(family, level)} if level in catalogue.get(family, ()) else set()
        elif item == "all":
            for name, levels in catalogue.items():
                chosen |= {(name, one) for one in ordinary(levels)}
        elif item in catalogue:
            chosen |= {(item, one) for one in ordinary(catalogue[item])}
        else:
            chosen |= {(name, item) for name, levels in catalogue.items() if item in levels}
    return frozenset(chosen)


def written(catalogue: Catalogue, chosen: Iterable[Task]) -> str:
    """The shortest plain way to write this choice; empty where nothing is chosen."""
    wanted = set(chosen)
    everything = {(family, level) for family, levels in catalogue.items() for level in ordinary(levels)}
    if wanted == everything:
        return "all"
    parts: list[str] = []
    for family, levels in catalogue.items():
        mine = [level for level in levels if (family, level) in wanted]
        usual = ordinary(levels)
        if usual and all(level in mine for level in usual):
            parts.append(family)
            mine = [level for level in mine if level not in usual]
        parts += [f"{family}/{level}" for level in mine]
    return ",".join(parts)


def with_family(catalogue: Catalogue, chosen: frozenset[Task], family: str, on: bool) -> frozenset[Task]:
    """The choice with all ordinary levels of a family, or with none of it."""
    without = frozenset(task for task in chosen if task[0] != family)
    levels = catalogue.get(family, ())
    return without | {(family, level) for level in ordinary(levels) or levels} if on else without


def with_level(chosen: frozenset[Task], family: str, level: str, on: bool) -> frozenset[Task]:
    """The choice with or without one level."""
    return chosen | {(family, level)} if on else chosen - {(family, level)}


def ordinary(levels: Sequence[str]) -> list[str]:
    """The levels that a family's name alone stands for."""
    return [level for level in levels if level != PAPER]


def family_rows(items: Sequence[TaskInfo], chosen: frozenset[Task]) -> list[FamilyRow]:
    """A row for every family, in the list's order."""
    levels: dict[str, list[LevelRow]] = {}
    titles: dict[str, str] = {}
    for item in items:
        titles.setdefault(item.family, catalogued(item.title))
        levels.setdefault(item.family, []).append(
            LevelRow(
                level=item.level,
                chosen=(item.family, item.level) in chosen,
                training=item.training,
                solved=item.solved,
                answers=item.answers,
                reward=item.reward,
                config=tuple((str(name), str(value)) for name, value in item.config.items()),
            )
        )
    return [FamilyRow(family, titles[family], tuple(rows)) for family, rows in levels.items()]
