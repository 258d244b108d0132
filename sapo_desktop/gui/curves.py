"""The node's history as columns of numbers that grow, and what of them a chart of some width can show. No Qt.

A chart has room for a thousand points and a history has a hundred thousand. `glimpse` gives the mean of every bucket
of rounds with its lowest and highest value, so that no peak is lost and no zoom reads more than it draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from sapo_desktop.core.records import EvalReport, RoundReport
from sapo_desktop.worker.messages import Curve, EvalPoint

Column: TypeAlias = npt.NDArray[np.float64]

COLUMNS = ("round", "reward", "solved", "swarm_reward", "swarm_low", "swarm_high", "swarm_peers", "silo")
_FIRST_ROOM = 1024


class Glimpse(NamedTuple):
    """A stretch of a column, thinned out: all arrays have one length."""

    x: Column
    mean: Column
    low: Column
    high: Column


class Curves:
    """One row for every finished round that counts, oldest first; what is not known is NaN."""

    def __init__(self) -> None:
        self._room = np.full((len(COLUMNS), _FIRST_ROOM), np.nan)
        self._count = 0
        self.revision = 0
        """Another number whenever a value is another one."""
        self.evals: list[EvalPoint] = []
        """Held-out scores in the order in which they were taken."""

    def __len__(self) -> int:
        return self._count

    def column(self, name: str) -> Column:
        """A view of one column, one value a round. `silo` is 1 or 0, peers are a count."""
        return self._room[COLUMNS.index(name), : self._count]

    @property
    def last_round(self) -> int:
        return int(self.column("round")[-1]) if self._count else 0

    def load(self, curve: Curve) -> None:
        """Take a whole history in place of what was known."""
        self._count = 0
        self._append(np.array([_numbers(getattr(curve, name)) for name in COLUMNS]).reshape(len(COLUMNS), -1))
        self.evals = list(curve.evals)
        self.revision += 1

    def add(self, report: RoundReport) -> None:
        """A round finished. Rounds of its number and later ones were lost and are played again."""
        self.forget_from(report.round)
        swarm = report.swarm_reward
        row = (
            report.round,
            report.reward,
            report.solved,
            swarm.value if swarm else None,
            swarm.low if swarm else None,
            swarm.high if swarm else None,
            swarm.peers if swarm else None,
            report.silo,
        )
        self._append(np.array(_numbers(row)).reshape(-1, 1))

    def add_eval(self, report: EvalReport) -> None:
        """A score was taken; of the same checkpoint and kind, it replaces the one before."""
        which = f"{report.which} (sampled)" if report.samples else report.which
        key = (report.round, which, report.checkpoint)
        self.evals = [point for point in self.evals if (point.round, point.which, point.checkpoint) != key]
        self.evals.append(
            EvalPoint(
                round=report.round,
                which=which,
                checkpoint=report.checkpoint,
                score=report.score,
                low=report.low,
                high=report.high,
            )
        )

    def forget_from(self, round_number: int) -> None:
        """Drop this round and all after it, with the scores of what they had trained."""
        rounds = self.column("round")
        if self._count and rounds[-1] >= round_number:
            self._count = int(np.searchsorted(rounds, round_number))
            self.revision += 1
            # The score of this very round may have been told before the round itself.
            self.evals = [point for point in self.evals if point.round <= round_number]

    def _append(self, rows: npt.NDArray[np.float64]) -> None:
        wanted = self._count + rows.shape[1]
        if wanted > self._room.shape[1]:
            room = np.full((len(COLUMNS), max(wanted, 2 * self._room.shape[1])), np.nan)
            room[:, : self._count] = self._room[:, : self._count]
            self._room = room
        self._room[:, self._count : wanted] = rows
        self._count = wanted
        self.revision += 1


def smoothed(values: Column, window: int) -> Column:
    """Mean of the last `window` values up to each one, those that are NaN left out; fewer at the beginning."""
    if window <= 1 or not len(values):
        return values
    known = ~np.isnan(values)
    sums = np.concatenate([[0.0], np.cumsum(np.where(known, values, 0.0))])
    counts = np.concatenate([[0], np.cumsum(known)])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(0, ends - window)
    total, count = sums[ends] - sums[starts], counts[ends] - counts[starts]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(known, total / count, np.nan)


def glimpse(x: Column, values: Column, first: float, last: float, buckets: int) -> Glimpse:
    """The values with first <= x <= last, and one neighbour on either side, in at most `buckets` points.

    `x` ascends. Where the values fit, they are given as they are; otherwise each bucket of equally many rounds gives
    its mean and its extremes, NaN left out. A bucket without any value is NaN, which a chart shows as a gap.
    """
    begin = max(0, int(np.searchsorted(x, first)) - 1)
    end = min(len(x), int(np.searchsorted(x, last, side="right")) + 1)
    x, values = x[begin:end], values[begin:end]
    if len(x) <= buckets:
        return Glimpse(x, values, values, values)
    size = -(-len(x) // buckets)
    # Buckets begin at multiples of their size in the whole history: a curve that grows or is moved does not flicker.
    shift = begin % size
    starts = np.unique(np.maximum(0, np.arange(-shift, len(x), size)))
    known = ~np.isnan(values)
    counts = np.add.reduceat(known.astype(np.int64), starts)
    sums = np.add.reduceat(np.where(known, values, 0.0), starts)
    lows = np.minimum.reduceat(np.where(known, values, np.inf), starts)
    highs = np.maximum.reduceat(np.where(known, values, -np.inf), starts)
    sizes = np.diff(np.append(starts, len(x)))
    empty = counts == 0
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(empty, np.nan, sums / counts)
    return Glimpse(
        x=np.add.reduceat(x, starts) / sizes,
        mean=mean,
        low=np.where(empty, np.nan, lows),
        high=np.where(empty, np.nan, highs),
    )


def last_known(values: Column, window: int) -> float | None:
    """Mean of the last `window` values, those that are NaN left out; None where none is known."""
    tail = values[-window:]
    known = tail[~np.isnan(tail)]
    return float(known.mean()) if len(known) else None


def _numbers(values: Sequence[float | bool | None]) -> Column:
    return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)
