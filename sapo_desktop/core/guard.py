"""The guard: watches the validation score and says when to go back to the best checkpoint.

Pure. It compares each evaluation with the best one, question by question; three in a row that lie more than
two standard errors below it are lost skill, not noise. Then: back to the best checkpoint, and less of what
may have done it, first external groups, then learning rate. Counters never go back: a round number is used
once. Left out on purpose: a backdoor costs no validation score, so the guard cannot see one.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from sapo_desktop.core.records import EvalReport, Record
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.core.statistics import paired_difference

PATIENCE = 3
ERRORS_BELOW = 2.0


class GuardState(Record, frozen=True):
    """What the guard remembers between evaluations; part of every checkpoint."""

    best_checkpoint: int | None = None
    best_score: float = 0.0
    best_solved: list[bool] = msgspec.field(default_factory=list)
    """Per question, at the best checkpoint."""
    questions: str = ""
    """Names the validation set; another set starts the comparison anew."""
    below: int = 0
    """Evaluations in a row that lie clearly below the best."""
    external_less: int = 0
    """External groups per round taken away so far."""
    learning_rate_factor: float = 1.0
    roll_backs: int = 0


class Action(StrEnum):
    GO_ON = "go_on"
    BEST = "best"
    ROLL_BACK = "roll_back"


class Decision(Record, frozen=True):
    """What to do after an evaluation, with the sentence that a person reads."""

    action: Action
    state: GuardState
    reason: Text = ""


def effective_external(state: GuardState, wanted: int) -> int:
    """How many external groups a round may mix in, of the `wanted` ones of the mix."""
    return max(0, wanted - state.external_less)


def observe(
    state: GuardState, report: EvalReport, checkpoint: int, external_groups: int, questions: str = ""
) -> Decision:
    """Take in a validation score.

    `checkpoint`: number of the one evaluated. `external_groups`: J that rounds used when it was made.
    `questions`: any name of the validation set that changes with it (a hash).
    """
    unlike = state.best_checkpoint is None or state.questions != questions
    if unlike or len(state.best_solved) != len(report.solved) or report.score > state.best_score:
        best = msgspec.structs.replace(
            state,
            best_checkpoint=checkpoint,
            best_score=report.score,
            best_solved=report.solved,
            questions=questions,
            below=0,
        )
        return Decision(action=Action.BEST, state=best)
    if not _clearly_below(report.solved, state.best_solved):
        return Decision(action=Action.GO_ON, state=msgspec.structs.replace(state, below=0))
    if state.below + 1 < PATIENCE:
        return Decision(action=Action.GO_ON, state=msgspec.structs.replace(state, below=state.below + 1))
    return _roll_back(state, report.score, external_groups)


def _clearly_below(now: list[bool], best: list[bool]) -> bool:
    if not now:
        return False
    difference = paired_difference(now, best)
    return difference.value < -ERRORS_BELOW * difference.standard_error


def _roll_back(state: GuardState, score: float, external_groups: int) -> Decision:
    """Half of the external groups go first, as they are the cheaper suspect; without any the step is
    halved.
    """
    less = (external_groups + 1) // 2
    after = msgspec.structs.replace(
        state,
        below=0,
        roll_backs=state.roll_backs + 1,
        external_less=state.external_less + less,
        learning_rate_factor=state.learning_rate_factor * (1.0 if less else 0.5),
    )
    remedy = sentence("half the learning rate")
    if less:
        remedy = sentence(
            "{fewer} external groups a round instead of {count}", fewer=external_groups - less, count=external_groups
        )
    reason = sentence(
        "The validation score fell from {best} to {score}, {times} times in a row more than {errors} standard "
        "errors: back to checkpoint {number}, with {remedy}.",
        best=f"{state.best_score:.3f}",
        score=f"{score:.3f}",
        times=PATIENCE,
        errors=float(ERRORS_BELOW),
        number=str(state.best_checkpoint),
        remedy=remedy,
    )
    return Decision(action=Action.ROLL_BACK, state=after, reason=reason)
