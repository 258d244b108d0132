"""Where an answer ends: behind its closing tag.

A model that was not trained to stop there goes on talking, and is paid for it in time alone. So every engine ends an
answer at the tag, and puts the end of the turn behind it, which is then learned like a token of the answer
(learning/mixing.py): what is exported ends there by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from sapo_desktop.core.extraction import CLOSE

_MOST_TOKENS = len(CLOSE) + 1
"""A tag takes at most one token a character; the first one may begin before it."""


class ClosingTag:
    """Tells whether the tokens of an answer have just closed it."""

    def __init__(self, last: Collection[int], text: Callable[[list[int]], str]) -> None:
        """`last`: ids of all tokens with the tag's last character in them; `text`: turns tokens into text."""
        self.last = frozenset(last)
        self._text = text

    def __call__(self, tokens: Sequence[int]) -> bool:
        """Whether the newest of these tokens completes the tag."""
        return tokens[-1] in self.last and CLOSE in self._text(list(tokens[-_MOST_TOKENS:]))

    def or_at(self, stop: Sequence[str], vocabulary: int) -> ClosingTag:
        """The same, which these texts end as well; any of so many ids may be the last one of such a text."""
        return StopTexts(self, stop, vocabulary, self._text) if stop else self


class StopTexts(ClosingTag):
    """Tells whether an answer is closed, or has just come to one of the texts that are to end it."""

    def __init__(self, tag: ClosingTag, stop: Sequence[str], vocabulary: int, text: Callable[[list[int]], str]) -> None:
        super().__init__(range(vocabulary), text)
        self._tag = tag
        self._stop = tuple(stop)
        self._most = max(len(one.encode("utf-8", "replace")) for one in stop) + 1
        """Tokens that the longest takes at most: one a byte; the first one may begin before it."""

    def __call__(self, tokens: Sequence[int]) -> bool:
        newest = self._text(list(tokens[-self._most :]))
        return any(one in newest for one in self._stop) or self._tag(tokens)


NEVER = ClosingTag((), lambda _: "")
"""For answers that end by themselves, or at the limit."""
