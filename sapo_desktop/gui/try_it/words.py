"""Texts about an answer: its state, its score, its duration."""

from __future__ import annotations

from collections.abc import Sequence

from sapo_desktop.core.plain_text import one_line
from sapo_desktop.gui.try_it.trying import Side, Try
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.learning import mark_words
from sapo_desktop.view.completion import in_plain_signs, parted

EXAMPLE_QUESTIONS = (
    "What is 7 + 5 - 3?",
    "Spell this word backward (example: sun -> nus): frog",
    "How many 1 bits are there in the binary representation of the number 11?",
)
"""In the tasks' own wording, which small models have learned to read: in English in every language."""


def progress(side: Side) -> str:
    """An answer's state in a few words; once it is complete, tokens and time."""
    match side.state:
        case "waiting":
            return tr("Waiting for the other answer")
        case "asked":
            return tr("Waiting for the model")
        case "writing":
            return tr("Writing, %n token(s)", None, side.tokens or 0)
        case "marking":
            return tr("Scoring")
        case "stopped":
            return tr("Stopped by you")
        case "failed":
            # A node that fails to score has answered before.
            words = tr("Could not be scored: {reason}") if side.text else tr("No answer: {reason}")
            return words.format(reason=one_line(side.error))
        case "done":
            return figures(side)


def chat_words(chat: Sequence[Try]) -> str:
    """The length of a chat, and its share of what the model reads at once."""
    words = tr("This chat: %n question(s). The model reads the earlier ones again each time.", None, len(chat))
    sides = [side for side in chat[-1].sides if side.context] if chat else []
    if not sides:
        return words
    fullest = max(sides, key=lambda side: side.read)
    room = tr("{used} of {context} tokens are used.").format(
        used=numbers.count(fullest.read), context=numbers.count(fullest.context)
    )
    return f"{words} {room}"


def figures(side: Side) -> str:
    """Tokens, seconds and speed."""
    if side.tokens is None or side.seconds is None:
        return ""
    tokens = tr("%n token(s)", None, side.tokens)
    if side.seconds <= 0:
        return tokens
    return tr("{tokens} in {time}, {speed} per second").format(
        tokens=tokens,
        time=numbers.span(side.seconds),
        speed=numbers.number(side.tokens / side.seconds, 1),
    )


def in_short(side: Side) -> str:
    """One side in a table's cell."""
    if side.state == "done":
        return mark_words(side.mark) if side.mark else one_line(in_plain_signs(parted(side.text).answer), 120)
    return {"stopped": tr("Stopped"), "failed": tr("Failed")}.get(side.state, "…")
