"""The guard: watches validation scores and detects lost skill, so that the node returns to a checkpoint.

Pure. The same questions are asked each time, so each evaluation is compared with others of its own run, question by
question: the last 1 to 10 of them with the mean of the 20 before these. Nothing is compared with the best of many
evaluations, which is high by luck. Greedy answers of an adapter that learns flip both ways, so the difference is
measured in the standard errors that this run's own flips make it have: how many questions are solved now and then, how
long they stay as they are, and a few that change for good by chance. Beyond `ERRORS_BELOW` of them it is lost skill. A
slow loss moves the scores before it too, so the trend of the last evaluations is measured as well, in the same errors.
`tests/bench/swarm/guard.py` measures how often that is wrong and how soon it is right.

Then the node returns to the best checkpoint, and for a while reduces the possible cause: first external groups, then
the learning rate. Counters never go back, so a round number is used once. The guard cannot detect a backdoor, since
that costs no validation score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from itertools import accumulate, pairwise

import msgspec

from sapo_desktop.core.records import EvalReport, Record
from sapo_desktop.core.sentences import Text, sentence

RECENT = (1, 2, 3, 5, 7, 10)
"""How many of the newest evaluations are compared with those before them: a large loss shows in one, a small one in the
mean of several."""
REFERENCE = 20
"""Maximum number of earlier evaluations that they are compared with."""
TRENDS = (8, 16, 30)
"""Number of the newest evaluations over which a trend is measured."""
ERRORS_BELOW = 3.8
"""Standard errors. One comparison is wrong once in 14,000; the six of an evaluation and those of its neighbours are
largely one, and the expected noise is on the safe side: what comes of 500 evaluations is measured, not derived."""
REMEDY_EVALUATIONS = 20
"""Number of evaluations without an alarm after which half of the remedy is taken back."""
_KNOWN = 4
"""Number of evaluations for which the expected noise counts, until the run has shown its own."""
_VARIANCE, _FLIPS = 0.08, 0.1
"""Expected noise, per question: p(1 - p) of solving it, and flips from one evaluation to the next; on the safe side, as
the first starter's own were .033 and .045, and the present one's are .024 and .036 (docs/data/learning_hour.json, from
round 120 on)."""
_FOR_GOOD = 0.0007
"""Variance per question and evaluation of lasting random changes."""
_MOST_CORRELATED = 0.9


class GuardState(Record, frozen=True):
    """What the guard remembers between evaluations; part of every checkpoint."""

    best_checkpoint: int | None = None
    best_score: float = 0.0
    best_solved: list[bool] = msgspec.field(default_factory=list)
    """Results per question at the best checkpoint."""
    questions: str = ""
    """Identifies the validation set and how it is answered; a different one restarts the comparison."""
    looks: list[list[bool]] = msgspec.field(default_factory=list)
    """The last evaluations, oldest first: per question whether it was solved."""
    external_less: int = 0
    """External groups per round that are currently withheld."""
    learning_rate_factor: float = 1.0
    remedy_left: int = 0
    """Evaluations until half of the remedy is taken back; 0 with a remedy in force: a version before took it for good,
    and the next evaluation begins to count."""


class Action(StrEnum):
    GO_ON = "go_on"
    BEST = "best"
    ROLL_BACK = "roll_back"


class Decision(Record, frozen=True):
    """The action after an evaluation, with a sentence for people, if any."""

    action: Action
    state: GuardState
    reason: Text = ""


class Fall(Record, frozen=True):
    """The drop of the newest evaluations below earlier ones."""

    evaluations: int = 0
    """Number of newest evaluations, or of those on the trend; 0: no drop."""
    points: float = 0.0
    """The drop as a share of the questions."""
    errors: float = 0.0
    """The drop in standard errors."""


def effective_external(state: GuardState, wanted: int) -> int:
    """The number of external groups that a round may mix in, of the `wanted` ones of the mix."""
    return max(0, wanted - state.external_less)


def interrupt(state: GuardState) -> GuardState:
    """The weights were changed from outside, so later scores are not compared with earlier ones."""
    return msgspec.structs.replace(state, looks=[])


def observe(
    state: GuardState, report: EvalReport, checkpoint: int, external_groups: int, questions: str = ""
) -> Decision:
    """Take in a validation score.

    `checkpoint`: number of the one evaluated. `external_groups`: J that rounds used when it was made.
    `questions`: any name of the validation set, and of how it is answered, that changes with it.
    """
    # An earlier version stored the set's name alone, which is the first word.
    unlike = state.best_checkpoint is None or state.questions not in (questions, questions.partition(" ")[0])
    if unlike or len(state.best_solved) != len(report.solved):
        begun = msgspec.structs.replace(state, questions=questions, looks=[report.solved])
        return _decide(Action.BEST, _as_best(begun, report, checkpoint))
    state = msgspec.structs.replace(state, questions=questions)
    looks = [*state.looks, report.solved][-(max(RECENT) + REFERENCE) :]
    fall = largest_fall(looks)
    if fall.errors > ERRORS_BELOW:
        before = msgspec.structs.replace(state, looks=looks[: -fall.evaluations])
        return _roll_back(before, report.score, fall, external_groups)
    state = msgspec.structs.replace(state, looks=looks)
    if report.score > state.best_score:
        return _decide(Action.BEST, _as_best(state, report, checkpoint))
    return _decide(Action.GO_ON, state)


def largest_fall(looks: Sequence[Sequence[bool]]) -> Fall:
    """The fall of these evaluations (oldest first, the same questions each time) that is the most standard errors: of
    the ways to part them into newest ones and those before them, and of the trends of the newest ones."""
    worst = Fall()
    if not looks or not looks[0]:
        return worst
    solved = [sum(look) for look in looks]
    flips = [sum(map(bool.__ne__, one, other)) for one, other in pairwise(looks)]
    for recent in RECENT:
        cut = len(looks) - recent
        first = max(0, cut - REFERENCE)
        if cut < max(1, recent // 2):
            break
        weights = (*[1 / (cut - first)] * (cut - first), *[-1 / recent] * recent)
        noise = _noise(looks[first:cut], sum(flips[first : cut - 1]))
        worst = _larger(worst, recent, weights, solved[first:], noise, len(looks[0]))
    for length in TRENDS:
        first = len(looks) - length
        if first < 0:
            break
        before = length // 2
        noise = _noise(looks[first : first + before], sum(flips[first : first + before - 1]))
        worst = _larger(worst, length, _trend(length), solved[first:], noise, len(looks[0]))
    return worst


def _trend(length: int) -> list[float]:
    """Weights that turn so many values into the fall along their best-fitting line."""
    middle = (length - 1) / 2
    square = sum((place - middle) ** 2 for place in range(length))
    return [-(length - 1) * (place - middle) / square for place in range(length)]


def _larger(
    worst: Fall, evaluations: int, weights: Sequence[float], solved: Sequence[int], noise: float, questions: int
) -> Fall:
    """The fall that these weights make of the scores, where it is more errors than `worst`.

    With weights w_i that sum up to 0 the squared error of a fall of n questions is

        n v c sum w_i^2 + n d sum_k (sum_{i>=k} w_i)^2

    v: the mean p(1 - p) of a question; c = (1 + a)/(1 - a), as answers that stay as they are for a while (correlation a
    from one evaluation to the next) tell less than independent ones; d: the variance of changes for good, which is that
    of a random walk. v and a are taken from the evaluations before, of a trend from its first half.
    """
    fall = sum(weight * count for weight, count in zip(weights, solved, strict=True))
    if fall <= 0:
        return worst
    walked = sum(rest**2 for rest in accumulate(reversed(weights)))
    square = noise * sum(weight**2 for weight in weights) + questions * _FOR_GOOD * walked
    errors = fall / math.sqrt(square)
    return Fall(evaluations=evaluations, points=fall / questions, errors=errors) if errors > worst.errors else worst


def _noise(looks: Sequence[Sequence[bool]], flips: int) -> float:
    """n v c of `largest_fall`: the variance of one evaluation's count of solved questions, as much more as its
    correlation with the next one makes it. `flips`: between all neighbours among `looks`."""
    pairs, questions = len(looks) - 1, len(looks[0])
    # Of n values with k ones the unbiased variance is k (n - k) / (n (n - 1)); times n - 1 it is that of the pairs.
    spread = sum(count * (len(looks) - count) for count in map(sum, zip(*looks, strict=True))) / len(looks)
    variance = (spread + _KNOWN * _VARIANCE * questions) / (pairs + _KNOWN)
    flipped = (flips + _KNOWN * _FLIPS * questions) / (pairs + _KNOWN)
    correlation = min(max(0.0, 1 - flipped / (2 * variance)), _MOST_CORRELATED)
    return variance * (1 + correlation) / (1 - correlation)


def _as_best(state: GuardState, report: EvalReport, checkpoint: int) -> GuardState:
    return msgspec.structs.replace(
        state, best_checkpoint=checkpoint, best_score=report.score, best_solved=report.solved
    )


def _decide(action: Action, state: GuardState) -> Decision:
    """The decision without an alarm: an active remedy fades."""
    if not state.external_less and state.learning_rate_factor >= 1:
        return Decision(action=action, state=state)
    left = (state.remedy_left or REMEDY_EVALUATIONS + 1) - 1
    if left:
        return Decision(action=action, state=msgspec.structs.replace(state, remedy_left=left))
    less, factor = state.external_less // 2, min(1.0, 2 * state.learning_rate_factor)
    remains = less > 0 or factor < 1
    eased = msgspec.structs.replace(
        state,
        external_less=less,
        learning_rate_factor=factor,
        remedy_left=REMEDY_EVALUATIONS if remains else 0,
    )
    whole = sentence("No skill was lost for {count} held-out scores, so learning continues as before.", count=_LASTED)
    part = sentence("No skill was lost for {count} held-out scores, so half of the caution ends.", count=_LASTED)
    return Decision(action=action, state=eased, reason=part if remains else whole)


_LASTED = str(REMEDY_EVALUATIONS)


def _roll_back(state: GuardState, score: float, fall: Fall, external_groups: int) -> Decision:
    """Half of the external groups go first, as they are the cheaper suspect; without any the step is
    halved.
    """
    less = (external_groups + 1) // 2
    after = msgspec.structs.replace(
        state,
        external_less=state.external_less + less,
        learning_rate_factor=state.learning_rate_factor * (1.0 if less else 0.5),
        remedy_left=REMEDY_EVALUATIONS,
    )
    remedy = sentence("half the learning rate")
    if less:
        remedy = sentence(
            "{fewer} external groups a round instead of {count}", fewer=external_groups - less, count=external_groups
        )
    reason = sentence(
        "The held-out score fell by {points} to {score}, {errors} standard errors of its own noise. "
        "The node goes back to checkpoint {number}, and uses {remedy} for a while.",
        points=f"{fall.points:.3f}",
        score=f"{score:.3f}",
        errors=f"{fall.errors:.1f}",
        number=str(state.best_checkpoint),
        remedy=remedy,
    )
    return Decision(action=Action.ROLL_BACK, state=after, reason=reason)
