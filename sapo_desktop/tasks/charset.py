"""Which signs an answer that travels may hold: those that one writes to calculate and to explain it in English.

Text with others is neither shared nor taken nor passed on. It is no judgement on the text: a swarm that carries
whatever anybody signs would be a notice board. Answers in words, which own tasks have, may
hold letters of every script.
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
    """Whether every sign of `text` is one that answers of this grammar (tasks/grammars.py) may be explained with."""
    others = _others(grammar).findall(text)
    return not others or (grammar == "text" and all(map(str.isalpha, others)))


@functools.cache
def _others(grammar: str) -> re.Pattern[str]:
    """Finds signs that are none of these: a relay looks at thousands of answers a second."""
    own = "".join(_PLAIN | _SUMS | _PROSE | _OF_GRAMMAR.get(grammar, frozenset()))
    return re.compile(f"[^{re.escape(own)}]")
