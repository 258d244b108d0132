"""Results of arms: a line for each configuration, over its seeds, compared with another one of the same seeds.

Two arms are compared up to where both got: in rounds, generated tokens, trained answers or CPU-seconds.
These are four different questions with different answers (docs/lab.md). Everything follows from the files.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.statistics import Interval
from sapo_desktop.lab.arm import HALVES, Arm, Budget
from sapo_desktop.lab.folder import Score, arm_folders
from sapo_desktop.lab.node import Played

SILO = "8/0"
_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""97.5% points of Student's distribution for 1, 2, .. degrees of freedom."""


class ShowTable(msgspec.Struct, frozen=True, kw_only=True, tag="table"):
    """The request of `lab table`."""

    out: str
    at: Budget
    against: str
    """The mix that others are compared with; or settings, such as `curriculum=off`, that those have which are otherwise
    alike."""
    first: int = 1
    last: int = 0
    """Only these rounds; 0: to the end."""
    reach: float = 0.0
    """A greedy score: how soon do arms come to it? 0: not asked."""
    by_seed: bool = False
    """A line for each arm, in place of the mean over its seeds."""
    of: str = ""
    """Only the nodes that began with this model, or of a half-shown arm those that are asked so; "": all."""


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
    reward: float
    """Their mean over nodes and rounds."""
    solved_per_1000_tokens: float
    """Own answers' reward, by what was generated."""
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
    greedy_more: float | None
    """How much higher it ends than that, seed by seed; mean over seeds, with its 95% interval."""
    greedy_more_low: float | None
    greedy_more_high: float | None
    greedy_median: float | None
    """Of the median node, beside the best node of what it is compared with: does one gain by being in a swarm?"""
    greedy_best_against: float | None
    sampled_first: float | None
    sampled: float | None
    sampled_against: float | None
    sampled_more: float | None
    sampled_more_low: float | None
    sampled_more_high: float | None
    pass_at_k: float | None
    pass_at_k_more: float | None
    pass_at_k_more_low: float | None
    pass_at_k_more_high: float | None
    reached: float | None
    """What was used up when the greedy score asked for was reached, on the line between two scores."""
    sooner: float | None
    """How many times as much the other used up until then, seed by seed."""
    sooner_low: float | None
    sooner_high: float | None
    first: float | None
    """The round in which the first node solved a task, mean over the tasks that anybody solved here or in what it is
    compared with. A node that never did counts with the round after the last. None: the files do not say."""
    median: float | None
    """The same of the median node, and of the last."""
    last: float | None
    median_sooner: float | None
    """How many times as many rounds the median node took in what it is compared with, seed by seed."""
    median_sooner_low: float | None
    median_sooner_high: float | None
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
        """The amount used up at the end of each round."""
        total, spent = 0.0, {0: 0.0}
        for number, rows in groupby(self.rounds, key=lambda row: row.round):
            total = number if kind == "rounds" else total + sum(row.spent(kind) for row in rows)
            spent[number] = total
        return spent

    def until(self, kind: Budget, most: float) -> Run:
        """Its whole rounds within a budget, and its scores up to the last of these rounds."""
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

    def between(self, first: int, last: int) -> Run:
        """The arm with only these rounds. Raises UsageError: it has not played the first of them."""
        cut = self.until("rounds", last)
        rows = [row for row in cut.rounds if row.round >= first]
        if not rows:
            raise UsageError(f"An arm here has not played round {first}.")
        return Run(self.arm, rows, cut.scores)

    def of(self, model: str) -> Run:
        """Its nodes that began with a model, or with worked examples or without, and what they used up. Raises
        UsageError: none did."""
        kinds = HALVES if self.arm.kind == "half-shown" else self.arm.models
        if model not in kinds:
            raise UsageError(f"No node began with {model} here; there are {', '.join(kinds) or 'starter'}.")
        place, count = kinds.index(model), len(kinds)

        def is_its(node: int) -> bool:
            return node % count == place if node >= 0 else node == -1 - place  # below 0: the bases

        rounds = [row for row in self.rounds if is_its(row.node)]
        return Run(self.arm, rounds, [score for score in self.scores if is_its(score.node)])

    def _between(self, before: Score | None, after: Score, number: int, share: float) -> Score:
        """A node's score at a round, interpolated between two scores; the base counts as the first."""
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

    def firsts(self) -> dict[str, list[int]]:
        """Task -> the round in which each honest node first solved it, sorted; the round after the last if it never
        did."""
        nodes = sorted({row.node for row in self.honest})
        found: dict[str, dict[int, int]] = {}
        for row in self.honest:
            for task in row.solved.split():
                found.setdefault(task, {}).setdefault(row.node, row.round)
        return {task: sorted(by_node.get(node, self.never) for node in nodes) for task, by_node in found.items()}

    @property
    def never(self) -> int:
        """The number of the round after the last."""
        return self.rounds[-1].round + 1 if self.rounds else 1

    def held_out(self, field: str, over: Callable[[list[float]], float] = statistics.fmean) -> float | None:
        """The last mean of a score over the nodes, or another figure of theirs; None if there is none yet."""
        last = max((score.round for score in self.scores), default=0)
        return over([float(getattr(one, field)) for one in self.scores if one.round == last]) if last else None

    def end(self, field: str) -> float | None:
        """The mean of a score after the last round; None: there is none of that round."""
        last = self.rounds[-1].round if self.rounds else 0
        return self.held_out(field) if last and last == max((one.round for one in self.scores), default=0) else None

    def reached(self, score: float, kind: Budget) -> float | None:
        """The amount used up when the nodes' mean greedy score first reached this height; None: never, or from the
        start."""
        spent, used, before = self.spent(kind), 0.0, self.base("greedy")
        if before is None or before >= score:
            return None  # the base has it already
        for number, scores in groupby(self.scores, key=lambda one: one.round):
            if not number or number not in spent:
                continue
            now = statistics.fmean(one.greedy for one in scores)
            if now >= score:
                return used + (score - before) / (now - before) * (spent[number] - used)
            used, before = spent[number], now
        return None

    def base(self, field: str, *, best: bool = False) -> float | None:
        """The untrained models' scores at their training temperature, which comes first, or at the best one."""
        found: dict[float, list[float]] = {}
        for score in self.scores:
            if score.node < 0:
                found.setdefault(score.temperature, []).append(float(getattr(score, field)))
        means = [statistics.fmean(values) for values in found.values()]
        return None if not means else max(means) if best else means[0]


Rivals = dict[str, Run]
"""Arms to compare with, by weighting."""


@dataclass(frozen=True)
class Rivalry:
    """The baseline of a comparison: arms of a mix, or arms with other values of some settings."""

    against: str

    @property
    def values(self) -> dict[str, str]:
        """The settings; an empty value means not set. Empty for a mix."""
        if "=" not in self.against:
            return {}
        return {key: value for key, _, value in (one.partition("=") for one in self.against.split(","))}

    def chosen(self, runs: Sequence[Run]) -> list[Run]:
        """The arms to compare with. Raises UsageError: there are none."""
        found = [run for run in runs if self._is_one(run.arm)]
        if found or self.against == SILO:  # the default; without it there is no comparison
            return found
        if self.values:
            raise UsageError(f"No arm here has {self.against}.")
        played = ", ".join(sorted({run.arm.mix for run in runs}))
        raise UsageError(f"No arm here has the mix {self.against}; there are {played}.")

    def _is_one(self, arm: Arm) -> bool:
        if not self.values:
            return arm.mix == self.against
        return all(arm.values.get(key, "") == value for key, value in self.values.items())

    def alike(self, arm: Arm) -> bytes:
        """What two compared arms must share, such as the seed."""
        values = {key: value for key, value in arm.values.items() if key not in self.values}
        mix = arm.mix if self.values else ""
        same = msgspec.structs.replace(arm, mix=mix, weighting="", budget="", values=values)
        return msgspec.json.encode(same, order="sorted")


def read_runs(out: Path) -> list[Run]:
    """All arms of a folder with at least one round. Raises HistoryError."""
    runs = [Run(one.manifest().arm, one.rounds(), one.scores()) for one in arm_folders(out)]
    return [run for run in runs if run.rounds]


def looked_at(asked: ShowTable) -> list[Run]:
    """The arms of a folder, with the requested nodes and rounds. Raises HistoryError, UsageError."""
    if asked.reach and asked.first > 1:
        raise UsageError("--reach counts from the first round, so leave out either --reach or --rounds.")
    runs = read_runs(Path(asked.out))
    if asked.of:
        runs = [run.of(asked.of) for run in runs]
    if asked.first > 1 or asked.last:
        runs = [run.between(asked.first, asked.last or run.rounds[-1].round) for run in runs]
    return runs


def table(
    runs: Sequence[Run], at: Budget = "rounds", against: str = SILO, reach: float = 0.0, *, by_seed: bool = False
) -> list[Line]:
    """A line for each configuration, in order of sharing; with `by_seed` one for each arm, seed by seed. Raises
    UsageError: no arm has the mix to compare with."""
    rivalry = Rivalry(against)
    rivals = rivalry.chosen(runs)
    rivals.sort(key=lambda run: not run.arm.budget)  # of two, the one that was not ended early
    others: dict[bytes, Rivals] = {}
    for run in rivals:
        others.setdefault(rivalry.alike(run.arm), {})[run.arm.weighting] = run

    def line_of(run: Run) -> tuple[int, tuple[float, bytes]]:
        return run.arm.seed if by_seed else 0, _way(run.arm)

    by_line = sorted(runs, key=lambda run: (line_of(run), run.arm.seed))
    lines = []
    for _, group in groupby(by_line, key=line_of):
        alike = [*group]
        lines.append(_line(alike, [_rival(run, others.get(rivalry.alike(run.arm), {})) for run in alike], at, reach))
    return lines


def _line(runs: Sequence[Run], rivals: Sequence[Run | None], at: Budget, reach: float) -> Line:
    pairs = [_cut(run, rival, at) for run, rival in zip(runs, rivals, strict=True)]
    cut = [pair[0] for pair in pairs]
    against = [pair[1] for pair in pairs if pair[1] is not None]
    ratios = [mine.cumulative / other.cumulative for mine, other in pairs if other and other.cumulative]
    reached = [run.reached(reach, at) if reach else None for run in runs]
    times = _times_sooner(reached, rivals, at, reach)
    groups = sum(row.groups for run in cut for row in run.honest)
    arm = runs[0].arm

    def total(field: str) -> float:
        return round(statistics.fmean(sum(getattr(row, field) for row in run.rounds) for run in cut), 2)

    rewards = [row.reward for run in cut for row in run.honest]
    solved = math.fsum(row.reward * row.answers for run in cut for row in run.honest)
    tokens = sum(row.tokens for run in cut for row in run.honest)
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
        reward=_mean(rewards) or 0.0,
        solved_per_1000_tokens=round(1000 * solved / max(1, tokens), 6),
        **_with_interval("ratio", ratios),
        informative=round(sum(row.informative for run in cut for row in run.honest) / max(1, groups), 6),
        greedy_first=_mean([run.base("greedy") for run in cut]),
        greedy=_mean([run.held_out("greedy") for run in cut]),
        greedy_against=_mean([run.held_out("greedy") for run in against]),
        **_with_interval("greedy_more", _more(pairs, "greedy")),
        greedy_median=_mean([run.held_out("greedy", statistics.median) for run in cut]),
        greedy_best_against=_mean([run.held_out("greedy", max) for run in against]),
        sampled_first=_mean([run.base("sampled") for run in cut]),
        sampled=_mean([run.held_out("sampled") for run in cut]),
        sampled_against=_mean([run.held_out("sampled") for run in against]),
        **_with_interval("sampled_more", _more(pairs, "sampled")),
        pass_at_k=_mean([run.held_out("pass_at_k") for run in cut]),
        **_with_interval("pass_at_k_more", _more(pairs, "pass_at_k")),
        reached=_mean(reached) if None not in reached else None,
        **_with_interval("sooner", times),
        first=_mean([_first_solved(run, other, min) for run, other in pairs]),
        median=_mean([_first_solved(run, other, statistics.median) for run, other in pairs]),
        last=_mean([_first_solved(run, other, max) for run, other in pairs]),
        **_with_interval("median_sooner", _median_sooner(pairs)),
        base_best=_mean([run.base("sampled", best=True) for run in cut]),
        cpu_seconds=total("cpu_seconds"),
        answers=total("answers"),
        samples=total("samples"),
        tokens=total("tokens"),
        refused=total("refused"),
    )


def _first_solved(run: Run, other: Run | None, node: Callable[[list[int]], float]) -> float | None:
    """The round in which a node of each task solved it first, mean over the tasks that anybody solved in either."""
    mine, theirs = run.firsts(), other.firsts() if other else {}
    if not mine and not theirs:
        return None
    return statistics.fmean(node(mine.get(task, [run.never])) for task in {*mine, *theirs})


def _median_sooner(pairs: Sequence[tuple[Run, Run | None]]) -> list[float]:
    """Ratios by seed; empty if one is not known."""
    found = [
        (_first_solved(mine, other, statistics.median), _first_solved(other, mine, statistics.median))
        for mine, other in pairs
        if other
    ]
    known = [theirs / mine for mine, theirs in found if mine is not None and theirs is not None]
    return known if len(known) == len(pairs) else []


def _times_sooner(
    reached: Sequence[float | None], rivals: Sequence[Run | None], at: Budget, reach: float
) -> list[float]:
    """Ratios by seed; empty if one of them never got there, since the rest alone would be biased."""
    pairs = [(mine, rival.reached(reach, at) if rival else None) for mine, rival in zip(reached, rivals, strict=True)]
    if not all(mine and theirs for mine, theirs in pairs):
        return []
    return [theirs / mine for mine, theirs in pairs if mine and theirs]


def _more(pairs: Sequence[tuple[Run, Run | None]], field: str) -> list[float]:
    """How much higher a score ends than the other's, seed by seed; empty if an arm was stopped between two scores,
    since the other one continued to learn."""
    ends = [(mine.end(field), other.end(field) if other else None) for mine, other in pairs]
    known = [mine - theirs for mine, theirs in ends if mine is not None and theirs is not None]
    return known if len(known) == len(pairs) else []


def t_interval(values: Sequence[float]) -> Interval | None:
    """95% interval of the mean of a few values (Student); None for fewer than two."""
    if len(values) < 2:
        return None
    point = _T95[min(len(values) - 1, len(_T95)) - 1]
    margin = point * statistics.stdev(values) / math.sqrt(len(values))
    mean = statistics.fmean(values)
    return Interval(low=mean - margin, high=mean + margin)


def _cut(run: Run, other: Run | None, at: Budget) -> tuple[Run, Run | None]:
    """Both arms, up to where both got."""
    if other is None:
        return run, None
    most = min(max(run.spent(at).values()), max(other.spent(at).values()))
    return run.until(at, most), other.until(at, most)


def _rival(run: Run, found: Rivals) -> Run | None:
    """The arm's baseline: of several weightings its own, or none, since any choice would be arbitrary."""
    return found.get(run.arm.weighting) or (next(iter(found.values())) if len(found) == 1 else None)


def _way(arm: Arm) -> tuple[float, bytes]:
    """What all seeds of one configuration have in common; the sort key comes first."""
    return arm.share(1000, None).external, msgspec.json.encode(msgspec.structs.replace(arm, seed=0), order="sorted")


def _said(arm: Arm) -> dict[str, str]:
    """Other differences between configurations."""
    levels = {"levels": ",".join(arm.levels)} if arm.levels else {}
    return {**arm.values, **levels, **({"budget": arm.budget} if arm.budget else {})}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(statistics.fmean(known), 6) if known else None


def _with_interval(field: str, values: Sequence[float]) -> dict[str, Any]:
    """Fields of a line: the mean and its interval."""
    interval = t_interval(values)
    low, high = (round(interval.low, 6), round(interval.high, 6)) if interval else (None, None)
    return {field: _mean(values), f"{field}_low": low, f"{field}_high": high}
