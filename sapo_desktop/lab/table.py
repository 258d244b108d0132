"""What arms came to: a line for each way to play, over its seeds, beside another of the same seeds.

Two arms are compared as far as both went: in rounds, in tokens generated, in answers trained on or in CPU-seconds.
These are four different questions, and no figure answers for another (docs/lab.md). Everything follows from the files.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.statistics import Interval
from sapo_desktop.lab.arm import Arm, Budget
from sapo_desktop.lab.folder import Score, arm_folders
from sapo_desktop.lab.node import Played
from sapo_desktop.learning.mixing import mix_share

SILO = "8/0"
_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""97.5% points of Student's distribution for 1, 2, .. degrees of freedom."""


class ShowTable(msgspec.Struct, frozen=True, kw_only=True, tag="table"):
    """What `lab table` was asked for."""

    out: str
    at: Budget
    against: str
    """The mix that others are compared with."""
    reach: float = 0.0
    """A greedy score: how soon do arms come to it? 0: not asked."""
    by_seed: bool = False
    """A line for each arm, in place of the mean over its seeds."""
    of: str = ""
    """Only the nodes that began with this model, where there are several; "": all."""


class Line(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="line"):
    """One way to play, means over its seeds; rewards and scores over its honest nodes. None: not known.

    A score within what two arms are cut at is the one on the line between the scores around the cut."""

    mix: str
    weighting: str
    kind: str
    liars: float
    models: list[str]
    nodes: int
    rounds: float
    seeds: int
    seed_list: list[int]
    """Which ones."""
    settings: dict[str, str]
    cumulative: float
    """The paper's figure: mean rewards of own answers, summed up over nodes and rounds."""
    ratio: float | None
    """To what it is compared with, seed by seed; mean over seeds, with its 95% interval from two seeds on."""
    ratio_low: float | None
    ratio_high: float | None
    informative: float
    """Share of the groups in a step that have an advantage."""
    greedy_first: float | None
    """Held-out: of the base, and at the end."""
    greedy: float | None
    greedy_against: float | None
    """Of what it is compared with, under the same seeds and as far as that goes."""
    greedy_median: float | None
    """Of the median node, beside the best node of what it is compared with: does one gain by being in a swarm?"""
    greedy_best_against: float | None
    sampled_first: float | None
    sampled: float | None
    sampled_against: float | None
    pass_at_k: float | None
    reached: float | None
    """What was used up when the greedy score asked for was reached, on the line between two scores."""
    sooner: float | None
    """How many times as much the other used up until then, seed by seed."""
    sooner_low: float | None
    sooner_high: float | None
    base_best: float | None
    """Sampled, of the base at its best temperature."""
    cpu_seconds: float
    answers: float
    samples: float
    tokens: float
    refused: float


@dataclass(frozen=True)
class Run:
    """An arm's files, read."""

    arm: Arm
    rounds: Sequence[Played]
    scores: Sequence[Score]

    def spent(self, kind: Budget) -> dict[int, float]:
        """By round, what was used up at its end."""
        total, spent = 0.0, {0: 0.0}
        for number, rows in groupby(self.rounds, key=lambda row: row.round):
            total = number if kind == "rounds" else total + sum(row.spent(kind) for row in rows)
            spent[number] = total
        return spent

    def until(self, kind: Budget, most: float) -> Run:
        """Its whole rounds within a budget, and its scores, the last of them as of the last of these rounds."""
        last = max(number for number, spent in self.spent(kind).items() if spent <= most * (1 + 1e-12))
        scores = [score for score in self.scores if score.round <= last]
        later = next((score.round for score in self.scores if score.round > last), None)
        if last and later is not None:
            latest = max((score.round for score in scores), default=0)
            before = {score.node: score for score in scores if score.round == latest}
            share = (last - latest) / (later - latest)
            scores += [
                self._between(before.get(after.node), after, last, share)
                for after in self.scores
                if share and after.round == later
            ]
        return Run(self.arm, [row for row in self.rounds if row.round <= last], scores)

    def of(self, model: str) -> Run:
        """Its nodes that began with a model, and what they used up. Raises UsageError: none did."""
        if model not in self.arm.models:
            raise UsageError(f"No node began with {model} here; there are {', '.join(self.arm.models) or 'starter'}.")
        place, count = self.arm.models.index(model), len(self.arm.models)

        def is_its(node: int) -> bool:
            return node % count == place if node >= 0 else node == -1 - place  # below 0: the bases

        rounds = [row for row in self.rounds if is_its(row.node)]
        return Run(self.arm, rounds, [score for score in self.scores if is_its(score.node)])

    def _between(self, before: Score | None, after: Score, number: int, share: float) -> Score:
        """A node's score at a round between two of its scores; before the first stands the base."""
        fields = ("greedy", "sampled", "pass_at_k")
        values = {}
        for field in fields:
            start = getattr(before, field) if before else self.base(field)
            end = getattr(after, field)
            values[field] = end if start is None else start + share * (end - start)
        return msgspec.structs.replace(after, round=number, **values)

    @property
    def honest(self) -> list[Played]:
        return [row for row in self.rounds if row.honest]

    @property
    def cumulative(self) -> float:
        return math.fsum(row.reward for row in self.honest)

    def held_out(self, field: str, over: Callable[[list[float]], float] = statistics.fmean) -> float | None:
        """The last mean of a score over the nodes, or another figure of theirs; None where there is none yet."""
        last = max((score.round for score in self.scores), default=0)
        return over([float(getattr(one, field)) for one in self.scores if one.round == last]) if last else None

    def reached(self, score: float, kind: Budget) -> float | None:
        """What was used up when the nodes' mean greedy score was this high at first; None: never, or from the start."""
        spent, used, before = self.spent(kind), 0.0, self.base("greedy")
        if before is None or before >= score:
            return None  # not a score to be reached
        for number, scores in groupby(self.scores, key=lambda one: one.round):
            if not number or number not in spent:
                continue
            now = statistics.fmean(one.greedy for one in scores)
            if now >= score:
                return used + (score - before) / (now - before) * (spent[number] - used)
            used, before = spent[number], now
        return None

    def base(self, field: str, *, best: bool = False) -> float | None:
        """The untrained models at the temperature that they train at, which stands first, or at the best one."""
        found: dict[float, list[float]] = {}
        for score in self.scores:
            if score.node < 0:
                found.setdefault(score.temperature, []).append(float(getattr(score, field)))
        means = [statistics.fmean(values) for values in found.values()]
        return None if not means else max(means) if best else means[0]


Rivals = dict[str, Run]
"""By weighting."""


def read_runs(out: Path) -> list[Run]:
    """All arms of a folder that played at least a round. Raises HistoryError."""
    runs = [Run(one.manifest().arm, one.rounds(), one.scores()) for one in arm_folders(out)]
    return [run for run in runs if run.rounds]


def table(
    runs: Sequence[Run], at: Budget = "rounds", against: str = SILO, reach: float = 0.0, *, by_seed: bool = False
) -> list[Line]:
    """A line for each way to play, the more is shared the later it stands; with `by_seed` one for each arm, seed by
    seed. Raises UsageError: nobody played the mix to compare with."""
    rivals = [run for run in runs if run.arm.mix == against]
    if not rivals and against != SILO:  # which nobody has to name: without it there is nothing to compare with
        played = ", ".join(sorted({run.arm.mix for run in runs}))
        raise UsageError(f"No arm here has the mix {against}; there are {played}.")
    rivals.sort(key=lambda run: not run.arm.budget)  # of two the one that was not ended early
    others: dict[bytes, Rivals] = {}
    for run in rivals:
        others.setdefault(_alike(run.arm), {})[run.arm.weighting] = run

    def line_of(run: Run) -> tuple[int, tuple[float, bytes]]:
        return run.arm.seed if by_seed else 0, _way(run.arm)

    by_line = sorted(runs, key=lambda run: (line_of(run), run.arm.seed))
    return [_line([*alike], others, at, reach) for _, alike in groupby(by_line, key=line_of)]


def _line(runs: Sequence[Run], others: Mapping[bytes, Rivals], at: Budget, reach: float) -> Line:
    rivals = [_rival(run, others) for run in runs]
    pairs = [_cut(run, rival, at) for run, rival in zip(runs, rivals, strict=True)]
    cut = [pair[0] for pair in pairs]
    against = [pair[1] for pair in pairs if pair[1] is not None]
    ratios = [mine.cumulative / other.cumulative for mine, other in pairs if other and other.cumulative]
    interval = t_interval(ratios)
    reached = [run.reached(reach, at) if reach else None for run in runs]
    times = _times_sooner(reached, rivals, at, reach)
    surely = t_interval(times)
    groups = sum(row.groups for run in cut for row in run.honest)
    arm = runs[0].arm

    def total(field: str) -> float:
        return round(statistics.fmean(sum(getattr(row, field) for row in run.rounds) for run in cut), 2)

    return Line(
        mix=arm.mix,
        weighting=arm.weighting,
        kind=arm.kind,
        liars=arm.liars,
        models=[*arm.models],
        nodes=arm.nodes,
        rounds=statistics.fmean(run.rounds[-1].round if run.rounds else 0 for run in cut),
        seeds=len(runs),
        seed_list=[run.arm.seed for run in runs],
        settings=_said(arm),
        cumulative=round(statistics.fmean(run.cumulative for run in cut), 6),
        ratio=_mean(ratios),
        ratio_low=round(interval.low, 6) if interval else None,
        ratio_high=round(interval.high, 6) if interval else None,
        informative=round(sum(row.informative for run in cut for row in run.honest) / max(1, groups), 6),
        greedy_first=_mean([run.base("greedy") for run in cut]),
        greedy=_mean([run.held_out("greedy") for run in cut]),
        greedy_against=_mean([run.held_out("greedy") for run in against]),
        greedy_median=_mean([run.held_out("greedy", statistics.median) for run in cut]),
        greedy_best_against=_mean([run.held_out("greedy", max) for run in against]),
        sampled_first=_mean([run.base("sampled") for run in cut]),
        sampled=_mean([run.held_out("sampled") for run in cut]),
        sampled_against=_mean([run.held_out("sampled") for run in against]),
        pass_at_k=_mean([run.held_out("pass_at_k") for run in cut]),
        reached=_mean(reached) if None not in reached else None,
        sooner=_mean(times),
        sooner_low=round(surely.low, 6) if surely else None,
        sooner_high=round(surely.high, 6) if surely else None,
        base_best=_mean([run.base("sampled", best=True) for run in cut]),
        cpu_seconds=total("cpu_seconds"),
        answers=total("answers"),
        samples=total("samples"),
        tokens=total("tokens"),
        refused=total("refused"),
    )


def _times_sooner(
    reached: Sequence[float | None], rivals: Sequence[Run | None], at: Budget, reach: float
) -> list[float]:
    """Seed by seed; none at all where one of them never came there: the rest alone would flatter."""
    pairs = [(mine, rival.reached(reach, at) if rival else None) for mine, rival in zip(reached, rivals, strict=True)]
    if not all(mine and theirs for mine, theirs in pairs):
        return []
    return [theirs / mine for mine, theirs in pairs if mine and theirs]


def t_interval(values: Sequence[float]) -> Interval | None:
    """95% interval of the mean of a few values (Student); None of fewer than two."""
    if len(values) < 2:
        return None
    point = _T95[min(len(values) - 1, len(_T95)) - 1]
    margin = point * statistics.stdev(values) / math.sqrt(len(values))
    mean = statistics.fmean(values)
    return Interval(low=mean - margin, high=mean + margin)


def _cut(run: Run, other: Run | None, at: Budget) -> tuple[Run, Run | None]:
    """Both as far as both went."""
    if other is None:
        return run, None
    most = min(max(run.spent(at).values()), max(other.spent(at).values()))
    return run.until(at, most), other.until(at, most)


def _rival(run: Run, others: Mapping[bytes, Rivals]) -> Run | None:
    """What it is compared with: of several weightings its own, or nothing, as any choice would be arbitrary."""
    found = others.get(_alike(run.arm), {})
    return found.get(run.arm.weighting) or (next(iter(found.values())) if len(found) == 1 else None)


def _alike(arm: Arm) -> bytes:
    """What must be alike where two arms are compared, the seed among it."""
    return msgspec.json.encode(msgspec.structs.replace(arm, mix="", weighting="", budget=""), order="sorted")


def _way(arm: Arm) -> tuple[float, bytes]:
    """What all seeds of one way to play have in common; first what they are sorted by."""
    return mix_share(arm.mix.partition("x")[0], 1000).external, msgspec.json.encode(
        msgspec.structs.replace(arm, seed=0), order="sorted"
    )


def _said(arm: Arm) -> dict[str, str]:
    """What else tells ways to play apart."""
    levels = {"levels": ",".join(arm.levels)} if arm.levels else {}
    return {**arm.values, **levels, **({"budget": arm.budget} if arm.budget else {})}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(statistics.fmean(known), 6) if known else None
