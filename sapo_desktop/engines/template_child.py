"""Renders a model's chat template, in a process of its own: `python template_child.py`, a request on stdin.

A template is a program of unknown origin. jinja's sandbox keeps it from the computer, but not from counting for an hour
or from multiplying a text until the memory is gone, in the midst of compiling already. So this process limits itself to
a few seconds of processor time and to little memory, and whoever started it ends it after a while where the system
knows no such limits. Nothing of the program is imported: it starts in a tenth of a second.

A request is JSON: `source`, `special` (texts by name), `today` (ISO), `conversations` (lists of messages), `longest`
(characters of a prompt) and `seconds` (of processor time). The reply too: `prompts`, or `unreadable` or `unfit` with
the reason.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import date
from typing import Any

import jinja2
import jinja2.ext
from jinja2 import nodes, parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

MEMORY = 512 * 1024 * 1024
"""Bytes of address space."""


class _Generation(jinja2.ext.Extension):
    """`{% generation %}` marks what an assistant wrote, for training; the text is the same without."""

    tags = {"generation"}  # noqa: RUF012 - jinja's own way to declare them

    def parse(self, parser: parser.Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def main() -> None:
    """Answer one request."""
    request = json.load(sys.stdin)
    _limit(request["seconds"])
    json.dump(answer(request), sys.stdout)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The reply to a request, as the module says."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise
    environment.globals["strftime_now"] = date.fromisoformat(request["today"]).strftime
    try:
        template = environment.from_string(request["source"])
    except MemoryError:
        raise  # its own end: too large for this process
    except Exception as error:  # noqa: BLE001 - a template is a program, and raises what it likes
        return {"unreadable": _said(error)}
    try:
        prompts = [_prompt(template, messages, request["special"]) for messages in request["conversations"]]
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001
        return {"unfit": _said(error)}
    if any(len(prompt) > request["longest"] for prompt in prompts):
        return {"unfit": f"it makes a prompt of more than {request['longest']:,} characters"}
    return {"prompts": prompts}


def _prompt(template: jinja2.Template, messages: list[dict[str, str]], special: Mapping[str, str]) -> str:
    return template.render(
        messages=messages,
        tools=None,
        documents=None,
        add_generation_prompt=True,
        enable_thinking=False,
        **special,
    )


def _said(error: Exception) -> str:
    return str(error)[:300]


def _to_json(value: Any, ensure_ascii: bool = False, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent)


def _raise(message: str) -> None:
    raise jinja2.TemplateError(message)


def _limit(seconds: int) -> None:
    """Bound this process where the system can."""
    try:
        import resource
    except ImportError:  # Windows: there only the parent's clock
        return
    for kind, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        _, highest = resource.getrlimit(kind)
        allowed = most if highest == resource.RLIM_INFINITY else min(most, highest)
        try:
            resource.setrlimit(kind, (allowed, allowed))
        except ValueError:  # macOS takes no limit below what is in use
            continue


if __name__ == "__main__":
    main()
