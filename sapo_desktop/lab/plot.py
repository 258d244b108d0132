"""Draws the results of arms as an SVG: reward by round, and held-out scores."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from sapo_desktop.core.errors import UsageError
from sapo_desktop.lab.table import Run, read_runs

FILE = "lab.svg"
_INSTALL = "python -m pip install 'sapo-desktop[lab]'"
_WINDOW = 10
"""Rounds that are averaged for a point of the reward's line."""


class Plot(msgspec.Struct, frozen=True, kw_only=True, tag="plot"):
    """The request of `lab plot`."""

    out: str


def plot(out: Path) -> Path:
    """Draw the arms of a folder into it. Raises HistoryError, and UsageError if matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError as error:
        raise UsageError(f"Plots need matplotlib, which is not installed: {_INSTALL}") from error
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "sapo"  # the same arms, the same file
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(15, 4.5), layout="constrained")
    for label, runs in _ways(read_runs(out)).items():
        _draw(axes, label, runs)
    titles = ("Reward of own answers", "Held-out, the likeliest answers", "Held-out, drawn answers")
    for axis, title in zip(axes, titles, strict=True):
        axis.set(title=title, xlabel="round", ylabel="share solved")
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize="small")
    path = out / FILE
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return path


def _draw(axes: Any, label: str, runs: Sequence[Run]) -> None:
    rewards = means([(row.round, row.reward) for run in runs for row in run.honest])
    rounds = sorted(rewards)
    smooth = [
        statistics.fmean(rewards[number] for number in rounds[max(0, place + 1 - _WINDOW) : place + 1])
        for place in range(len(rounds))
    ]
    axes[0].plot(rounds, smooth, label=label)
    for axis, field in ((axes[1], "greedy"), (axes[2], "sampled")):
        scores = means([(score.round, getattr(score, field)) for run in runs for score in _nodes_and_base(run)])
        axis.plot(sorted(scores), [scores[number] for number in sorted(scores)], marker=".", label=label)


def _nodes_and_base(run: Run) -> list[Any]:
    """The scores at the training temperature."""
    return [score for score in run.scores if score.temperature == run.scores[0].temperature]


def means(points: Sequence[tuple[int, float]]) -> dict[int, float]:
    """The mean of the values at each position."""
    places: dict[int, list[float]] = {}
    for place, value in points:
        places.setdefault(place, []).append(value)
    return {place: statistics.fmean(values) for place, values in places.items()}


def _ways(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Runs by the label of their line: their folder's name without the seed."""
    ways: dict[str, list[Run]] = {}
    for run in runs:
        ways.setdefault(run.arm.name.rpartition("_seed")[0], []).append(run)
    return ways
