"""Where a round's time goes: the current round, the last one, and the mean of recent ones, by phase. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sapo_desktop.core.records import Phase, RoundReport
from sapo_desktop.view.viewmodel import View
from sapo_desktop.view.words import PHASES

MEAN_OF = 20
"""Rounds included in the mean."""
_PAUSED = 5
"""A round that took so many times the median was paused, and says nothing about phases."""
PARTS: tuple[Phase, ...] = ("draw", "questions", "generate", "mark", "share", "train", "evaluate")
"""The phases in a finished round's report; saving comes after it."""


@dataclass(frozen=True)
class Spent:
    """Seconds by phase, in the order of a round. `rounds`: how many it is the mean of, 0: the current round."""

    number: int
    rounds: int
    seconds: Mapping[Phase, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    def in_order(self) -> list[tuple[Phase, float]]:
        """The phases that took any time, with their seconds, in the order of a round."""
        return [(phase, self.seconds[phase]) for phase in PHASES if self.seconds.get(phase, 0.0) > 0]


def spent_so_far(view: View) -> Spent | None:
    """The current round; None if there is none."""
    if not view.at_work or view.phase == "waiting":
        return None
    seconds = dict(view.spent)
    seconds[view.phase] = seconds.get(view.phase, 0.0) + max(0.0, view.clock() - view.phase_began)
    return Spent(view.round, 0, seconds)


def of_report(report: RoundReport) -> Spent:
    """A finished round. Time that its report does not name was spent on making questions."""
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
    """The mean of the newest rounds without paused ones; None if there are none."""
    newest = [of_report(report) for report in list(reports)[-MEAN_OF:]]
    if not newest:
        return None
    # Held-out questions are occasional, and may take longer than many rounds.
    middle = sorted(map(_without_held_out, newest))[len(newest) // 2]
    newest = [one for one in newest if _without_held_out(one) <= _PAUSED * middle]
    means = {phase: _mean(one.seconds.get(phase, 0.0) for one in newest) for phase in PARTS}
    return Spent(newest[-1].number, len(newest), means)


def _without_held_out(spent: Spent) -> float:
    return spent.total - spent.seconds.get("evaluate", 0.0)


@dataclass(frozen=True)
class Tally:
    """The groups of the newest rounds, as means per round."""

    rounds: int
    own: float
    external: float
    wanted: float | None
    """Requested external groups; None if rounds do not say."""
    idle: float | None
    """Share of the groups that taught nothing, because all their answers had no weight."""
    truncated: float
    """Share of own answers cut off at the token limit."""


def tally(reports: Sequence[RoundReport]) -> Tally | None:
    """For the newest rounds; None if there are none."""
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
