"""Small charts out of block characters: a row of bars, one or more rows high. Pure functions over numbers.

All values are shares in 0 to 1. Where there are more values than cells each cell shows the mean of its stretch, so
that a long run stays whole in view; where there are fewer, the newest is drawn at the right end of what is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sapo_desktop.terminal.glyphs import Glyphs


def squeeze(values: Sequence[float], width: int) -> list[float]:
    """At most `width` values: the means of equal stretches of `values`."""
    count = len(values)
    if width <= 0:
        return []
    if count <= width:
        return list(values)
    edges = [index * count // width for index in range(width + 1)]
    return [sum(values[low:high]) / (high - low) for low, high in pairwise(edges)]


def plot_range(values: Sequence[float], baseline: float | None = None) -> tuple[float, float]:
    """The lowest and highest share to draw: wide enough that noise of two points does not fill the chart."""
    shown = [*values, *([] if baseline is None else [baseline])]
    low, high = min(shown, default=0.0), max(shown, default=1.0)
    room = max(0.05, 0.1 * (high - low))
    return max(0.0, low - room), min(1.0, high + room)


def plot(values: Sequence[float], width: int, height: int, glyphs: Glyphs, baseline: float | None = None) -> list[str]:
    """`height` strings of `width` characters, top row first, with a dotted line at `baseline` where no bar is."""
    low, high = plot_range(values, baseline)
    steps = len(glyphs.levels)
    total = height * steps

    def level(value: float) -> int:
        return min(total, max(1, round((value - low) / (high - low) * total)))

    heights = [level(value) for value in squeeze(values, width)]
    base_row = None if baseline is None else (level(baseline) - 1) // steps
    rows = []
    for row in reversed(range(height)):
        empty = glyphs.baseline if row == base_row else " "
        cells = [_cell(bar - row * steps, glyphs.levels, empty) for bar in heights]
        rows.append("".join(cells) + empty * (width - len(cells)))
    return rows


def _cell(filled: int, levels: str, empty: str) -> str:
    return empty if filled <= 0 else levels[min(filled, len(levels)) - 1]
