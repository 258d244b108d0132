"""Steps for propositional logic: the truth table of the premises, and a clause that more than one of them leads to.

A row is written as the values of the letters and, behind a colon, those of the premises: ``P Q 00:01 01:11 ..``. A
clause such as ¬P ∨ Q follows where every row with P and without Q has a premise that is false in it, and needs more
than one premise where no single one is false in all of them.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from sapo_desktop.tasks.conclusions import premises_of


def propositional_logic(entry: dict[str, Any]) -> str | None:
    """Every row, then the shortest conclusion; None where there is none."""
    metadata = entry["metadata"]
    premises, letters = premises_of(metadata), metadata["variables"]
    if not premises.accepted:
        return None
    rows = []
    for values in product((0, 1), repeat=len(letters)):
        row = sum(value << place for place, value in enumerate(values))
        said = "".join(str(table >> row & 1) for table in premises.tables)
        rows.append(f"{''.join(map(str, values))}:{said}")
    return f"{' '.join(letters)} {' '.join(rows)}<answer>{premises.accepted[0]}</answer>"
