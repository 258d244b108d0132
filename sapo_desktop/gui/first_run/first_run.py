"""The answers to the first-run questions, and the settings they come to. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Gentle = Literal["quarter", "half", "most"]
GENTLE: tuple[Gentle, ...] = ("quarter", "half", "most")


@dataclass
class Choices:
    """What a newcomer chose; the defaults are the gentle ones."""

    gentle: Gentle = "half"
    on_battery: bool = False
    """Go on when the computer runs on its battery."""
    give_way: bool = True
    """Low priority: every other program goes first."""
    others: bool = False
    """Ask next whom to join, and on what terms (gui/peers/join.py)."""

    def threads(self, cores: int) -> int:
        """Of so many cores; 0 is the setting's own word for half of them."""
        match self.gentle:
            case "quarter":
                return max(1, cores // 4)
            case "half":
                return 0
            case "most":
                return max(1, cores - 1)

    @staticmethod
    def offered(cores: int) -> tuple[Gentle, ...]:
        """The choices that differ on a computer with so many cores, the gentlest first; half is always one."""
        half = max(1, cores // 2)
        others: tuple[tuple[Gentle, int], ...] = (("quarter", max(1, cores // 4)), ("most", max(1, cores - 1)))
        found = {gentle for gentle, threads in others if threads != half}
        return tuple(gentle for gentle in GENTLE if gentle == "half" or gentle in found)

    def settings(self, cores: int) -> dict[str, str]:
        """As SetSettings takes them. In silo: joining others is a question of its own, with its terms beside it."""
        return {
            "threads": str(self.threads(cores)),
            "low_priority": "on" if self.give_way else "off",
            "on_battery": "continue" if self.on_battery else "pause",
            "silo": "on",
            "share": "off",
        }
