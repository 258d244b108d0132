"""Propositional formulas as answers: parsed, bounded, and written with every parenthesis.

Precedence from high to low: ¬, ∧, ∨, →, ↔. Chains of one connective group from the left, as in the dataset's own
parser, so that both give a text the same meaning. Variables are the capital letters P to Z, which the dataset uses.
Left out: other symbols for the connectives; the questions name these five.
"""

from __future__ import annotations

NOT, AND, OR, IMPLIES, IFF = "¬", "∧", "∨", "→", "↔"
VARIABLES = frozenset("PQRSTUVWXYZ")
_LOOSE_TO_TIGHT = (IFF, IMPLIES, OR, AND)
MAX_CHARACTERS = 256
MAX_DEPTH = 16
MAX_CONNECTIVES = 32


class _NotAFormula(Exception):
    """Stops the parser; never leaves this module."""


def parse_formula(text: str) -> str | None:
    """The fully parenthesised formula, as in `(P ∨ ¬Q)`; None for anything else or anything too large."""
    if len(text) > MAX_CHARACTERS or sum(text.count(sign) for sign in (NOT, *_LOOSE_TO_TIGHT)) > MAX_CONNECTIVES:
        return None
    reader = _Reader([character for character in text if character not in " \t\n"])
    try:
        formula = reader.binary(0, 0)
    except _NotAFormula:
        return None
    return formula if reader.done else None


def sides(formula: str) -> tuple[str, str, str]:
    """`A`, the connective and `B` of `(A ∧ B)`, for a fully parenthesised formula. Raises ValueError."""
    depth = 0
    for place, character in enumerate(formula):
        depth += (character == "(") - (character == ")")
        if depth == 1 and character in _LOOSE_TO_TIGHT:
            return formula[1:place].strip(), character, formula[place + 1 : -1].strip()
    raise ValueError(f"{formula} has no two sides")


class _Reader:
    """Recursive descent over single characters; every call consumes one or ends."""

    def __init__(self, characters: list[str]) -> None:
        self._characters = characters
        self._place = 0

    @property
    def done(self) -> bool:
        return self._place == len(self._characters)

    def binary(self, level: int, depth: int) -> str:
        """A chain of the connective at `level` of precedence, or anything that binds tighter."""
        if level == len(_LOOSE_TO_TIGHT):
            return self._operand(depth)
        sign = _LOOSE_TO_TIGHT[level]
        left = self.binary(level + 1, depth)
        while self._peek() == sign:
            self._place += 1
            left = f"({left} {sign} {self.binary(level + 1, depth)})"
        return left

    def _operand(self, depth: int) -> str:
        character = self._peek()
        if depth > MAX_DEPTH or character is None:
            raise _NotAFormula
        self._place += 1
        if character in VARIABLES:
            return character
        if character == NOT:
            return NOT + self._operand(depth + 1)
        if character == "(":
            inside = self.binary(0, depth + 1)
            if self._peek() != ")":
                raise _NotAFormula
            self._place += 1
            return inside
        raise _NotAFormula

    def _peek(self) -> str | None:
        return None if self.done else self._characters[self._place]
