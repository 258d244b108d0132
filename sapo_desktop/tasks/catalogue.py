"""The task catalogue: which families and levels exist, read from `resources/tasks.toml`.

It is the allow-list: a peer names a task by its id and cannot choose its configuration or scorer. Task keys such as
`gcd/easy` are the local names used throughout the product. Left out: task ids, which need the generated entries
(identity.py), and everything that imports reasoning_gym (examiner.py).
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from sapo_desktop.core.errors import TaskError, UsageError
from sapo_desktop.core.files.reading import read_text
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.core.task_list import LEVELS, LevelName, meant_by

TaskKey: TypeAlias = str
ConfigValue: TypeAlias = int | float | bool | str | list[int | float | str]
_FamilyName: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9_]+\Z")]
_Setting: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"\A(?!(seed|size)\Z)")]
"""A dataset's setting; the examiner chooses seed and size."""


class Example(NamedTuple):
    """A question with its right answer in canonical form."""

    question: str
    answer: str


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """One level of difficulty of a family: the keyword arguments of its dataset."""

    name: str
    config: dict[str, ConfigValue]
    keep: dict[str, float] = {}
    """Right answers that are too frequent, and the share of their questions to keep (questions.py)."""
    shared: bool = True
    """Whether its groups may be shared. They must be quick to make and score (tests/bench/tasks/speed.py) and equal
    on every computer, and no trivial strategy may solve them (tests/bench/tasks/cheapest.py)."""
    rows: tuple[Example, ...] = ()
    """For an own family (own/): all its questions except the example."""


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of question, with its levels from easy to hard."""

    name: str
    title: str
    dataset: str
    """The dataset's name in reasoning_gym."""
    grammar: str
    """Name of the answer grammar (grammars.py)."""
    scorer: int
    """Version of the scoring rule; part of the task id."""
    reasoning: bool
    """Whether text before the answer is expected (and trained on)."""
    levels: tuple[Level, ...]
    own: bool = False
    """Whether it is a file of this node's owner (own/), not shipped with the product."""
    shown: Example | None = None
    """For an own family: the row that prompts may show as an example. It is neither trained on nor scored."""


class _FamilyEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    title: str
    dataset: str
    grammar: str
    scorer: int
    reasoning: bool
    levels: dict[LevelName, dict[_Setting, ConfigValue]]
    keep: dict[LevelName, dict[str, Annotated[float, msgspec.Meta(gt=0.0, lt=1.0)]]] = {}
    """Shares by level; see Level."""
    shared: list[LevelName] | None = None
    """Levels whose groups may be shared; omitted: all of them."""


class Catalogue(msgspec.Struct, frozen=True, kw_only=True):
    """All families, in the order of the file, followed by own ones."""

    families: tuple[Family, ...]
    left_out: dict[str, Text] = {}
    """Own families that cannot be used, and why."""

    @property
    def own(self) -> frozenset[str]:
        """Names of the own families."""
        return frozenset(family.name for family in self.families if family.own)

    def shipped(self) -> Catalogue:
        """The shipped families only."""
        return Catalogue(families=tuple(family for family in self.families if not family.own))

    def in_swarm(self, *, private: bool) -> Catalogue:
        """The catalogue for a member of a swarm: groups of own tasks are shared in private swarms only."""
        return self if private else replace(self, families=tuple(map(_kept_home, self.families)))

    def family(self, name: str) -> Family:
        """The family of this name. Raises TaskError."""
        for family in self.families:
            if family.name == name:
                return family
        raise TaskError("There is no task family '{name}'.", in_terminal="sapo-desktop tasks list", name=name)

    def find(self, key: TaskKey) -> tuple[Family, Level]:
        """Family and level of a key such as `gcd/easy`. Raises TaskError."""
        name, _, level_name = key.partition("/")
        family = self.family(name)
        for level in family.levels:
            if level.name == level_name:
                return family, level
        known = ", ".join(level.name for level in family.levels)
        raise TaskError(
            "The task family '{name}' has no level '{level}'; it has {known}.", name=name, level=level_name, known=known
        )

    def shown_example(self, family: str) -> Example | None:
        """The row that an own family reserves as an example; None for shipped families. Raises TaskError."""
        return self.family(family).shown

    def tasks(self) -> tuple[TaskKey, ...]:
        """Every task, family by family."""
        return tuple(task_key(family, level) for family in self.families for level in family.levels)


def _kept_home(family: Family) -> Family:
    """The same catalogue, with no level of own families shared."""
    if not family.own:
        return family
    return replace(family, levels=tuple(replace(level, shared=False) for level in family.levels))


def task_key(family: Family, level: Level) -> TaskKey:
    return f"{family.name}/{level.name}"


def family_of(key: TaskKey) -> str:
    """`gcd` of `gcd/easy`."""
    return key.partition("/")[0]


def level_of(key: TaskKey) -> str:
    """`easy` of `gcd/easy`."""
    return key.partition("/")[2]


def load_catalogue(path: Path) -> Catalogue:
    """Read and check the catalogue. Raises TaskError, which names the file and the place in it."""
    try:
        entries = msgspec.convert(tomllib.loads(read_text(path)), dict[_FamilyName, _FamilyEntry])
        return Catalogue(families=tuple(_family(name, entry) for name, entry in entries.items()))
    except OSError as error:
        raise TaskError(
            "The task catalogue {path} cannot be read ({reason}). Install SAPO Desktop again.",
            path=str(path),
            reason=str(error.strerror),
        ) from error
    except (ValueError, RecursionError) as error:  # includes tomllib's and msgspec's errors
        raise TaskError(
            "The task catalogue {path} is not well formed ({reason}). Install SAPO Desktop again.",
            path=str(path),
            reason=str(error),
        ) from error


def _family(name: str, entry: _FamilyEntry) -> Family:
    if "easy" not in entry.levels:
        raise ValueError(f"{name} has no level easy")
    return Family(
        name=name,
        title=entry.title,
        dataset=entry.dataset,
        grammar=entry.grammar,
        scorer=entry.scorer,
        reasoning=entry.reasoning,
        levels=tuple(
            Level(
                name=level,
                config=entry.levels[level],
                keep=entry.keep.get(level, {}),
                shared=entry.shared is None or level in entry.shared,
            )
            for level in LEVELS
            if level in entry.levels
        ),
    )


def parse_tasks(catalogue: Catalogue, text: str) -> tuple[TaskKey, ...]:
    """The tasks in a list such as `gcd,lcm/middle,paper` (core/task_list.py), in catalogue order and without
    duplicates. Raises UsageError."""
    levels = {family.name: [level.name for level in family.levels] for family in catalogue.families}
    chosen: set[TaskKey] = set()
    for word in filter(None, (part.strip() for part in text.split(","))):
        found = meant_by(word, levels)
        if not found:
            raise _unknown(catalogue, word)
        chosen.update(found)
    if not chosen:
        raise UsageError(sentence("The list of tasks is empty. Example: --tasks gcd,lcm/middle,paper"))
    return tuple(key for key in catalogue.tasks() if key in chosen)


def still_there(catalogue: Catalogue, text: str) -> str:
    """The list of tasks without unusable own families; `all` if nothing else is left."""
    words = [word.strip() for word in text.split(",")]
    kept = [word for word in words if family_of(word) not in catalogue.left_out]
    return ",".join(kept) if kept else "all"


def _unknown(catalogue: Catalogue, word: str) -> UsageError:
    if "/" in word:
        try:
            catalogue.find(word)
        except TaskError as error:
            return UsageError(error.text)
    return UsageError(
        "There is no task '{name}'. Families: {families}. Levels: {levels}.",
        name=word,
        families=", ".join(family.name for family in catalogue.families),
        levels=", ".join(LEVELS),
    )
