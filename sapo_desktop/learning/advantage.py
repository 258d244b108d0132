"""The group advantage of GRPO (arXiv 2402.03300, section 4.1.2), in plain Python.

A = (r - mean of the group) / population standard deviation of the group, and 0 for every answer where all
rewards are equal. TRL divides by the sample standard deviation + 1e-4 instead; for a group of 8 with one
solved answer that is 2.47 where this gives 2.65 (a factor of sqrt(8/7), constant for a fixed group size, so a
matter of learning rate). The advantage is taken per group before groups are mixed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def group_advantages(rewards: Sequence[float]) -> list[float]:
    """Return one advantage per answer of a group; their sum is 0.

    Equal rewards give exact zeros, not the quotient of two rounding errors.
    """
    if not rewards or all(reward == rewards[0] for reward in rewards):
        return [0.0] * len(rewards)
    mean = math.fsum(rewards) / len(rewards)
    deviation = math.sqrt(math.fsum((reward - mean) ** 2 for reward in rewards) / len(rewards))
    return [(reward - mean) / deviation for reward in rewards]
