"""Which characters a shared answer may contain: those needed to calculate and to explain it in English.

Text with others is neither shared, accepted nor forwarded. This is not a judgement of the text: a swarm that carried
arbitrary signed text would be a message board. Answers in words, in own tasks, may contain letters of every script.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from types import MappingProxyType

_PLAIN = frozenset(map(chr, range(0x20, 0x7F))) | frozenset("\n\t")
_SUMS = frozenset("×÷·−±°≤≥≠≈√²³")
_PROSE = frozenset("‘’“”–—…•")
_OF_GRAMMAR: Mapping[str, frozenset[str]] = MappingProxyType({"formula": frozenset("¬∧∨→↔⊕⇒⇔∴")})


def belongs(text: str, grammar: str) -> bool:
    """Whether every character of `text` may appear in answers of this grammar (tasks/grammars.py)."""
    others = _others(grammar).findall(text)
    return not others or (grammar == "text" and all(map(str.isalpha, others)))


@functools.cache
def _others(grammar: str) -> re.Pattern[str]:
    """Finds other characters quickly: a relay checks thousands of answers per second."""
    own = "".join(_PLAIN | _SUMS | _PROSE | _OF_GRAMMAR.get(grammar, frozenset()))
    return re.compile(f"[^{re.escape(own)}]")
