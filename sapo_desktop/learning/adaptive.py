"""The adaptive mix: which of the fixed mixes the next block of rounds is played with.

Pure. Each fixed mix is an arm of a bandit. The rounds between two validation scores are one block, played with one
arm; what the arm earned is the change of the score over the block, in standard errors of the paired difference, so
that a change which chance explains moves little. As a model learns, another mix may become the better one: the rule
is discounted UCB (Garivier and Moulines, "On Upper-Confidence Bound Policies for Switching Bandit Problems", ALT 2011,
arXiv 0805.3415), in which a block counts the less the longer ago it was. It follows from the state alone.

An arm stands for what is asked for. Where peers supply less, own groups fill up, and the arm earns what came of that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from sapo_desktop.core.records import EvalReport, Record
from sapo_desktop.core.statistics import paired_difference

ARMS = ("4/4", "6/2", "2/6", "8/0")
"""In the order of their first block; among equals the first is played."""
DISCOUNT = 0.95
"""Weight of a block one block later (gamma): about twenty blocks are remembered."""
EXPLORATION = 1.0
"""Standard errors by which an arm played once among e blocks is preferred: one block's noise is one of them."""
MOST_EARNED = 3.0
"""Standard errors that one block earns at most; a roll-back costs as much."""


class Arm(Record, frozen=True):
    """What one mix earned, both sums discounted."""

    blocks: float = 0.0
    earned: float = 0.0

    @property
    def mean(self) -> float:
        """Standard errors a block; 0 where it was never played."""
        return self.earned / self.blocks if self.blocks else 0.0


class AdaptiveState(Record, frozen=True):
    """What is remembered between blocks; part of every checkpoint."""

    arms: dict[str, Arm] = msgspec.field(default_factory=dict)
    began_at: list[bool] | None = None
    """Per validation question, whether it was solved when the block in hand began; None: nobody knows."""
    questions: str = ""
    """Names the validation set of `began_at`."""


def choose(state: AdaptiveState) -> str:
    """The mix of the block in hand: one that was never played, else that of the highest upper bound

    mean + EXPLORATION * sqrt(ln(all blocks) / blocks of the arm), all counts discounted.
    """
    untried = [name for name in ARMS if name not in state.arms]
    if untried:
        return untried[0]
    total = math.fsum(state.arms[name].blocks for name in ARMS)
    return max(ARMS, key=lambda name: _upper_bound(state.arms[name], total))


def _upper_bound(arm: Arm, total: float) -> float:
    return arm.mean + EXPLORATION * math.sqrt(max(0.0, math.log(total)) / arm.blocks)


def begin(solved: Sequence[bool], questions: str, state: AdaptiveState) -> AdaptiveState:
    """A block begins at this score; `questions` is any name of the validation set that changes with it."""
    return msgspec.structs.replace(state, began_at=list(solved), questions=questions)


def interrupt(state: AdaptiveState) -> AdaptiveState:
    """The weights or the mix were changed from outside: the block in hand tells nothing about its arm."""
    return msgspec.structs.replace(state, began_at=None) if state.began_at is not None else state


def conclude(state: AdaptiveState, report: EvalReport, questions: str) -> AdaptiveState:
    """The block in hand ended at this score, and the next one begins there."""
    before = state.began_at
    comparable = before is not None and state.questions == questions and len(before) == len(report.solved)
    if before is not None and comparable and report.solved:
        state = _credit(state, _standard_errors(report.solved, before))
    return begin(report.solved, questions, state)


def rolled_back(state: AdaptiveState, best: Sequence[bool], questions: str) -> AdaptiveState:
    """The block in hand ended in lost skill; the next one begins with the best weights, which solved `best`."""
    if state.began_at is not None:
        state = _credit(state, -MOST_EARNED)
    return begin(best, questions, state)


def _standard_errors(after: Sequence[bool], before: Sequence[bool]) -> float:
    """The change in its standard errors, which are at least one question: two scores are never known more exactly."""
    change = paired_difference(after, before)
    errors = change.value / max(change.standard_error, 1 / change.count)
    return min(max(errors, -MOST_EARNED), MOST_EARNED)


def _credit(state: AdaptiveState, earned: float) -> AdaptiveState:
    """Give the arm of the block in hand what the block earned; all that was earned before counts less."""
    played = choose(state)
    arms = {name: Arm(blocks=DISCOUNT * arm.blocks, earned=DISCOUNT * arm.earned) for name, arm in state.arms.items()}
    arm = arms.get(played, Arm())
    arms[played] = Arm(blocks=arm.blocks + 1, earned=arm.earned + earned)
    return msgspec.structs.replace(state, arms=arms)
