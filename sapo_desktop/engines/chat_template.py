"""A model's chat template, rendered as transformers renders it, without transformers.

Templates are programs from untrusted files; they may loop for an hour or fill the memory. minijinja bounds their steps
and output. What still gets through (a list doubled sixty times and printed) has one second of processor time. Then
SIGPROF ends its process, which the worker reports as EndlessTemplate. A template gets no Python objects: messages, date
and refusal are written in its own language.

A template is rendered once to see how it frames a question; from then on, its output is text before and after the
question, and no round runs template code. A prompt is the same on every day and every node, because templates that
print today's date get a fixed one. Models that can think aloud at length are asked not to. Left out: tools, documents,
pictures, and templates that rewrite a question or inspect it.
"""

from __future__ import annotations

import functools
import json
import re
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from datetime import date
from typing import NamedTuple

import minijinja

from sapo_desktop.core.errors import EndlessTemplate, ModelError
from sapo_desktop.core.sentences import sentence

A_DAY = date(2025, 1, 1)
"""The fixed date that templates get as today."""
LONGEST_SOURCE = 100_000
"""Characters; the longest in common use has about 20,000."""
LONGEST_PROMPT = 50_000
"""Maximum characters that a template may add around a question."""
CPU_SECONDS = 1.0
"""A hundred times what a common template takes."""
_FUEL = 100_000
"""Steps and pieces of text: about a hundred times what a common template takes."""
_STACK = 256 * 1024 * 1024
"""Bytes. minijinja takes up to 500 per character of an endlessly nested source; only used pages count."""
_BLANKS = "\n "
_GENERATION = re.compile(r"(\{%[-+]?\s*)(end)?generation(\s*[-+]?%\})")
"""`{% generation %}` marks the assistant's part for training; the text is the same without it."""
_GIVEN = (
    "{% macro raise_exception(said) %}{% include said %}{% endmacro %}{% macro strftime_now(form) %}{{ form"
    + "".join(f"|replace('%{code}', '{A_DAY.strftime(f'%{code}')}')" for code in "YymdBbAaHMSIpj")
    + " }}{% endmacro %}{% set tools = none %}{% set documents = none %}"
    "{% set add_generation_prompt = true %}{% set enable_thinking = false %}"
)
"""What transformers passes to a template. A missing template is the only error that carries a message."""
_REFUSAL = "tried to include non-existing template "


_SPECIAL = ("bos_token", "eos_token", "unk_token", "pad_token")


class Piece(NamedTuple):
    """A part of a prompt, tokenized by itself."""

    text: str
    is_template: bool
    """Whether special tokens in it are real; in the question they are plain text."""


class _Frame(NamedTuple):
    """What a template puts around the texts of a conversation."""

    between: list[str]
    """Before the first text, between the others, and after the last."""
    trims_left: bool
    trims_right: bool


class ChatTemplate:
    """A template that accepts questions."""

    def __init__(self, source: str, special: Mapping[str, str]) -> None:
        """`special`: the special tokens' texts by name (`bos_token`, ...).

        Raises:
            ModelError: the template is not valid jinja, accepts no question, or (EndlessTemplate) takes too long.
        """
        self._source = source
        self._special = tuple(sorted(special.items()))
        self.pieces("")

    def user_turn(self, text: str, system: str = "", shown: Sequence[tuple[str, str]] = ()) -> str:
        """The prompt that asks `text`, after the system message, if any, and the example exchanges `shown`
        (question, answer). Raises ModelError if the template does not accept such messages."""
        return "".join(piece.text for piece in self.pieces(text, system, shown))

    def pieces(self, text: str, system: str = "", shown: Sequence[tuple[str, str]] = ()) -> list[Piece]:
        """The same prompt, split around `shown` and `text`; both ends and every second piece come from the template."""
        frame = _frame(self._source, self._special, system, len(shown))
        text = text.lstrip() if frame.trims_left else text
        texts = [said.strip() for exchange in shown for said in exchange]
        texts.append(text.rstrip() if frame.trims_right else text)
        pieces = [Piece(frame.between[0], True)]
        for said, after in zip(texts, frame.between[1:], strict=True):
            pieces += [Piece(said, False), Piece(after, True)]
        return pieces


def check_template(source: str) -> None:
    """Check that it accepts a question, before the model's special tokens are known. Raises ModelError as
    ChatTemplate."""
    ChatTemplate(source, {name: f"<{name}>" for name in _SPECIAL})


@functools.lru_cache(maxsize=64)
def _frame(source: str, special: tuple[tuple[str, str], ...], system: str, exchanges: int) -> _Frame:
    """The frame for a question after that system message and so many exchanges. Raises ModelError as ChatTemplate."""
    texts = [_stand_in(place) for place in range(2 * exchanges + 1)]
    plain, blank = (
        _between(_rendered(source, special, _conversation(system, said)), texts)
        for said in (texts, [*texts[:-1], f"{_BLANKS}{texts[-1]}{_BLANKS}"])
    )
    (*_, before, after), (*_, blank_before, blank_after) = plain, blank
    if plain[:-2] != blank[:-2] or blank_before not in (before, before + _BLANKS):
        raise _changed()
    if blank_after not in (after, _BLANKS + after):
        raise _changed()
    return _Frame(plain, trims_left=blank_before == before, trims_right=blank_after == after)


def _stand_in(place: int) -> str:
    """A placeholder for a text: private-use characters, and ones that a template might change. Nothing to trim."""
    return f'\ue000{place}. What is\n\n2 + 2?  <b>&"quoted" é</b> {{{{ x }}}}\ue001'


def _conversation(system: str, texts: Sequence[str]) -> list[dict[str, str]]:
    said = [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]
    return [{"role": "system", "content": system}, *said] if system else said


def _between(prompt: str, texts: Sequence[str]) -> list[str]:
    """The template's text around the placeholders. Raises ModelError unless each is there once, in order and
    unchanged."""
    parts = [prompt]
    for text in texts:
        parts[-1:] = parts[-1].split(text)
    if len(parts) != len(texts) + 1 or any(text in part for part in parts for text in texts):
        raise _changed()
    return parts


def _changed() -> ModelError:
    return ModelError(sentence("The model's chat template changes the question. Choose another model."))


def _rendered(source: str, special: tuple[tuple[str, str], ...], messages: list[dict[str, str]]) -> str:
    """The rendered prompt of a conversation. Raises ModelError."""
    if len(source) > LONGEST_SOURCE:
        raise ModelError(
            "The model's chat template has more than {most} characters. Choose another model.", most=LONGEST_SOURCE
        )
    given = "".join(_set(name, value) for name, value in (*special, ("messages", messages)) if name.isidentifier())
    marked = _GENERATION.sub(lambda tag: f"{tag[1]}{tag[2] or ''}with{tag[3]}", source)
    try:
        prompt = _in_time(f"{given}{_GIVEN}\n{marked}")
    except minijinja.TemplateError as error:
        raise _refused(error) from error
    except UnicodeEncodeError as error:
        raise _unreadable(str(error)) from error
    if len(prompt) > LONGEST_PROMPT:
        raise _unfit(f"it makes a prompt of more than {LONGEST_PROMPT:,} characters")
    return prompt


def _set(name: str, value: object) -> str:
    return f"{{% set {name} = {json.dumps(value, ensure_ascii=False)} %}}"


def _in_time(source: str) -> str:
    """Render the source with a time limit; raises minijinja's errors and MemoryError. minijinja blocks Python
    meanwhile, so the system ends the process of a template that takes too long. Windows has no such timer."""
    timer = sys.platform != "win32"
    done: Future[str] = Future()
    usual = threading.stack_size(_STACK)
    try:
        thread = threading.Thread(target=_render, args=(source, done))
        if timer:
            signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        thread.start()
        thread.join()
    except RuntimeError as error:
        raise MemoryError("There is no room for a thread that reads the chat template.") from error
    finally:
        threading.stack_size(usual)
        if timer:
            signal.setitimer(signal.ITIMER_PROF, 0)
    return done.result()


def _render(source: str, done: Future[str]) -> None:
    environment = minijinja.Environment(trim_blocks=True, lstrip_blocks=True, fuel=_FUEL)
    environment.add_test("iterable", lambda value: hasattr(value, "__iter__"))  # its own accepts none
    try:
        done.set_result(environment.render_str(source))
    except (minijinja.TemplateError, UnicodeEncodeError) as error:
        done.set_exception(error)


def _refused(error: minijinja.TemplateError) -> ModelError:
    """The sentence for an error of the template."""
    said = str(error.detail or error.message)[:300]
    match error.kind:
        case "OutOfFuel":
            return EndlessTemplate()
        case "SyntaxError":
            return _unreadable(said)
        case "TemplateNotFound":
            return _unfit(said.removeprefix(_REFUSAL).strip("'\""))
    return _unfit(said)


def _unreadable(reason: str) -> ModelError:
    return ModelError("The model's chat template cannot be read: {reason}. Choose another model.", reason=reason)


def _unfit(reason: str) -> ModelError:
    return ModelError(
        "The model's chat template does not accept a question: {reason}. Choose another model.", reason=reason
    )
