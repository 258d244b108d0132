"""The answer in a completion: the text of the last `<answer>..</answer>`, else the last non-empty line.

Pure, one pass from the end, linear in the bounded input; never a regular expression. The rule's version is
part of every task id, because two nodes that find different answers in a text would mark it differently.
"""

from __future__ import annotations

ANSWER_RULE = 1
OPEN, CLOSE = "<answer>", "</answer>"
MAX_COMPLETION = 65_536
"""Characters looked at, from the end: the answer stands there."""

FORM_KNOWN = 0.9
"""Share of readable answers from which on a model counts as knowing the form."""


def extract_answer(completion: str) -> str | None:
    """The answer as written, stripped of white space around it; None where the text has none."""
    span = answer_span(completion)
    return None if span is None else completion[span].strip()


def has_tags(completion: str) -> bool:
    """Whether the answer stands between its tags."""
    span = answer_span(completion)
    return span is not None and completion.startswith(CLOSE, span.stop) and completion.endswith(OPEN, 0, span.start)


def answer_span(completion: str) -> slice | None:
    """Where in the text the answer stands; None where it has none.

    The last closing tag counts, with the nearest opening tag before it; a tag that is never closed, or
    closed but never opened, does not make a span, and then the last line with anything but white space is
    the answer. An empty span is an answer (the empty one); an empty completion is none.
    """
    first = max(0, len(completion) - MAX_COMPLETION)
    end = completion.rfind(CLOSE, first)
    if end >= 0:
        start = completion.rfind(OPEN, first, end)
        if start >= 0:
            return slice(start + len(OPEN), end)
    end = len(completion[first:].rstrip()) + first
    if end == first:
        return None
    return slice(max(first, completion.rfind("\n", first, end) + 1), end)
