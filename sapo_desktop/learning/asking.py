"""Which questions are worth asking: those whose answers will disagree.

A group whose answers are all solved, or all wrong, has no advantage, so its cost taught nothing (DAPO, arXiv
2503.14476). So two things are remembered.

*Chances.* For each task this counts its mixed groups (some answers solved, some not) and its alike ones (all or none).
Old groups count less, since the model changes. Families are drawn uniformly, as in the paper: the most mixed families
are often guessed, and teach nothing. Within a family, the level with the highest draw from its Beta posterior is asked
(Thompson sampling). So likely levels are asked most, uncertain ones are tried, and useless ones are left. One level in
ten is drawn uniformly from all in reach, so that none is left for good. Levels two or more from the likeliest are not
asked, since a model moves in small steps. A task with few groups is expected to do as its level did in the other
families so far (an empirical prior). So a model finds within a few rounds where it can begin, and a small chat model
begins elsewhere than the starter. A family without a mixed level is asked less, but never dropped.

*Reach.* Alike groups mean one of two things. If all answers are solved, the level is too easy. If none is, it is too
hard, and so is every level above it. A level above a family's first one is asked once some answers at the level below
are right. A model that solves nothing yet spends no answers on harder questions, whose long answers delay every round.

*Turns.* A model that begins at the level `first` works on a few families at a time. Spread over all of them, a round
has two or three groups that teach, each of another family, and its step is mostly noise. A turn ends after some groups,
or early if few of them were mixed. Then the families with the fewest turns are next. A family whose turn ended early
sits out the next turns of the others. Otherwise questions that the model never or always solves, often the longest
ones, would take half of all groups.

*Questions asked again.* A question with mixed answers is mixed again far more often than a fresh one of its task. It is
asked again some rounds later, with fresh answers, until they are alike. Such groups are not shared, because peers
treat an answered question as used.

Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import msgspec

from sapo_desktop.core.records import Record
from sapo_desktop.core.task_list import FIRST, LEVELS

Levels = Mapping[str, Sequence[str]]
"""Each family's levels, from easy to hard."""

MEMORY = 30.0
"""Number of past groups of a task that its chance considers."""
_PRIOR = 2.0
"""Maximum number of groups for which evidence from other families at the same level counts."""
_LIKELY, _UNLIKELY = (1.0, 1.0), (0.0, 4.0)
"""Prior counts of mixed and alike groups: for the level where a family begins, and for the others."""
_WORTH, _LEAST = 0.35, 0.1
"""A family whose best chance is below the first value is asked less, by the square of the ratio, at least the second
part of its share."""
EXPLORED = 0.1
"""Share of fresh questions whose level is drawn uniformly."""
AGAIN = 0.25
"""Share of a round's questions that may be asked again."""
REST = 3
"""Rounds before a question is asked again, so that later steps test what the last one taught."""
TIMES = 4
"""How often one question is asked in total; after that its answers would be memorised."""
KEPT = 512
"""Questions kept to be asked again; the oldest are dropped first."""
_WANTED_RATE = 0.4
"""Kept questions whose share solved was nearest to this come first; it is below one half, since hard ones teach more
(arXiv 2508.14094)."""
AT_WORK = 5
"""Families that take turns at once."""
_TURN, _TRIED = 24, 6
"""Groups in a turn, and in the shortest one."""
_TEACHES, _SAT_OUT = 0.2, 3
"""A turn with a smaller share of mixed groups ends early, and counts for so many turns."""
_GROUND = 0.25
"""Share of answers at a level that must be right before the next one is asked, as if at least `_SEEN` groups were."""
_SEEN = 4.0
_DEAD = 0.5
"""A level counts as practised while its chance is at least this part of its family's best one's."""


class Chance(Record, frozen=True):
    """Decayed counts of a task's groups."""

    mixed: float = 0.0
    alike: float = 0.0
    right: float = 0.0
    """Sum of their shares of right answers."""

    def behind(self, prior: Chance) -> Chance:
        """The chance with these groups of others as prior, which count for at most `_PRIOR` groups."""
        seen = prior.mixed + prior.alike
        part = min(1.0, _PRIOR / seen) if seen else 0.0
        return Chance(
            mixed=self.mixed + part * prior.mixed,
            alike=self.alike + part * prior.alike,
            right=self.right,
        )

    @property
    def mean(self) -> float:
        """Expected share of mixed groups, under a uniform prior."""
        return (self.mixed + 1) / (self.mixed + self.alike + 2)

    def draw(self, random: Random) -> float:
        """One draw from the posterior."""
        return random.betavariate(self.mixed + 1, self.alike + 1)

    @property
    def carries(self) -> bool:
        """Whether enough answers are right for the next level."""
        return self.right >= _GROUND * max(_SEEN, self.mixed + self.alike)

    def with_group(self, solved: float) -> Chance:
        """The chance after one more group. `solved`: share of its answers."""
        left, mixed = 1 - 1 / MEMORY, 0 < solved < 1
        return Chance(
            mixed=left * self.mixed + mixed,
            alike=left * self.alike + (not mixed),
            right=left * self.right + solved,
        )


class Again(Record, frozen=True):
    """A question whose answers were mixed when it was asked last."""

    task: str
    seed: int
    round: int
    times: int
    solved: float


class Turn(Record, frozen=True):
    """A family's number of turns, and its groups since the last one."""

    had: int = 0
    asked: int = 0
    mixed: int = 0

    def with_group(self, mixed: bool) -> Turn:
        """The record after one more group."""
        asked, taught = self.asked + 1, self.mixed + mixed
        if asked >= _TRIED and taught < _TEACHES * asked:
            return Turn(had=self.had + _SAT_OUT)
        if asked >= _TURN:
            return Turn(had=self.had + 1)
        return Turn(had=self.had, asked=asked, mixed=taught)


class Asking(Record, frozen=True):
    """The memory of questions, part of every checkpoint."""

    begin: str = ""
    """The level where training begins; empty: `middle`, or the family's closest level."""
    chances: dict[str, Chance] = msgspec.field(default_factory=dict)
    again: list[Again] = msgspec.field(default_factory=list)
    turns: dict[str, Turn] = msgspec.field(default_factory=dict)
    """Turns by family."""


class Outcome(Record, frozen=True):
    """The result of an own question. `solved`: share of its answers."""

    task: str
    seed: int
    solved: float

    @property
    def mixed(self) -> bool:
        """Whether its answers disagreed, so that it taught something."""
        return 0 < self.solved < 1


def choose_tasks(asking: Asking, levels: Levels, count: int, random: Random) -> list[str]:
    """The tasks of `count` fresh questions. `levels`: each family's levels."""
    chances = expected(asking, levels)
    families = sorted(at_work(asking, levels))
    reach = {name: _reach(asking, name, levels[name]) for name in families}
    best = [max(chances[task].mean for task in reach[name]) for name in families]
    drawn = random.choices(families, weights=[max(_LEAST, min(1.0, mean / _WORTH) ** 2) for mean in best], k=count)
    return [_choose_level(reach[name], chances, random) for name in drawn]


def at_work(asking: Asking, levels: Levels) -> Sequence[str]:
    """The families from which questions are drawn: those whose turn it is, or all."""
    if asking.begin != FIRST:
        return [*levels]
    chances = expected(asking, levels)

    def place(family: str) -> tuple[int, bool, float]:
        turn = asking.turns.get(family, Turn())
        return turn.had, not turn.asked, -max(chances[task].mean for task in _reach(asking, family, levels[family]))

    return sorted(levels, key=place)[:AT_WORK]


def _choose_level(tasks: Sequence[str], chances: Mapping[str, Chance], random: Random) -> str:
    tasks = _near(tasks, chances)
    if random.random() < EXPLORED:
        return random.choice(tasks)
    draws = {task: chances[task].draw(random) for task in tasks}
    return max(draws, key=draws.__getitem__)


def _reach(asking: Asking, family: str, order: Sequence[str]) -> list[str]:
    """A family's tasks up to the level where it begins, and further as long as answers at the level below are right."""
    begin = _begin(order, asking.begin)
    top = order.index(begin) if begin in order else 0
    while top + 1 < len(order) and asking.chances.get(f"{family}/{order[top]}", Chance()).carries:
        top += 1
    return [f"{family}/{level}" for level in order[: top + 1]]


def _near(tasks: Sequence[str], chances: Mapping[str, Chance]) -> Sequence[str]:
    """A family's most likely level and its neighbours."""
    likeliest = tasks.index(max(tasks, key=lambda task: chances[task].mean))
    return tasks[max(0, likeliest - 1) : likeliest + 2]


def expected(asking: Asking, levels: Levels) -> dict[str, Chance]:
    """The chances of every task, with its level's results in all families and the first expectation as priors."""
    pooled: dict[str, Chance] = {}
    for task, chance in asking.chances.items():
        level, so_far = task.partition("/")[2], pooled.get(task.partition("/")[2], Chance())
        pooled[level] = Chance(mixed=so_far.mixed + chance.mixed, alike=so_far.alike + chance.alike)
    found = {}
    for family, order in levels.items():
        begin = _begin(order, asking.begin)
        for level in order:
            mixed, alike = _LIKELY if level == begin else _UNLIKELY
            own = asking.chances.get(f"{family}/{level}", Chance()).behind(pooled.get(level, Chance()))
            found[f"{family}/{level}"] = Chance(mixed=mixed + own.mixed, alike=alike + own.alike)
    return found


def _begin(order: Sequence[str], begin: str) -> str:
    """The level where a family begins; one that it lacks if all of its levels are too hard or too easy so far."""
    return begin if begin in LEVELS else start_of(order)


def start_of(levels: Sequence[str]) -> str:
    """The level that is asked before anything is known: `middle`, or the closest one. At `easy`, all answers of 97% of
    the starter's groups are solved, which teaches nothing."""
    usual = [level for level in levels if level != FIRST] or levels
    return usual[min(1, len(usual) - 1)]


def choose_again(asking: Asking, tasks: Sequence[str], number: int, count: int) -> list[Again]:
    """The questions that round `number` of `count` questions asks again, of these tasks."""
    known = frozenset(tasks)
    rested = [one for one in asking.again if one.task in known and number - one.round >= REST]
    rested.sort(key=lambda one: abs(one.solved - _WANTED_RATE))
    return rested[: int(AGAIN * count)]


def observe(asking: Asking, number: int, outcomes: Sequence[Outcome], levels: Levels) -> Asking:
    """Take in the results of the own questions of round `number`, and forget all levels except these."""
    known = {f"{family}/{level}" for family, order in levels.items() for level in order}
    chances = {task: chance for task, chance in asking.chances.items() if task in known}
    again = {(one.task, one.seed): one for one in asking.again if one.task in known}
    turns = {family: turn for family, turn in asking.turns.items() if family in levels}
    working = at_work(asking, levels)
    for outcome in outcomes:
        key = (outcome.task, outcome.seed)
        before = again.pop(key, None)
        times, family = before.times + 1 if before else 1, outcome.task.partition("/")[0]
        if before is None and outcome.task in known:
            chances[outcome.task] = chances.get(outcome.task, Chance()).with_group(outcome.solved)
            if family in working:
                turns[family] = turns.get(family, Turn()).with_group(outcome.mixed)
        if outcome.mixed and times < TIMES and outcome.task in known:
            again[key] = Again(task=outcome.task, seed=outcome.seed, round=number, times=times, solved=outcome.solved)
    return Asking(begin=asking.begin, chances=chances, again=[*again.values()][-KEPT:], turns=turns)


def practised(asking: Asking, levels: Levels) -> frozenset[str]:
    """The tasks that are asked often: from each worthwhile family, the levels that are nearly as likely to teach as the
    likeliest."""
    found, chances = set(), expected(asking, levels)
    for family, order in levels.items():
        means = {task: chances[task].mean for task in (f"{family}/{level}" for level in order)}
        best = max(means.values())
        found |= {task for task, mean in means.items() if mean >= _DEAD * max(best, _WORTH)}
    return frozenset(found)
