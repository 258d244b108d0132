"""The worker's sentences in the window's language (core/sentences.py), and the catalogues' texts on tasks and
models: packaging/translations.py collects their templates and texts with the window's."""

from __future__ import annotations

from sapo_desktop.core.consent import WHAT_IS_PUBLISHED
from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.sentences import Left, Moment, Sentence, Size, Span, Text, Value, filled
from sapo_desktop.gui.words import numbers
from sapo_desktop.gui.words.language import tr
from sapo_desktop.gui.words.titles import model_title, task_name


def in_words(said: Text | SapoError) -> str:
    """A sentence of the worker, or an error's, in the window's language; other text unchanged."""
    text = said.text if isinstance(said, SapoError) else said
    if isinstance(text, Sentence):
        return filled(tr(text.template), {name: _value(name, value) for name, value in text.values.items()})
    return text


def what_is_published() -> list[str]:
    """What a person reads before answers are published, a paragraph each."""
    return [tr(text) for text in WHAT_IS_PUBLISHED]


def _value(name: str, value: Value) -> str:
    match value:
        case str() if name == "task" and "/" in value:
            return task_name(value)
        case str() if name == "model":
            return model_title(value)
        case str() | Sentence():
            return in_words(value)
        case Size(bytes=size):
            return numbers.size(size)
        case Span(seconds=seconds):
            return numbers.span(seconds)
        case Left(seconds=seconds):
            return numbers.left(seconds)
        case Moment(unix=unix, day=day):
            return numbers.day_and_clock(unix) if day else numbers.clock(unix)
        case int():
            return numbers.count(value)
        case float():
            return numbers.plain(value)
        case list():
            return "; ".join(in_words(item) for item in value)
