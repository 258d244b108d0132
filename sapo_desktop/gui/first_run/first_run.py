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
    swarm: bool = False
    share: bool = False
    """Publish own answers; only in the swarm."""
    peer: str = ""
    """An address or invite link that somebody gave; only in the swarm."""

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
        """As SetSettings takes them. Silo comes first to mind: nobody is put on a network without having said so."""
        return {
            "threads": str(self.threads(cores)),
            "low_priority": "on" if self.give_way else "off",
            "on_battery": "continue" if self.on_battery else "pause",
            "silo": "off" if self.swarm else "on",
            "share": "on" if self.swarm and self.share else "off",
        } | ({"peers": self.peer} if self._is_address else {})

    @property
    def invite(self) -> str | None:
        """The link to a private swarm, where one was given."""
        return self.peer if self.swarm and self.peer and not self._is_address else None

    @property
    def _is_address(self) -> bool:
        return self.swarm and self.peer.startswith(("wss://", "ws://"))
