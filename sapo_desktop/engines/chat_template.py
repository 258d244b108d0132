"""A model's chat template, rendered as transformers renders it, without transformers.

Templates are programs from a file that may come from anywhere, and may loop for an hour or fill the memory. minijinja
bounds the steps and the text of one. What gets past that (a list doubled sixty times and printed) has a second of the
processor, and then its process ends by SIGPROF, which the worker reads as EndlessTemplate. Nothing of Python is handed
to a template: messages, date and refusal are written in its own language. A template is asked once how it puts a
question; from then on its answer is text before and after the question, and no round runs anything of the template. A
prompt is the same on every day and every node: templates that print today's date get a fixed one. Models that can think
aloud at length are asked not to. Left out: tools, documents, pictures, and templates that rewrite a question or look at
what it says.
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
"""What templates take for today."""
LONGEST_SOURCE = 100_000
"""Characters; the longest in common use has some 20,000."""
LONGEST_PROMPT = 50_000
"""Characters that a template may put around a question."""
CPU_SECONDS = 1.0
"""A hundred times what a common template takes."""
_FUEL = 100_000
"""Steps and pieces of text: some hundred times what a common template takes."""
_STACK = 256 * 1024 * 1024
"""Bytes. minijinja takes up to 500 for a character of a source that nests without end; only those in use are there."""
_BLANKS = "\n "
_GENERATION = re.compile(r"(\{%[-+]?\s*)(end)?generation(\s*[-+]?%\})")
"""`{% generation %}` marks what an assistant wrote, for training; the text is the same without."""
_GIVEN = (
    "{% macro raise_exception(said) %}{% include said %}{% endmacro %}{% macro strftime_now(form) %}{{ form"
    + "".join(f"|replace('%{code}', '{A_DAY.strftime(f'%{code}')}')" for code in "YymdBbAaHMSIpj")
    + " }}{% endmacro %}{% set tools = none %}{% set documents = none %}"
    "{% set add_generation_prompt = true %}{% set enable_thinking = false %}"
)
"""What transformers hands to a template. A template that is not there is the one error which carries a message."""
_REFUSAL = "tried to include non-existing template "


_SPECIAL = ("bos_token", "eos_token", "unk_token", "pad_token")


class Piece(NamedTuple):
    """A part of a prompt, to be cut into tokens by itself."""

    text: str
    is_template: bool
    """Whether special tokens in it are meant; in what is asked they are plain text."""


class _Frame(NamedTuple):
    """What a template puts around the texts of a conversation."""

    between: list[str]
    """Before the first text, between each two, and after the last."""
    trims_left: bool
    trims_right: bool


class ChatTemplate:
    """A template that takes questions."""

    def __init__(self, source: str, special: Mapping[str, str]) -> None:
        """`special`: the special tokens' texts by name (`bos_token`, ...).

        Raises:
            ModelError: the template is no jinja, takes no question, or (EndlessTemplate) is not done in time.
        """
        self._source = source
        self._special = tuple(sorted(special.items()))
        self.pieces("")

    def user_turn(self, text: str, system: str = "", shown: Sequence[tuple[str, str]] = ()) -> str:
        """The prompt in which a user says `text` and the assistant is about to answer: after the system message if
        there is one, and after the exchanges `shown`, each a question and its answer. Raises ModelError where the
        template takes no such messages."""
        return "".join(piece.text for piece in self.pieces(text, system, shown))

    def pieces(self, text: str, system: str = "", shown: Sequence[tuple[str, str]] = ()) -> list[Piece]:
        """The same cut around what is said, `shown` and `text`; both ends and every second piece are the template's."""
        frame = _frame(self._source, self._special, system, len(shown))
        text = text.lstrip() if frame.trims_left else text
        texts = [said.strip() for exchange in shown for said in exchange]
        texts.append(text.rstrip() if frame.trims_right else text)
        pieces = [Piece(frame.between[0], True)]
        for said, after in zip(texts, frame.between[1:], strict=True):
            pieces += [Piece(said, False), Piece(after, True)]
        return pieces


def check_template(source: str) -> None:
    """Whether it takes a question, before the special tokens of its model are known. Raises ModelError as
    ChatTemplate."""
    ChatTemplate(source, {name: f"<{name}>" for name in _SPECIAL})


@functools.lru_cache(maxsize=64)
def _frame(source: str, special: tuple[tuple[str, str], ...], system: str, exchanges: int) -> _Frame:
    """How the template puts a question after that system message and so many exchanges. Raises ModelError as
    ChatTemplate."""
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
    """Stands for a text: private characters, and what a template could want to change. Nothing to trim."""
    return f'\ue000{place}. What is\n\n2 + 2?  <b>&"quoted" é</b> {{{{ x }}}}\ue001'


def _conversation(system: str, texts: Sequence[str]) -> list[dict[str, str]]:
    said = [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]
    return [{"role": "system", "content": system}, *said] if system else said


def _between(prompt: str, texts: Sequence[str]) -> list[str]:
    """What stands around the texts. Raises ModelError where one is not there once, in its place and as it is."""
    parts = [prompt]
    for text in texts:
        parts[-1:] = parts[-1].split(text)
    if len(parts) != len(texts) + 1 or any(text in part for part in parts for text in texts):
        raise _changed()
    return parts


def _changed() -> ModelError:
    return ModelError(sentence("The model's chat template changes the question. Choose another model."))


def _rendered(source: str, special: tuple[tuple[str, str], ...], messages: list[dict[str, str]]) -> str:
    """The prompt for a conversation. Raises ModelError."""
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
    """What the source makes; raises what minijinja raises, and MemoryError. minijinja keeps Python from running
    meanwhile, so it is the system that ends the process of one that is not done in time; Windows has no such timer."""
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
    environment.add_test("iterable", lambda value: hasattr(value, "__iter__"))  # its own says so of none
    try:
        done.set_result(environment.render_str(source))
    except (minijinja.TemplateError, UnicodeEncodeError) as error:
        done.set_exception(error)


def _refused(error: minijinja.TemplateError) -> ModelError:
    """What an error of the template says of it."""
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
