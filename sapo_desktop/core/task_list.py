"""The grammar of the setting `tasks`: the meaning of each word. `catalogue`: family -> its levels, from easy to
hard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

LevelName = Literal["first", "easy", "middle", "hard", "paper"]
LEVELS: tuple[LevelName, ...] = get_args(LevelName)
FIRST = "first"
"""The level below easy, for models that solve nothing else at first."""
PAPER = "paper"
"""The level that is only used if it is named."""


def meant_by(word: str, catalogue: Mapping[str, Sequence[str]]) -> list[str]:
    """The tasks (`gcd/easy`) that a word of the list stands for, in the catalogue's order; none if the word is unknown.

    A family alone means all its levels but `paper`. A level alone (`paper`, `easy`) means that level of every family
    that has it. `all` means every level but `paper`.
    """
    return [
        f"{family}/{level}"
        for family, levels in catalogue.items()
        for level in levels
        if word in (f"{family}/{level}", level) or (word in (family, "all") and level != PAPER)
    ]
