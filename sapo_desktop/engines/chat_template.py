"""A model's chat template, rendered as transformers renders it, without transformers.

Templates are programs from a file that may come from anywhere, and may loop for an hour or fill the memory. So a
template is asked once, in a process with limits (`template_child.py`), how it puts a question; from then on its answer
is text before and after the question, and no round runs anything of the template. A prompt is the same on every day and
every node: templates that print today's date are told a fixed one. Models that can think aloud at length are asked not
to. Left out: tools, documents, pictures, and templates that rewrite a question or look at what it says.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.sentences import sentence

A_DAY = date(2025, 1, 1)
"""What templates take for today."""
LONGEST_SOURCE = 1_000_000
LONGEST_PROMPT = 50_000
"""Characters that a template may put around a question."""
CPU_SECONDS = 5
"""Some twenty times what a common template takes, the start of its process included."""
PATIENCE = 120.0
"""Seconds for a process that uses one tenth of one; more than a busy computer takes."""
_TRIES = 2
"""One that was suspended for that long with its engine is asked once more. (Where the system knows no limits, one that
counts for hours is so too.)"""
_CHILD = Path(__file__).with_name("template_child.py")
_QUESTION = '\ue000What is\n\n2 + 2?  <b>&"quoted" é</b> {{ x }}\ue001'
"""Stands for the question: private characters, and what a template could want to change. Nothing to trim."""
_BLANKS = "\n "


class _Reply(msgspec.Struct, frozen=True):
    """What the process says."""

    prompts: list[str] = []
    unreadable: str | None = None
    unfit: str | None = None


@dataclass(frozen=True)
class _Frame:
    """What a template puts around a question."""

    before: str
    after: str
    trims_left: bool
    trims_right: bool

    def around(self, text: str) -> str:
        """The prompt of this question."""
        text = text.lstrip() if self.trims_left else text
        return f"{self.before}{text.rstrip() if self.trims_right else text}{self.after}"


class ChatTemplate:
    """A template that takes questions."""

    def __init__(self, source: str, special: Mapping[str, str]) -> None:
        """`special`: the special tokens' texts by name (`bos_token`, ...).

        Raises:
            ModelError: the template is no jinja, takes no question, or is not done in time and memory.
        """
        self._source = source
        self._special = tuple(sorted(special.items()))
        self._frame("")

    def user_turn(self, text: str, system: str = "") -> str:
        """The prompt in which a user says `text`, after the system message if there is one, and the assistant is about
        to answer. Raises ModelError where the template takes no such messages."""
        return self._frame(system).around(text)

    def _frame(self, system: str) -> _Frame:
        return _frame(self._source, self._special, system)


@functools.lru_cache(maxsize=64)
def _frame(source: str, special: tuple[tuple[str, str], ...], system: str) -> _Frame:
    """How the template puts a question after that system message. Raises ModelError as ChatTemplate."""
    first = [{"role": "system", "content": system}] if system else []
    plain, blank = (
        [*first, {"role": "user", "content": text}] for text in (_QUESTION, f"{_BLANKS}{_QUESTION}{_BLANKS}")
    )
    shown, with_blanks = (prompt.split(_QUESTION) for prompt in _rendered(source, dict(special), [plain, blank]))
    if len(shown) != 2 or len(with_blanks) != 2:
        raise _changed()
    (before, after), (blank_before, blank_after) = shown, with_blanks
    if blank_before not in (before, before + _BLANKS) or blank_after not in (after, _BLANKS + after):
        raise _changed()
    return _Frame(before, after, trims_left=blank_before == before, trims_right=blank_after == after)


def _changed() -> ModelError:
    return ModelError(sentence("The model's chat template does not show the question as it is; choose another model."))


def _rendered(source: str, special: dict[str, str], conversations: list[list[dict[str, str]]]) -> list[str]:
    """A prompt for each conversation, made in a process of its own. Raises ModelError."""
    if len(source) > LONGEST_SOURCE:
        raise _endless()
    request = {
        "source": source,
        "special": special,
        "today": A_DAY.isoformat(),
        "conversations": conversations,
        "longest": LONGEST_PROMPT,
        "seconds": CPU_SECONDS,
    }
    try:
        reply = msgspec.json.decode(_asked(json.dumps(request).encode()), type=_Reply)
    except (subprocess.SubprocessError, msgspec.DecodeError) as error:
        raise _endless() from error
    if reply.unreadable is not None:
        raise ModelError(
            "The model's chat template cannot be read: {reason}. Choose another model.", reason=reply.unreadable
        )
    if reply.unfit is not None:
        raise ModelError(
            "The model's chat template does not take a question: {reason}. Choose another model.",
            reason=reply.unfit,
        )
    return reply.prompts


def _asked(request: bytes, tries: int = _TRIES) -> bytes:
    """What the process says to it. Raises subprocess.SubprocessError."""
    try:
        return subprocess.run(
            # -P: what lies beside the file is not taken for a library of the same name.
            [sys.executable, "-P", str(_CHILD)],
            input=request,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONHASHSEED": "0"},  # a template may go through a set
            timeout=PATIENCE,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            check=True,
        ).stdout
    except subprocess.TimeoutExpired:
        if tries == 1:
            raise
        return _asked(request, tries - 1)


def _endless() -> ModelError:
    return ModelError(
        sentence(
            "The model's chat template takes too much time or memory to put a question: no model of use does that. "
            "Choose another one."
        )
    )
