"""The answer in a completion: the text of the last `<answer>..</answer>`, otherwise the last non-empty line.

Pure; one pass from the end, linear in the bounded input, without regular expressions. The version of this rule is part
of every task id, because nodes that extract different answers would score them differently.
"""

from __future__ import annotations

ANSWER_RULE = 1
OPEN, CLOSE = "<answer>", "</answer>"
MAX_COMPLETION = 65_536
"""Number of characters examined, counted from the end, where the answer is."""

FORM_KNOWN = 0.9
"""A model counts as knowing the form from this share of readable answers on."""


def extract_answer(completion: str) -> str | None:
    """The answer as written, without surrounding white space; None if the text has none."""
    span = answer_span(completion)
    return None if span is None else completion[span].strip()


def has_tags(completion: str) -> bool:
    """Whether the answer is enclosed in its tags."""
    span = answer_span(completion)
    return span is not None and completion.startswith(CLOSE, span.stop) and completion.endswith(OPEN, 0, span.start)


def answer_span(completion: str) -> slice | None:
    """The span of the answer in the text; None if it has none.

    The last closing tag counts, with the nearest opening tag before it. A tag without its counterpart makes no span.
    Then the last line that is not only white space is the answer. An empty span is an (empty) answer; an empty
    completion has none.
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
