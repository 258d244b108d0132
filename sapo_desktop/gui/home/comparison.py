"""Silo against swarm, from one node's own history. No Qt.

What this can say is small, and the card says so: the rounds were not played side by side, the model had learned
different amounts when it played them, and nobody drew lots. It is a look back, not an experiment.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sapo_desktop.view.curves import Column, Curves

FEWEST_ROUNDS = 20
"""Below this neither side is worth a number."""


class Side(NamedTuple):
    """The rounds of one kind."""

    rounds: int
    reward: float | None
    """Mean reward; None below FEWEST_ROUNDS."""
    gain: float | None
    """Rise of the reward in 100 such rounds: least squares within each stretch, stretches weighed by their rounds;
    None where no stretch is long enough."""


class Comparison(NamedTuple):
    """Both sides. Rounds from before it was written down belong to neither."""

    silo: Side
    swarm: Side

    @property
    def tells(self) -> bool:
        """Whether both sides have enough rounds to be set beside each other."""
        return self.silo.reward is not None and self.swarm.reward is not None


def compare(curves: Curves) -> Comparison:
    """Set the rounds that were played alone against those played with the swarm."""
    silo, reward = curves.column("silo"), curves.column("reward")
    return Comparison(side_of(silo == 1, reward), side_of(silo == 0, reward))


def side_of(mine: np.ndarray[tuple[int], np.dtype[np.bool_]], reward: Column) -> Side:
    """The rounds for which `mine` is true, of a history in its order."""
    count = int(mine.sum())
    if count < FEWEST_ROUNDS:
        return Side(count, None, None)
    return Side(count, float(reward[mine].mean()), _gain(mine, reward))


def _gain(mine: np.ndarray[tuple[int], np.dtype[np.bool_]], reward: Column) -> float | None:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mine, [False]]).astype(np.int8)))
    slopes, weights = [], []
    for begin, end in edges.reshape(-1, 2):
        if end - begin >= FEWEST_ROUNDS:
            slopes.append(np.polyfit(np.arange(end - begin), reward[begin:end], 1)[0])
            weights.append(end - begin)
    return 100 * float(np.average(slopes, weights=weights)) if slopes else None
