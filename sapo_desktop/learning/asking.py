"""Which questions are worth asking: those whose answers will disagree.

A group whose answers are all solved, or none of them, has no advantage anywhere: what was spent on it taught nothing
(DAPO, arXiv 2503.14476). So two things are remembered.

*Chances.* Of each task how many of its groups were mixed, some answers solved and some not, and how many alike; old
ones count less, for the model changes. Families are drawn alike, as in the paper: what is mixed most of all is often
what is guessed, and teaches nothing. Of a family the level is asked whose draw from its Beta posterior is the highest
(Thompson sampling): what is likely is asked most, what is uncertain is tried, what never taught is left. One level in
ten is drawn from all in reach alike, so that none is left for good. Levels two or more from the likeliest are not
asked: a model goes up and down in small steps. A task that was hardly asked is expected to do as its level did in
the other families so far (an empirical prior): a model finds within a few rounds where it can begin, and a small chat
model begins elsewhere than the starter. A family of which no level is mixed any more, or not yet, is asked less, and
never not at all.

*Reach.* Groups that are alike say two things: all solved, the level is too easy; none solved, it is too hard, and so is
every level above it. A level above the one where a family begins is asked once some answers at the level below are
right. A model that solves nothing yet spends no answers on harder questions, whose long answers every round waits for.

*Turns.* A model that begins at the level `first` works on a few families at a time. Spread over all of them, a round
has two or three groups that teach, each of another family, and its step is mostly noise. A turn ends after some
groups, soon if few of them were mixed, and the families that had the fewest turns are next. One whose turn ended soon
sits out the next turns of the others: what the model never or always solves, often with the longest questions, would
otherwise take half of all groups.

*Questions asked again.* One whose answers were mixed is mixed again far more often than a fresh one of its task; it is
asked again some rounds later, with fresh answers, until they are alike. Such groups are this node's own business: they
are not shared, as peers hold a question for used once it was answered.

Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import msgspec

from sapo_desktop.core.records import Record
from sapo_desktop.core.task_list import FIRST, LEVELS

Levels = Mapping[str, Sequence[str]]
"""Per family its levels, from easy to hard."""

MEMORY = 30.0
"""Groups of a task that its chance looks back on."""
_PRIOR = 2.0
"""Groups that what other families showed at the same level counts for, at most."""
_LIKELY, _UNLIKELY = (1.0, 1.0), (0.0, 4.0)
"""Mixed and alike groups that stand for the level where a family begins, and for the others, before any was seen."""
_WORTH, _LEAST = 0.35, 0.1
"""A family whose best chance is below the first is asked less, by the square of the proportion, down to the second part
of its share."""
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
AT_WORK = 5
"""Families at a time."""
_TURN, _TRIED = 24, 6
"""Groups of a turn, and of the shortest one."""
_TEACHES, _SAT_OUT = 0.2, 3
"""A turn with a smaller share of mixed groups ends soon, and counts for so many turns."""
_GROUND = 0.25
"""Share of answers at a level that must be right before the next one is asked, as if at least `_SEEN` groups were."""
_SEEN = 4.0
_DEAD = 0.5
"""A level counts as practised while its chance is at least this part of its family's best one's."""


class Chance(Record, frozen=True):
    """Groups of one task, each counting less with every one after it."""

    mixed: float = 0.0
    alike: float = 0.0
    right: float = 0.0
    """Sum of their shares of right answers."""

    def behind(self, prior: Chance) -> Chance:
        """With these groups of others before it, which count for `_PRIOR` groups at most."""
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
        """After one more group. `solved`: share of its answers."""
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
    """Of a family: how many turns it had, and its groups since the last one."""

    had: int = 0
    asked: int = 0
    mixed: int = 0

    def with_group(self, mixed: bool) -> Turn:
        """After one more group."""
        asked, taught = self.asked + 1, self.mixed + mixed
        if asked >= _TRIED and taught < _TEACHES * asked:
            return Turn(had=self.had + _SAT_OUT)
        if asked >= _TURN:
            return Turn(had=self.had + 1)
        return Turn(had=self.had, asked=asked, mixed=taught)


class Asking(Record, frozen=True):
    """What is remembered of questions; part of every checkpoint."""

    begin: str = ""
    """The level where training begins; empty: `middle`, or what stands in its place."""
    chances: dict[str, Chance] = msgspec.field(default_factory=dict)
    again: list[Again] = msgspec.field(default_factory=list)
    turns: dict[str, Turn] = msgspec.field(default_factory=dict)
    """By family."""


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
    chances = expected(asking, levels)
    families = sorted(at_work(asking, levels))
    reach = {name: _reach(asking, name, levels[name]) for name in families}
    best = [max(chances[task].mean for task in reach[name]) for name in families]
    drawn = random.choices(families, weights=[max(_LEAST, min(1.0, mean / _WORTH) ** 2) for mean in best], k=count)
    return [_choose_level(reach[name], chances, random) for name in drawn]


def at_work(asking: Asking, levels: Levels) -> Sequence[str]:
    """The families that questions are drawn from: those whose turn it is, or all."""
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
    """The levels of a family next to its likeliest, and that one."""
    likeliest = tasks.index(max(tasks, key=lambda task: chances[task].mean))
    return tasks[max(0, likeliest - 1) : likeliest + 2]


def expected(asking: Asking, levels: Levels) -> dict[str, Chance]:
    """What is known of every task, behind what its level showed in all families, and what was expected at first."""
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
    """Where a family begins; a level that it has not where all of its levels are too hard or too easy so far."""
    return begin if begin in LEVELS else start_of(order)


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
    """The tasks that are asked often: of each family that is worth it the levels nearly as likely to teach as the
    likeliest."""
    found, chances = set(), expected(asking, levels)
    for family, order in levels.items():
        means = {task: chances[task].mean for task in (f"{family}/{level}" for level in order)}
        best = max(means.values())
        found |= {task for task, mean in means.items() if mean >= _DEAD * max(best, _WORTH)}
    return frozenset(found)
