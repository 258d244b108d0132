"""Where a round's time goes: the round in hand, the last one, and the mean of the last ones, phase by phase. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sapo_desktop.core.records import Phase, RoundReport
from sapo_desktop.view.viewmodel import View
from sapo_desktop.view.words import PHASES

MEAN_OF = 20
"""Rounds that the mean looks back on."""
_PAUSED = 5
"""A round that took so many times the middle one's time was paused meanwhile, and says nothing about phases."""
PARTS: tuple[Phase, ...] = ("draw", "questions", "generate", "mark", "share", "train", "evaluate")
"""The phases that a finished round's report tells of; saving comes after it."""


@dataclass(frozen=True)
class Spent:
    """Seconds by phase, in the order of a round. `rounds`: how many it is the mean of, 0: the round in hand."""

    number: int
    rounds: int
    seconds: Mapping[Phase, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    def in_order(self) -> list[tuple[Phase, float]]:
        """The phases that took any time, with their seconds, in the order of a round."""
        return [(phase, self.seconds[phase]) for phase in PHASES if self.seconds.get(phase, 0.0) > 0]


def in_hand(view: View) -> Spent | None:
    """The round that is played now; None where none is."""
    if not view.at_work or view.phase == "waiting":
        return None
    seconds = dict(view.spent)
    seconds[view.phase] = seconds.get(view.phase, 0.0) + max(0.0, view.clock() - view.phase_began)
    return Spent(view.round, 0, seconds)


def of_report(report: RoundReport) -> Spent:
    """A finished round. What its report does not name was spent on setting questions."""
    known: dict[Phase, float] = {
        "generate": report.generate_seconds,
        "mark": report.mark_seconds,
        "share": report.share_seconds,
        "draw": report.draw_seconds,
        "train": report.train_seconds,
        "evaluate": report.evaluate_seconds,
    }
    rest = max(0.0, report.seconds - sum(known.values()))
    known["questions"] = rest
    return Spent(report.round, 1, known)


def mean_of(reports: Sequence[RoundReport]) -> Spent | None:
    """The mean of the newest rounds but for those that were paused; None where there is none."""
    newest = [of_report(report) for report in list(reports)[-MEAN_OF:]]
    if not newest:
        return None
    # Held-out questions are asked now and then, and may take longer than many rounds.
    middle = sorted(map(_without_held_out, newest))[len(newest) // 2]
    newest = [one for one in newest if _without_held_out(one) <= _PAUSED * middle]
    means = {phase: _mean(one.seconds.get(phase, 0.0) for one in newest) for phase in PARTS}
    return Spent(newest[-1].number, len(newest), means)


def _without_held_out(spent: Spent) -> float:
    return spent.total - spent.seconds.get("evaluate", 0.0)


@dataclass(frozen=True)
class Tally:
    """What the groups of the newest rounds were, a round's mean each."""

    rounds: int
    own: float
    external: float
    wanted: float | None
    """External groups that were asked for; None where rounds do not say."""
    idle: float | None
    """Share of the groups that taught nothing, as all their answers weighed nothing."""
    truncated: float
    """Share of own answers cut at the token limit."""


def tally(reports: Sequence[RoundReport]) -> Tally | None:
    """Of the newest rounds; None where there is none."""
    newest = list(reports)[-MEAN_OF:]
    if not newest:
        return None
    groups = sum(report.local_groups + report.external_groups for report in newest)
    wanted = [_wanted(report.mix) for report in newest]
    known = [count for count in wanted if count is not None]
    return Tally(
        rounds=len(newest),
        own=_mean(report.local_groups for report in newest),
        external=_mean(report.external_groups for report in newest),
        wanted=_mean(known) if known else None,
        idle=min(1.0, sum(report.zero_advantage_groups for report in newest) / groups) if groups else None,
        truncated=_mean(report.truncated for report in newest),
    )


def _wanted(mix: str) -> int | None:
    external = mix.partition("/")[2]
    return int(external) if external.isdecimal() else None


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
