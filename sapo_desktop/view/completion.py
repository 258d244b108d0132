"""A completion for display: the answer by itself, the steps before it, without tags. No Qt."""

from __future__ import annotations

import re
from typing import NamedTuple

from sapo_desktop.core.extraction import CLOSE, OPEN, answer_span

_FRACTION = re.compile(r"(\$?)\\d?frac\{(-?[0-9]{1,12})\}\{(-?[0-9]{1,12})\}\1")
"""A fraction of whole numbers, as in the task of fractions."""


class Parted(NamedTuple):
    """The parts of a model's text, still hostile."""

    answer: str
    """The answer that the scorer finds; empty if there is none."""
    steps: str
    """Everything before it."""


def parted(completion: str) -> Parted:
    """Separate the answer from the steps."""
    span = answer_span(completion)
    if span is None:
        return Parted("", "")
    return Parted(without_tags(completion[span]), without_tags(completion[: span.start]))


def in_plain_signs(text: str) -> str:
    """Fractions as people type them, 6/21 for $\\dfrac{6}{21}$: for short texts that are only looked at."""
    return _FRACTION.sub(r"\2/\3", text)


def without_tags(text: str) -> str:
    """The text without the tags of an answer, also unfinished ones."""
    for tag in (OPEN, CLOSE):
        text = text.replace(tag, "")
    cut = text.rfind("<")
    if cut >= 0 and any(tag.startswith(text[cut:]) for tag in (OPEN, CLOSE)):
        text = text[:cut]
    return text.strip()
