"""The picture of docs/lab.md: nodes that begin without worked examples, alone and with peers."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from sapo_desktop.lab.arm import HALVES
from sapo_desktop.lab.table import Run

from .learning import pyplot

COLOURS = {"8/0": "#000000", "4/4": "#0072B2", "auto": "#D55E00"}
"""By mix; of Okabe and Ito's, which everyone can distinguish."""
NAMES = {"8/0": "alone", "4/4": "with peers, mix 4/4", "auto": "with peers, mix by need"}
TITLES = {"unshown": "nodes that are not shown how to answer", "shown": "nodes that are shown an example"}


def plot_half_shown(runs: Sequence[Run], path: Path) -> None:
    """Right answers by round, of nodes without and with examples: the mean over seeds, and each seed."""
    figure, axes = pyplot().subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
    for axis, way in zip(axes, reversed(HALVES), strict=True):
        for mix, colour in COLOURS.items():
            seeds = [by_round(run.of(way)) for run in runs if run.arm.mix == mix]
            if not seeds:
                continue
            rounds = range(1, min(map(len, seeds)) + 1)
            for rewards in seeds:
                axis.plot(rounds, [100 * reward for reward in rewards[: len(rounds)]], color=colour, alpha=0.25, lw=1)
            means = [100 * statistics.fmean(rewards[place] for rewards in seeds) for place in range(len(rounds))]
            axis.plot(rounds, means, color=colour, label=NAMES[mix])
        axis.set(title=TITLES[way], xlabel="round")
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25)
    axes[0].set_ylabel("right answers in training, %")
    axes[0].legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


def by_round(run: Run) -> list[float]:
    """The mean reward of its nodes, round by round."""
    rounds = sorted({row.round for row in run.rounds})
    return [statistics.fmean(row.reward for row in run.rounds if row.round == number) for number in rounds]
