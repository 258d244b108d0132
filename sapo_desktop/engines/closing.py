"""Where an answer ends: after its closing tag.

A model that was not trained to stop there keeps talking, which only costs time. So every engine ends an answer at the
tag and appends the end of the turn. Training treats that token like the others (learning/mixing.py), so an exported
model stops there by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from sapo_desktop.core.extraction import CLOSE

_MOST_TOKENS = len(CLOSE) + 1
"""A tag has at most one token per character; its first token may begin earlier."""


class ClosingTag:
    """Detects that an answer's tokens have just closed it."""

    def __init__(self, last: Collection[int], text: Callable[[list[int]], str]) -> None:
        """`last`: ids of all tokens that contain the tag's last character. `text`: turns tokens into text."""
        self.last = frozenset(last)
        self._text = text

    def __call__(self, tokens: Sequence[int]) -> bool:
        """Whether the newest of these tokens completes the tag."""
        return tokens[-1] in self.last and CLOSE in self._text(list(tokens[-_MOST_TOKENS:]))

    def or_at(self, stop: Sequence[str], vocabulary: int) -> ClosingTag:
        """The same detector with additional stop texts; any of so many ids may end such a text."""
        return StopTexts(self, stop, vocabulary, self._text) if stop else self


class StopTexts(ClosingTag):
    """Detects that an answer is closed, or has just reached one of its stop texts."""

    def __init__(self, tag: ClosingTag, stop: Sequence[str], vocabulary: int, text: Callable[[list[int]], str]) -> None:
        super().__init__(range(vocabulary), text)
        self._tag = tag
        self._stop = tuple(stop)
        self._most = max(len(one.encode("utf-8", "replace")) for one in stop) + 1
        """Maximum tokens of the longest text: one per byte; its first token may begin earlier."""

    def __call__(self, tokens: Sequence[int]) -> bool:
        newest = self._text(list(tokens[-self._most :]))
        return any(one in newest for one in self._stop) or self._tag(tokens)


NEVER = ClosingTag((), lambda _: "")
"""For answers that end by themselves or at the limit."""
