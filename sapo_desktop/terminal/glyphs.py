"""The characters that views are drawn with: Unicode, or ASCII where the terminal's encoding has nothing else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Glyphs:
    ascii: bool
    tick: str
    cross: str
    arrow: str
    dot: str
    ellipsis: str
    bar_full: str
    bar_empty: str
    rule: str
    baseline: str
    levels: str
    """From nearly nothing to a full cell, in rising height."""


UNICODE = Glyphs(
    ascii=False,
    tick="✓",
    cross="✗",
    arrow="→",
    dot="·",
    ellipsis="…",
    bar_full="█",
    bar_empty="░",
    rule="─",
    baseline="┄",
    levels="▁▂▃▄▅▆▇█",
)
ASCII = Glyphs(
    ascii=True,
    tick="+",
    cross="x",
    arrow="->",
    dot="-",
    ellipsis="...",
    bar_full="#",
    bar_empty=".",
    rule="-",
    baseline="-",
    levels="_.:|",
)


def glyphs_for(encoding: str | None) -> Glyphs:
    """The set that `encoding` can show. A code page that holds only some of the characters counts as ASCII."""
    try:
        (UNICODE.tick + UNICODE.cross + UNICODE.arrow + UNICODE.baseline + UNICODE.levels).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE
