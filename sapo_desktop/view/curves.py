"""The node's history as growing columns of numbers, and the part that a chart of some width can show. No Qt.

A chart has room for a thousand points and a history has a hundred thousand: `Means` gives the mean of every bucket of
rounds, and no zoom level reads more than it draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sapo_desktop.core.records import EvalReport, Gain, RoundReport
from sapo_desktop.worker.control.messages.replies import Curve, EvalPoint

Column: TypeAlias = npt.NDArray[np.float64]

COLUMNS = (
    "round", "reward", "solved", "swarm_reward", "swarm_low", "swarm_high", "swarm_peers", "swarm_mine", "silo", "model"
)  # fmt: skip
"""The columns of a Curve's rows. `model` is the owner of a row."""
RECENT_ROUNDS = 20
"""Single rounds have few questions, so means over this many are shown."""
_FIRST_ROOM = 1024
_HARDLY = 0.01
"""A negligible gain: two or three of the starter's 252 questions."""


@dataclass(frozen=True)
class HeldOut:
    """Held-out scores by round of one model and way of asking, with the gains over its base, which is placed at the
    round before the model's first.

    `low`, `high`: the base's score plus the 95% interval of the gain on the same questions, NaN if unknown. If the base
    is outside, something was learned, or lost.
    """

    rounds: Column
    scores: Column
    gains: list[Gain | None]
    low: Column
    high: Column
    base: float | None
    trained: bool
    """Whether the newest score is of a trained model."""
    questions: int
    """Number of questions of the newest score; 0 in records from before they were counted."""

    def level_since(self, span: int) -> int | None:
        """The round since which the score has hardly risen, if something had been learned before; None while it rises,
        or if that is `span` rounds or fewer.

        `span`: rounds after which all questions were asked again; 0: they never are. Scores of a model's first half of
        it rest on few questions, so a lucky one does not count.
        """
        if not span or len(self.rounds) < 2:
            return None
        known = self.rounds >= self.rounds[1] + span / 2
        learned = np.flatnonzero(known & (self.low > (1.0 if self.base is None else self.base)))
        if not len(learned):
            return None
        at = int(np.argmax(known & (self.scores >= self.scores[-1] - _HARDLY)))
        since = int(self.rounds[max(at, learned[0])])
        return since if self.rounds[-1] - since > span else None


@dataclass(frozen=True)
class Shares:
    """The share solved of the same kinds of question in the same rounds, here and by the median peer, as means over
    the last RECENT_ROUNDS in which peers were measured."""

    mine: float
    others: float
    low: float
    high: float
    """95% interval of `others`."""
    peers: int
    """Their number in the newest of these rounds."""


@dataclass(frozen=True)
class Result:
    """The result of a model that is not in use: held-out scores."""

    model: str
    name: str
    """The value of the setting `model`."""
    base: float | None
    now: float


class _Rows:
    """Rows of one model, oldest first, in arrays that grow by doubling."""

    def __init__(self) -> None:
        self._room = np.full((len(COLUMNS), _FIRST_ROOM), np.nan)
        self.count = 0

    def column(self, name: str) -> Column:
        return self._room[COLUMNS.index(name), : self.count]

    def append(self, rows: npt.NDArray[np.float64]) -> None:
        wanted = self.count + rows.shape[1]
        if wanted > self._room.shape[1]:
            room = np.full((len(COLUMNS), max(wanted, 2 * self._room.shape[1])), np.nan)
            room[:, : self.count] = self._room[:, : self.count]
            self._room = room
        self._room[:, self.count : wanted] = rows
        self.count = wanted

    def forget_from(self, round_number: int) -> bool:
        """Drop these rows; returns whether there were any."""
        before, self.count = self.count, int(np.searchsorted(self.column("round"), round_number))
        return self.count < before


class Curves:
    """One row for every finished round that counts, oldest first; unknown values are NaN. Rows and scores are those
    of the current model; those of others wait until it is chosen again."""

    def __init__(self) -> None:
        self.model = ""
        """Short hash of the displayed model."""
        self.names: dict[str, str] = {}
        """Short hash -> value of the setting `model`, for all current and former models in the order of their first
        rounds."""
        self._of_model: dict[str, _Rows] = {}
        self._held_out: tuple[object, HeldOut] | None = None
        self.revision = 0
        """Changes whenever a value changes."""
        self.evals: list[EvalPoint] = []
        """Held-out scores of all models, in the order of their evaluations."""

    def __len__(self) -> int:
        return self._rows.count

    @property
    def _rows(self) -> _Rows:
        return self._of_model.setdefault(self.model, _Rows())

    def column(self, name: str) -> Column:
        """A view of one column, one value per round. `silo` is 1 or 0, peers are a count."""
        return self._rows.column(name)

    @property
    def first_round(self) -> int:
        """The round before the model's first."""
        rounds = self.column("round")
        if len(rounds):
            return int(rounds[0]) - 1
        return max((int(one.column("round")[-1]) for one in self._of_model.values() if one.count), default=0)

    @property
    def last_round(self) -> int:
        """The last round of the displayed model."""
        return int(self.column("round")[-1]) if len(self) else 0

    def show(self, model: str) -> bool:
        """Show this model's from now on; returns whether it is a different one."""
        if model == self.model:
            return False
        self.model = model
        self.revision += 1
        return True

    def load(self, curve: Curve) -> None:
        """Replace everything by a whole history."""
        found = np.array([_numbers(getattr(curve, name)) for name in COLUMNS]).reshape(len(COLUMNS), -1)
        self._of_model.clear()
        for place in np.unique(found[-1]):
            of_it = curve.models[int(place)].hash if curve.models else ""
            self._of_model.setdefault(of_it, _Rows()).append(found[:, found[-1] == place])
        self.names = {model.hash: model.name for model in curve.models}
        self.evals = list(curve.evals)
        self._held_out = None
        self.revision += 1

    def add(self, report: RoundReport) -> None:
        """A round of the displayed model finished. Rounds with its number and later ones were lost and are played
        again."""
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
            swarm.mine if swarm else None,
            report.silo,
            None,
        )
        self._rows.append(np.array(_numbers(row)).reshape(-1, 1))
        self.revision += 1

    def add_eval(self, report: EvalReport) -> None:
        """A new score."""
        self.evals.append(
            EvalPoint(
                round=report.round,
                which=report.kind,
                checkpoint=report.checkpoint,
                score=report.score,
                low=report.low,
                high=report.high,
                gain=report.gain,
                line=report.line,
                questions=report.questions,
                model=report.model,
            )
        )

    def shares(self, at: int | None = None) -> Shares | None:
        """Here and in the swarm, up to row `at`, or the newest; None if no peer was measured in the last rounds."""
        end = len(self) if at is None else at + 1
        columns = (self.column(name)[:end] for name in ("swarm_mine", "swarm_reward", "swarm_low", "swarm_high"))
        mine, others, low, high = (last_known(column, RECENT_ROUNDS) for column in columns)
        if mine is None or others is None or low is None or high is None:
            return None
        peers = self.column("swarm_peers")[:end]
        return Shares(mine, others, low, high, int(peers[~np.isnan(peers)][-1]))

    def forget_from(self, round_number: int) -> None:
        """Drop this round and all later ones, with the scores of what they had trained."""
        if sum(rows.forget_from(round_number) for rows in self._of_model.values()):
            self.revision += 1
            # The score of this very round may have arrived before the round itself.
            self.evals = [point for point in self.evals if point.round <= round_number]

    def held_out(self) -> HeldOut:
        """The validation scores of greedy answers, the untrained model's first."""
        first = self.first_round
        key = (self.model, first, len(self.evals), self.evals[-1] if self.evals else None)
        if self._held_out is None or self._held_out[0] != key:
            self._held_out = key, self._scores_of(self.model, first)
        return self._held_out[1]

    def results_before(self) -> list[Result]:
        """The result of each other model that was scored, in the order of their first rounds."""
        found = ((model, name, self._scores_of(model, 0)) for model, name in self.names.items() if model != self.model)
        return [
            Result(model=model, name=name, base=scores.base, now=float(scores.scores[-1]))
            for model, name, scores in found
            if len(scores.rounds)
        ]

    def _scores_of(self, model: str, first: int) -> HeldOut:
        return _held_out((one for one in self.evals if one.which == "validation" and one.model == model), first)


def _held_out(points: Iterable[EvalPoint], first: int) -> HeldOut:
    """The scores of the newest one's line: of one set of questions and one way of asking, in order of evaluation.

    The base is placed at round `first`. For a checkpoint the newest score counts, and one taken by hand keeps the known
    gain. A line without a score of its base begins with the one that its newest gain implies.
    """
    lines: dict[str | float, dict[tuple[int, str], tuple[float, Gain | None]]] = {}
    bases: dict[str | float, float] = {}
    current: str | float = ""
    questions = 0
    for point in points:
        questions = point.questions
        implied = point.score if not point.round else None if point.gain is None else point.score - point.gain.value
        own = point.line or current
        if not point.line and implied is not None:
            # From before lines had names: another base means another model or other questions. A base scored by hand
            # with a nearly equal result may be the same: the line stays until a gain is over it.
            own = round(implied, 9)
        hardly = (
            not point.line and not point.round and current in bases and abs(point.score - bases[current]) <= _HARDLY
        )
        if not hardly:
            current = own
        if implied is not None:
            bases[own] = implied
        line = lines.setdefault(own, {})
        at = (point.round, point.checkpoint)
        _, known = line.pop(at, (0.0, None))
        line[at] = (point.score, point.gain or known)
    base = bases.get(current)
    found = sorted(lines.get(current, {}).items(), key=lambda item: item[0][0])
    if found and base is not None and found[0][0][0]:
        found.insert(0, ((0, ""), (base, None)))
    gains = [gain for _, (_, gain) in found]
    return HeldOut(
        rounds=_numbers([number or first for (number, _), _ in found]),
        scores=_numbers([score for _, (score, _) in found]),
        gains=gains,
        low=_numbers([None if gain is None or base is None else max(0.0, base + gain.low) for gain in gains]),
        high=_numbers([None if gain is None or base is None else min(1.0, base + gain.high) for gain in gains]),
        base=base,
        trained=bool(found) and found[-1][0][0] > 0,
        questions=questions,
    )


def smoothed(values: Column, window: int) -> Column:
    """Mean of the last `window` values up to each one, without NaN; fewer at the beginning."""
    if window <= 1 or not len(values):
        return values
    sums, counts = _running(values)
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(0, ends - window)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (sums[ends] - sums[starts]) / (counts[ends] - counts[starts])
    return np.where(np.isnan(values), np.nan, means)


class Means:
    """The mean of any stretch of a column in constant time: sums from the beginning, without NaN, computed at
    creation."""

    def __init__(self, x: Column, values: Column) -> None:
        self._x = x
        self.values = values
        self._sums, self._counts = _running(values)

    def glimpse(self, first: float, last: float, buckets: int) -> tuple[Column, Column]:
        """The values with first <= x <= last, and one neighbour on either side, in about `buckets` points: x and mean.

        `x` ascends. If the values fit, they are returned as they are; otherwise each bucket of equally many rounds
        gives its middle and its mean. The cost depends on what is shown, not on the whole.
        """
        begin = max(0, int(np.searchsorted(self._x, first)) - 1)
        end = min(len(self._x), int(np.searchsorted(self._x, last, side="right")) + 1)
        if end - begin <= buckets:
            return self._x[begin:end], self.values[begin:end]
        size = -(-(end - begin) // buckets)
        # Buckets begin at multiples of their size in the whole history, so that a moving curve does not flicker.
        edges = np.arange(begin - begin % size, end + size, size).clip(begin, end)
        starts, ends = edges[:-1], edges[1:]
        counts = self._counts[ends] - self._counts[starts]
        with np.errstate(invalid="ignore", divide="ignore"):
            means = (self._sums[ends] - self._sums[starts]) / counts
        # A bucket without a value gives 0 / 0, which is NaN: a gap.
        return (self._x[starts] + self._x[ends - 1]) / 2, means


def _running(values: Column) -> tuple[Column, Column]:
    """Sum and count of the first n values for every n from 0 on, without NaN."""
    known = ~np.isnan(values)
    sums = np.concatenate([[0.0], np.cumsum(np.where(known, values, 0.0))])
    return sums, np.concatenate([[0.0], np.cumsum(known)])


def last_known(values: Column, window: int) -> float | None:
    """Mean of the last `window` values, without NaN; None if none is known."""
    tail = values[-window:]
    known = tail[~np.isnan(tail)]
    return float(known.mean()) if len(known) else None


def _numbers(values: Sequence[float | bool | None]) -> Column:
    return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)
