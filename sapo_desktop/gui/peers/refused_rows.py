"""What peers sent and this node did not take, as rows: by kind, the most frequent first. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

KINDS = ("invalid", "unverifiable", "ignored")
"""From what breaks the rules to what is nobody's fault."""


@dataclass(frozen=True)
class Refusal:
    """So many were refused for this reason."""

    kind: str
    reason: str
    count: int

    @property
    def order(self) -> int:
        """By how much it says against the peer; kinds of a newer worker come last."""
        return KINDS.index(self.kind) if self.kind in KINDS else len(KINDS)


def refusals(refused: Mapping[str, Mapping[str, int]]) -> list[Refusal]:
    """Kind -> reason -> count, as rows; reasons that never came up are left out."""
    rows = [Refusal(kind, reason, count) for kind, reasons in refused.items() for reason, count in reasons.items()]
    return sorted((row for row in rows if row.count), key=lambda row: (row.order, -row.count, row.reason))
