"""What the written pages of docs/ are made of."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[2] / "docs" / "data"
WRITTEN = "<!-- Written by packaging/figures.py; do not edit. -->\n"


def wrapped(paragraph: str) -> str:
    return textwrap.fill(paragraph, 120, break_long_words=False, break_on_hyphens=False)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    first, *others = ("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in [head, *rows])
    return "\n".join([first, "|" + "---|" * len(head), *others])


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def pyplot() -> Any:
    """matplotlib's, which writes the same file from the same data."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "sapo"
    from matplotlib import pyplot

    return pyplot
