"""Simulates the guard with its own code: how often does it take noise for lost skill, and how soon does it find a loss?

    python -m tests.bench.swarm.guard                 200 runs of 500 evaluations each
    python -m tests.bench.swarm.guard --quick

It uses as many questions as the validation set has. Each has its own probability of being solved, mostly 0 or 1. An
answer stays the same for a while, and now and then a question changes for good, for better or worse. The share solved,
the number in between and the rate of flips are those of the first starter after learning: 71% solved, 4.3% flips
between neighbouring evaluations, 5.6% further apart. For the present one in a run of 300 rounds
(docs/data/learning_hour.json until 2026-11-27), from round 120 on, they are 46%, 3.6% and 5.7% over four. Runs without
a loss are repeated with several times that noise.

A loss makes solved questions unsolvable, so many that the share falls by 5 or 10 points. It happens between two parts
of an evaluation, so that the first evaluation shows only some of it. A slide loses as much in small parts, evaluation
by evaluation.
"""

from argparse import Namespace
from collections.abc import Iterator
from random import Random

import msgspec

from sapo_desktop.core.records import EvalReport
from sapo_desktop.core.resources import resource
from sapo_desktop.core.statistics import wilson
from sapo_desktop.learning.guard import Action, GuardState, observe
from sapo_desktop.tasks.catalogue import load_catalogue
from sapo_desktop.tasks.heldout import WANTED
from sapo_desktop.worker.scores import PARTS
from tests.bench.figure import Figure, arguments, at_most, show, tell

QUESTIONS = sum(
    WANTED["validation"].get(level.name, 0)
    for family in load_catalogue(resource("tasks.toml")).families
    for level in family.levels
)
"""How many the validation set has; a larger one tells more."""
SOLVED = 0.71
LONG, QUIET = 500, 40
"""Evaluations of a run without a loss, and before a loss."""
PATIENCE = 10
SLIDE = 0.1
"""Lost in small parts, as what peers teach would lose it."""
SLIDES = (8, 24, 48)
"""Evaluations that it takes."""


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """How the answers of an adapter flip that neither gains nor loses skill."""

    name: str
    variance: float = 0.033
    """Mean p(1 - p) of a question."""
    stays: float = 0.25
    """Chance that an answer is not drawn again from one evaluation to the next."""
    changes: float = 0.001
    """Chance that a question gets another probability, from one evaluation to the next."""


AS_MEASURED = Noise(name="as measured")
NOISES = (
    AS_MEASURED,
    Noise(name="independent flips", stays=0.0, changes=0.0),
    Noise(name="twice the flips", variance=0.06),
    Noise(name="three times the flips", variance=0.09),
    Noise(name="answers that stay for long", stays=0.6),
    Noise(name="three times the changes for good", changes=0.003),
)


class Adapter:
    """Answers the questions of one run, evaluation by evaluation."""

    def __init__(self, noise: Noise, random: Random, questions: int, solved: float = SOLVED) -> None:
        self._noise, self._random, self._questions = noise, random, questions
        spread = noise.variance / (solved * (1 - solved) - noise.variance)
        self._shape = (solved * spread, (1 - solved) * spread)
        self._chances = [random.betavariate(*self._shape) for _ in range(questions)]
        self._answers = [random.random() < chance for chance in self._chances]
        self._lost: set[int] = set()
        self._owed = 0.0
        self._won: set[int] = set()

    def answers(self, spared: int = 0) -> list[bool]:
        """One evaluation; its first `spared` parts were asked before anything was lost."""
        draw, noise = self._random.random, self._noise
        for place in range(self._questions):
            if draw() < noise.changes:
                self._chances[place] = self._random.betavariate(*self._shape)
            if (place in self._lost and place % PARTS >= spared) or place in self._won:
                self._answers[place] = place in self._won
            elif draw() >= noise.stays:
                self._answers[place] = draw() < self._chances[place]
        return list(self._answers)

    def lose(self, points: float) -> None:
        """Lose so much of the expected score for good; what is too little for a question is lost with the next part."""
        places = [place for place in range(self._questions) if place not in self._lost]
        self._random.shuffle(places)
        self._owed += points * self._questions
        for place in places:
            if self._owed <= self._chances[place] / 2:
                return
            self._owed -= self._chances[place]
            self._lost.add(place)

    def gain(self, points: float) -> None:
        """Gain so much on average, of what is not solved."""
        missing = [place for place in range(self._questions) if place not in self._won]
        expected = sum(1 - self._chances[place] for place in missing)
        share = min(1.0, points * self._questions / expected) if expected else 0.0
        self._won.update(place for place in missing if self._random.random() < share * (1 - self._chances[place]))


def alarms(evaluations: Iterator[list[bool]]) -> Iterator[bool]:
    """Whether the guard would go back, evaluation by evaluation."""
    state = GuardState()
    for number, solved in enumerate(evaluations):
        decision = observe(state, _report(solved), number, 0, "set")
        state = decision.state
        yield decision.action is Action.ROLL_BACK


def false_alarm(noise: Noise, seed: int, questions: int, slope: float = 0.0) -> bool:
    """Whether a run without a loss has an alarm; `slope`: points gained at each evaluation."""
    adapter = Adapter(noise, Random(seed), questions, SOLVED if not slope else 0.4)

    def played() -> Iterator[list[bool]]:
        for _ in range(LONG):
            adapter.gain(slope)
            yield adapter.answers()

    return any(alarms(played()))


def delay(noise: Noise, seed: int, questions: int, points: float) -> int:
    """Evaluations from a loss to the alarm, that one included; 0: there was one before the loss."""
    random = Random(seed)
    adapter = Adapter(noise, random, questions)

    def played() -> Iterator[list[bool]]:
        for number in range(QUIET + 4 * PATIENCE):
            if number == QUIET:
                adapter.lose(points)
            yield adapter.answers(random.randrange(PARTS) if number == QUIET else 0)

    for number, alarm in enumerate(alarms(played())):
        if alarm:
            return max(0, number - QUIET + 1)
    return 4 * PATIENCE + 1


def slide_delay(noise: Noise, seed: int, questions: int, evaluations: int) -> int:
    """Evaluations until the alarm where a tenth of the questions is lost evenly over so many, from the first ones on;
    0: there was one before."""
    adapter = Adapter(noise, Random(seed), questions)
    begins = QUIET if evaluations > 10 else 1

    def played() -> Iterator[list[bool]]:
        for number in range(begins + 2 * evaluations):
            if begins <= number < begins + evaluations:
                adapter.lose(SLIDE / evaluations)
            yield adapter.answers()

    for number, alarm in enumerate(alarms(played())):
        if alarm:
            return max(0, number - begins + 1)
    return 2 * evaluations + 1


def _report(solved: list[bool]) -> EvalReport:
    return EvalReport(
        checkpoint="last",
        round=0,
        which="validation",
        score=sum(solved) / len(solved),
        partial=0.0,
        questions=len(solved),
        low=0.0,
        high=1.0,
        tasks=[],
        solved=solved,
        seconds=0.0,
    )


def false_alarm_figure(name: str, noise: Noise, given: Namespace, slope: float = 0.0) -> Figure:
    runs = given.runs
    wrong = sum(false_alarm(noise, given.seed * 1_000_003 + run, given.questions, slope) for run in range(runs))
    interval = wilson(wrong, runs)
    note = f"{wrong} of {runs} runs of {LONG} evaluations; "
    note += f"95% interval {100 * interval.low:.1f} to {100 * interval.high:.1f}%"
    return at_most(f"false alarms, {name}", round(100 * wrong / runs, 2), "%", 5, note)


def delay_figures(noise: Noise, points: float, within: int, given: Namespace) -> Iterator[Figure]:
    """Median, 95th percentile and share found in time, of the runs without an alarm before the loss."""
    seeds = range(given.seed * 1_000_003, given.seed * 1_000_003 + given.runs)
    found = sorted(d for seed in seeds if (d := delay(noise, seed, given.questions, points)))
    losses = f"losses of {100 * points:.0f} points"
    median = found[len(found) // 2]
    yield Figure(f"evaluations until 50% of {losses} are found, {noise.name}", median, "evaluations")
    late = found[min(len(found) - 1, int(0.95 * len(found)))]
    note = f"more than {4 * PATIENCE} are not waited for" if late > 4 * PATIENCE else ""
    name = f"evaluations until 95% of {losses} are found, {noise.name}"
    yield at_most(name, late, "evaluations", within, note)
    share = sum(d <= within for d in found) / len(found)
    yield Figure(f"{losses} found within {within}, {noise.name}", round(100 * share, 1), "%")


def slide_figure(evaluations: int, given: Namespace) -> Figure:
    """The number of evaluations until 95% of slow losses are found."""
    seeds = range(given.seed * 1_000_003, given.seed * 1_000_003 + given.runs)
    found = sorted(d for seed in seeds if (d := slide_delay(AS_MEASURED, seed, given.questions, evaluations)))
    late = found[min(len(found) - 1, int(0.95 * len(found)))]
    name = f"evaluations until 95% of slides are found, over {evaluations}"
    return at_most(name, late, "evaluations", 1.5 * evaluations, f"median {found[len(found) // 2]}")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    given = parser.parse_args()
    if given.quick:
        given.runs = 12
    for noise in NOISES[:1] if given.quick else NOISES:
        tell(f"no loss, {noise.name}")
        show([false_alarm_figure(noise.name, noise, given)], given)
    tell("a slow improvement")
    name = "while 50 points are gained slowly"
    show([false_alarm_figure(name, AS_MEASURED, given, slope=0.001)], given)
    for evaluations in SLIDES:
        tell(f"a slide over {evaluations}")
        show([slide_figure(evaluations, given)], given)
    for points, within in ((0.05, PATIENCE), (0.10, 3)):
        for noise in (AS_MEASURED,) if given.quick else (AS_MEASURED, NOISES[2]):
            tell(f"a loss of {100 * points:.0f} points, {noise.name}")
            show(delay_figures(noise, points, within, given), given)


if __name__ == "__main__":
    main()
