"""How well the swarm answers, measured by our own scores; claims of peers do not count.

Per task: the mean of each identity over all its groups that we scored, before any filter; then the weighted median over
identities. The identities of one tag together weigh no more than a few, and those behind one relay no more than all
others. The swarm's reward is the mean of the tasks' medians, with a bootstrap interval over identities. Identities that
are always right, or always wrong, move a median no further than the honest percentiles allow. Best-of-n and answer keys
cannot be excluded.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import NamedTuple

from sapo_desktop.core.records import SwarmReward

TAG_WEIGHT = 4.0
"""The maximum total weight of the identities under one tag."""
RELAY_SHARE = 0.5
"""The maximum share of the total weight behind one relay, if there are others."""
WINDOW_SECONDS = 2 * 3600.0
_GROUPS_PER_IDENTITY = 16
_MOST_IDENTITIES = 2000
"""Per task; those silent for longest are dropped first."""
_RESAMPLES = 200
_FEW = 32
"""Up to this number of identities, their groups are resampled too; with more, that changes little and costs much."""


class Origin(NamedTuple):
    """A group's author and path."""

    author: bytes
    relay: bytes
    tag: bytes


class _Seen(NamedTuple):
    origin: Origin
    mean: float
    time: float


class _Identity(NamedTuple):
    origin: Origin
    groups: list[float]
    """Share solved of each group."""


class Weighted(NamedTuple):
    """One identity in a median."""

    value: float
    weight: float


class RewardMeter:
    """Scores of external groups, by task and identity."""

    def __init__(self) -> None:
        self._seen: defaultdict[str, OrderedDict[bytes, list[_Seen]]] = defaultdict(OrderedDict)
        self.revision = 0
        """Grows with every recorded group."""

    def observe(self, task: str, origin: Origin, solved: Sequence[float], now: float) -> None:
        """Record our scores of one group, 1 for each solved answer, whether or not it is trained on."""
        if not solved:
            return
        self.revision += 1
        identities = self._seen[task]
        groups = identities.pop(origin.author, [])
        identities[origin.author] = [*groups, _Seen(origin, math.fsum(solved) / len(solved), now)][
            -_GROUPS_PER_IDENTITY:
        ]
        if len(identities) > _MOST_IDENTITIES:
            identities.popitem(last=False)

    def heard(self, tasks: Collection[str]) -> Heard:
        """The scores of these tasks so far, as a snapshot for another thread."""
        return Heard({task: list(self._seen[task].items()) for task in sorted(tasks) if task in self._seen})


class Heard:
    """A snapshot of the scores of external groups, by task."""

    def __init__(self, groups: Mapping[str, Sequence[tuple[bytes, list[_Seen]]]]) -> None:
        self._groups = groups

    def estimate(self, now: float, seed: int) -> SwarmReward | None:
        """The share of these tasks that peers solve, equally weighted; None if none was scored recently.

        `seed`: of the bootstrap.
        """
        samples = {task: self._sample(task, now) for task in self._groups}
        samples = {task: sample for task, sample in samples.items() if sample}
        if not samples:
            return None
        medians = {task: _median_of(sample) for task, sample in samples.items()}
        rng = Random(seed)
        resampled = sorted(
            _mean([_median_of(_resampled(sample, rng)) for sample in samples.values()]) for _ in range(_RESAMPLES)
        )
        return SwarmReward(
            value=_mean(list(medians.values())),
            low=resampled[round(0.025 * (_RESAMPLES - 1))],
            high=resampled[round(0.975 * (_RESAMPLES - 1))],
            peers=len({one.origin.author for sample in samples.values() for one in sample}),
            tasks=medians,
        )

    def _sample(self, task: str, now: float) -> list[_Identity]:
        """The latest origin and the scores of every identity heard within the window."""
        sample = []
        for _, groups in self._groups[task]:
            recent = [group for group in groups if now - group.time <= WINDOW_SECONDS]
            if recent:
                sample.append(_Identity(recent[-1].origin, [group.mean for group in recent]))
        return sample


def weigh(sample: Sequence[tuple[Origin, float]]) -> list[Weighted]:
    """Weights of a sample's identities: 1 each, capped per tag and then per relay."""
    of_tag = Counter((origin.relay, origin.tag) for origin, _ in sample)
    weights = [min(1.0, TAG_WEIGHT / of_tag[origin.relay, origin.tag]) for origin, _ in sample]
    of_relay: defaultdict[bytes, float] = defaultdict(float)
    for (origin, _), weight in zip(sample, weights, strict=True):
        of_relay[origin.relay] += weight
    total = sum(of_relay.values())
    scale = {}
    for relay, weight in of_relay.items():
        others = total - weight
        most = others * RELAY_SHARE / (1 - RELAY_SHARE)
        scale[relay] = min(1.0, most / weight) if others else 1.0
    return [
        Weighted(value, weight * scale[origin.relay]) for (origin, value), weight in zip(sample, weights, strict=True)
    ]


def weighted_median(values: Sequence[Weighted]) -> float:
    """The value at which half of the weight lies on each side; between two, their mean."""
    ordered = sorted(values)
    half = math.fsum(one.weight for one in ordered) / 2
    passed = 0.0
    for place, one in enumerate(ordered):
        passed += one.weight
        if math.isclose(passed, half) and place + 1 < len(ordered):
            return (one.value + ordered[place + 1].value) / 2
        if passed > half:
            return one.value
    return ordered[-1].value


def _median_of(sample: Sequence[_Identity]) -> float:
    return weighted_median(weigh([(one.origin, _mean(one.groups)) for one in sample]))


def _resampled(sample: Sequence[_Identity], rng: Random) -> list[_Identity]:
    """Identities drawn with replacement; if there are few, also their groups, since the score of a single peer is
    uncertain, too."""
    drawn = rng.choices(sample, k=len(sample))
    if len(sample) > _FEW:
        return drawn
    return [_Identity(one.origin, rng.choices(one.groups, k=len(one.groups))) for one in drawn]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
