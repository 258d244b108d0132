"""The weightings of external groups, one pure function each.

With rewards r of the group and b, the share that this node itself solves of the task:

| weighting  | advantage of an answer                                                            |
|------------|-----------------------------------------------------------------------------------|
| `paper`    | (r - mean) / deviation of the group, as of an own one                             |
| `guarded`  | 1 - b of a solved answer, otherwise 0 (the default)                                    |

The sender must not choose the size of an advantage. With the group's own mean it could: one right answer among seven
deliberately wrong ones weighs sqrt(7). So `guarded` measures against b, within [0, 1]. It asks whether an answer is
solved, whatever the reward, since b is a share solved, and a number copied from the question may earn a higher partial
score. Then every external group, under each weighting, is scaled to the weight of an own one, whatever its number of
tokens. A group with fewer answers weighs less in proportion. Otherwise senders would gain weight by leaving out wrong
answers (`external_advantages`).
Under `guarded` a peer's answer is also weighed by how far it is trusted (trust.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from sapo_desktop.core.records import Completion, Mark, WeightingName
from sapo_desktop.learning.advantage import group_advantages

_MOST_SCALE = 8.0
"""Largest factor by which a person's single short answer is scaled up."""
LEAST = 1e-3
"""Probability above which a peer may always use a token (`least_probability`)."""


def paper(marks: Sequence[Mark], own_rate: float) -> list[float]:
    """The group's own advantage, as in SAPO's Algorithm 1, before it is scaled."""
    return group_advantages([mark.reward for mark in marks])


def guarded(marks: Sequence[Mark], own_rate: float) -> list[float]:
    """1 - b for right answers, 0 for wrong ones: a right answer weighs more the less often this node finds one."""
    return [1.0 - own_rate if mark.solved else 0.0 for mark in marks]


WEIGHTINGS: Mapping[WeightingName, Callable[[Sequence[Mark], float], list[float]]] = MappingProxyType(
    {"paper": paper, "guarded": guarded}
)


def least_probability(own: Iterable[Completion]) -> float:
    """The probability that our own policy has to give each token of a peer's answer, otherwise nothing is learned from
    it: that of the least likely token that it drew itself in this round, at most LEAST.

    By what is drawn here, for a model of many words draws unlikely ones more often: of n own answers and one more of
    the same kind, the one more has the least likely token once in n + 1 times, whatever the model.
    """
    drawn = [min(completion.logprobs) for completion in own if completion.logprobs]
    return min([LEAST, *(math.exp(logprob) for logprob in drawn)])


def external_advantages(
    weighting: WeightingName,
    marks: Sequence[Mark],
    tokens: Sequence[int],
    own_rate: float,
    own_group_tokens: float,
    answers: float = 1.0,
    trusted: Sequence[float] = (),
) -> list[float]:
    """One advantage per answer of an external group, scaled so that the group weighs at most what an own one does.
    `own_rate`: this node's smoothed share solved of the task, b.

    The loss sums advantages over tokens, so a group of n tokens in all is scaled by `own_group_tokens` / n (the mean
    over this round's own groups), at most by 8. One of fewer than `answers` counts as if the missing ones were there,
    as long as its others and wrong. `trusted`: a factor for each answer (trust.py); with it no token weighs more than
    an own one, so a short answer is not scaled up.
    """
    advantages = WEIGHTINGS[weighting](marks, own_rate)
    if trusted:
        advantages = [advantage * factor for advantage, factor in zip(advantages, trusted, strict=True)]
    count = sum(tokens) * max(1.0, answers / len(tokens)) if tokens else 0
    if not count or not any(advantages):
        return [0.0] * len(advantages)
    scale = min(own_group_tokens / count, 1.0 if trusted else _MOST_SCALE)
    return [scale * advantage for advantage in advantages]
