"""Which questions are worth asking: those whose answers will disagree.

A group whose answers are all solved, or none of them, has no advantage anywhere: what was spent on it taught nothing
(DAPO, arXiv 2503.14476). So two things are remembered.

*Chances.* Of each task how many of its groups were mixed, some answers solved and some not, and how many alike; old
ones count less, for the model changes. Families are drawn alike, as in the paper: what is mixed most of all is often
what is guessed, and teaches nothing. Of a family the level is asked whose draw from its Beta posterior is the highest
(Thompson sampling): what is likely is asked most, what is uncertain is tried, what was in vain is left. One level in
ten is drawn from all alike, so that none is left for good. Levels two or more below the likeliest are not asked: a
model that is past a level is past those below it. Before anything is known `middle` is taken for the likely level, as
it is for the starter, by the weight of eight groups. A family of which no level is mixed any more, or not yet, is
asked less, and never not at all.

*Questions asked again.* One whose answers were mixed is mixed again far more often than a fresh one of its task; it is
asked again some rounds later, with fresh answers, until they are alike. Such groups are this node's own business: they
are not shared, as peers hold a question for used once it was answered.

Pure. Left out: which families a node works on at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import msgspec

from sapo_desktop.core.records import Record
from sapo_desktop.core.task_list import FIRST

Levels = Mapping[str, Sequence[str]]
"""Per family its levels, from easy to hard."""

MEMORY = 30.0
"""Groups of a task that its chance looks back on."""
_LIKELY, _UNLIKELY = (3.0, 5.0), (0.0, 8.0)
"""Mixed and alike groups that stand for the level that a family starts at, and for the others, before any was seen."""
_WORTH, _LEAST = 0.1, 0.1
"""A family whose best chance is below the first is asked in proportion less, down to the second part of its share."""
EXPLORED = 0.1
"""Share of fresh questions whose level is drawn from all alike."""
AGAIN = 0.25
"""Share of a round's questions that may be asked again."""
REST = 3
"""Rounds between two times: what the last step taught is to be tested by the ones since."""
TIMES = 4
"""How often one question is asked, all in all: after that its answers would be learned by heart."""
KEPT = 512
"""Questions kept to be asked again; the oldest give way."""
_WANTED_RATE = 0.4
"""Of the kept ones those come first whose share solved was nearest to this: below one half, since hard ones teach more
(arXiv 2508.14094)."""
_DEAD = 0.5
"""A level counts as practised while its chance is at least this part of its family's best one's."""


class Chance(Record, frozen=True):
    """Groups of one task, each counting less with every one after it."""

    mixed: float = 0.0
    alike: float = 0.0

    @property
    def mean(self) -> float:
        """Expected share of mixed groups, under a uniform prior."""
        return (self.mixed + 1) / (self.mixed + self.alike + 2)

    def draw(self, random: Random) -> float:
        """One draw from the posterior."""
        return random.betavariate(self.mixed + 1, self.alike + 1)

    def with_group(self, mixed: bool) -> Chance:
        """After one more group."""
        left = 1 - 1 / MEMORY
        return Chance(mixed=left * self.mixed + mixed, alike=left * self.alike + (not mixed))


class Again(Record, frozen=True):
    """A question whose answers were mixed when it was asked last."""

    task: str
    seed: int
    round: int
    times: int
    solved: float


class Asking(Record, frozen=True):
    """What is remembered of questions; part of every checkpoint."""

    chances: dict[str, Chance] = msgspec.field(default_factory=dict)
    again: list[Again] = msgspec.field(default_factory=list)


class Outcome(Record, frozen=True):
    """How an own question went. `solved`: share of its answers."""

    task: str
    seed: int
    solved: float

    @property
    def mixed(self) -> bool:
        """Whether it taught anything."""
        return 0 < self.solved < 1


def choose_tasks(asking: Asking, levels: Levels, count: int, random: Random) -> list[str]:
    """The tasks of `count` fresh questions. `levels`: of each family."""
    families = sorted(levels)
    weights = [max(_LEAST, min(1.0, max(_means(asking, name, levels[name]).values()) / _WORTH)) for name in families]
    drawn = random.choices(families, weights=weights, k=count)
    return [_choose_level(asking, name, levels[name], random) for name in drawn]


def _choose_level(asking: Asking, family: str, levels: Sequence[str], random: Random) -> str:
    tasks = _in_reach(asking, family, levels)
    if random.random() < EXPLORED:
        return random.choice(tasks)
    draws = {task: chance_of(asking, task, levels).draw(random) for task in tasks}
    return max(draws, key=draws.__getitem__)


def _in_reach(asking: Asking, family: str, levels: Sequence[str]) -> list[str]:
    """The tasks of a family from the level below its likeliest upward."""
    means = _means(asking, family, levels)
    tasks = list(means)
    return tasks[max(0, tasks.index(max(means, key=means.__getitem__)) - 1) :]


def chance_of(asking: Asking, task: str, levels: Sequence[str]) -> Chance:
    """What is known of a task, or expected of it. `levels`: of its family."""
    likely = task.endswith(f"/{start_of(levels)}")
    mixed, alike = _LIKELY if likely else _UNLIKELY
    return asking.chances.get(task, Chance(mixed=mixed, alike=alike))


def start_of(levels: Sequence[str]) -> str:
    """The level that is asked before anything is known: `middle`, or what stands in its place. Of `easy`, 97% of the
    starter's groups are solved throughout and teach nothing."""
    usual = [level for level in levels if level != FIRST] or levels
    return usual[min(1, len(usual) - 1)]


def choose_again(asking: Asking, tasks: Sequence[str], number: int, count: int) -> list[Again]:
    """The questions that round `number` of `count` questions asks again, of these tasks."""
    known = frozenset(tasks)
    rested = [one for one in asking.again if one.task in known and number - one.round >= REST]
    rested.sort(key=lambda one: abs(one.solved - _WANTED_RATE))
    return rested[: int(AGAIN * count)]


def observe(asking: Asking, number: int, outcomes: Sequence[Outcome], levels: Levels) -> Asking:
    """Take in how the own questions of round `number` went. What is remembered of other than these levels goes."""
    known = {f"{family}/{level}": order for family, order in levels.items() for level in order}
    chances = {task: chance for task, chance in asking.chances.items() if task in known}
    again = {(one.task, one.seed): one for one in asking.again if one.task in known}
    for outcome in outcomes:
        key = (outcome.task, outcome.seed)
        before = again.pop(key, None)
        times = before.times + 1 if before else 1
        if before is None and outcome.task in known:
            before_it = chance_of(asking, outcome.task, known[outcome.task])
            chances[outcome.task] = chances.get(outcome.task, before_it).with_group(outcome.mixed)
        if outcome.mixed and times < TIMES and outcome.task in known:
            again[key] = Again(task=outcome.task, seed=outcome.seed, round=number, times=times, solved=outcome.solved)
    return Asking(chances=chances, again=[*again.values()][-KEPT:])


def practised(asking: Asking, levels: Levels) -> frozenset[str]:
    """The tasks that are asked often: of each family that is worth it the levels nearly as likely to teach as the
    likeliest."""
    found = set()
    for family, order in levels.items():
        means = _means(asking, family, order)
        best = max(means.values())
        found |= {task for task, mean in means.items() if mean >= _DEAD * max(best, _WORTH)}
    return frozenset(found)


def _means(asking: Asking, family: str, levels: Sequence[str]) -> dict[str, float]:
    return {task: chance_of(asking, task, levels).mean for task in (f"{family}/{level}" for level in levels)}
