"""A model's chat template, rendered as transformers renders it, without transformers.

Templates are programs from a file that may come from anywhere, so they run in jinja's sandbox and what they raise
becomes a sentence. A prompt is the same on every day and every node: templates that print today's date are told a
fixed one. Models that can think aloud at length are asked not to. Left out: tools, documents, pictures.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from typing import Any

import jinja2
import jinja2.ext
from jinja2 import nodes, parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from sapo_desktop.core.errors import ModelError
from sapo_desktop.core.sentences import sentence

A_DAY = date(2025, 1, 1)
"""What templates take for today."""


class _Generation(jinja2.ext.Extension):
    """`{% generation %}` marks what an assistant wrote, for training; the text is the same without."""

    tags = {"generation"}  # noqa: RUF012 - jinja's own way to declare them

    def parse(self, parser: parser.Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class ChatTemplate:
    """A compiled template."""

    def __init__(self, source: str, special: Mapping[str, str]) -> None:
        """`special`: the special tokens' texts by name (`bos_token`, ...).

        Raises:
            ModelError: the template is no jinja.
        """
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, jinja2.ext.loopcontrols]
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _raise
        environment.globals["strftime_now"] = A_DAY.strftime
        self._special = dict(special)
        try:
            self._template = environment.from_string(source)
        except jinja2.TemplateError as error:
            raise ModelError(
                sentence("The model's chat template cannot be read: {reason}. Choose another model.", reason=str(error))
            ) from error

    def user_turn(self, text: str, system: str = "") -> str:
        """The prompt in which a user says `text` and the assistant is about to answer, told `system` before."""
        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": text})
        try:
            return self._template.render(
                messages=messages,
                tools=None,
                documents=None,
                add_generation_prompt=True,
                enable_thinking=False,
                **self._special,
            )
        except (jinja2.TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
            raise ModelError(
                sentence("The model's chat template does not take a question: {reason}.", reason=str(error))
            ) from error


def _to_json(value: Any, ensure_ascii: bool = False, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent)


def _raise(message: str) -> None:
    raise jinja2.TemplateError(message)
