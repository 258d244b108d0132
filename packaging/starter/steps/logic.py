"""Steps for propositional logic: a premise that says more than one variable is itself a conclusion.

That route is honest and short: what was given follows. Bare variables count as trivial with reasoning_gym, and so do
laws that hold always; where all premises are bare, two of them are joined.
"""

from __future__ import annotations

import re
from itertools import product
from typing import Any


def _always(formula: str) -> bool:
    """Whether the formula holds under every assignment (premises come fully bracketed)."""
    names = sorted(set(re.findall(r"[A-Z]", formula)))
    return all(
        _holds(formula, dict(zip(names, values, strict=True))) for values in product((False, True), repeat=len(names))
    )


def _holds(formula: str, values: dict[str, bool]) -> bool:
    if formula.startswith("¬"):
        return not _holds(formula[1:], values)
    if not formula.startswith("("):
        return values[formula]
    depth = 0
    for place, sign in enumerate(formula):
        depth += (sign == "(") - (sign == ")")
        if depth == 1 and sign in "∧∨→↔":
            left, right = _holds(formula[1 : place - 1], values), _holds(formula[place + 2 : -1], values)
            return {"∧": left and right, "∨": left or right, "→": not left or right, "↔": left == right}[sign]
    raise ValueError(f"not a formula: {formula}")


def propositional_logic(entry: dict[str, Any]) -> str | None:
    """Looks at each premise in turn; None where every premise is a law."""
    premises = re.findall(r"^\.?\d+\. (.+)$", entry["question"], flags=re.MULTILINE)
    lines, bare = [], []
    for number, premise in enumerate(premises, 1):
        if len(premise) == 1:
            bare.append(premise)
            lines.append(f"{number} bare")
        elif _always(premise):
            lines.append(f"{number} law")
        else:
            return f"{' '.join([*lines, f'{number} says'])}<answer>{premise}</answer>"
    if not bare:
        return None
    return f"{' '.join(lines)} join<answer>({bare[0]} ∧ {bare[-1]})</answer>"
