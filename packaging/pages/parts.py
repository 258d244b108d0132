"""Parts of the generated pages of docs/."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[2] / "docs" / "data"
WRITTEN = "<!-- Written by packaging/figures.py; do not edit. -->\n"
AS_IT_IS = ("#", "|", "-", "!", "    ")
"""The beginnings of headings, tables, lists, pictures and commands."""


def filled(template: str, **values: object) -> str:
    """A page from the template with this name in this folder, with its paragraphs wrapped again."""
    text = Path(__file__).with_name(template).read_text(encoding="utf-8").strip().format(**values)
    parts = (part if part.startswith(AS_IT_IS) else wrapped(part) for part in text.split("\n\n"))
    return WRITTEN + "\n" + "\n\n".join(parts) + "\n"


def wrapped(paragraph: str, indent: str = "") -> str:
    """Wrapped text. `indent`: before every line except the first."""
    return textwrap.fill(paragraph, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    first, *others = ("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in [head, *rows])
    return "\n".join([first, "|" + "---|" * len(head), *others])


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def pyplot() -> Any:
    """matplotlib's, configured to write the same file from the same data."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "sapo"
    from matplotlib import pyplot

    return pyplot
