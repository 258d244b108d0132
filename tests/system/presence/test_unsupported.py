"""Settings that this computer cannot keep: each is named with a reason, and only what was asked about is looked
at."""

import pytest

from sapo_desktop.core import settings_file
from sapo_desktop.system.presence import unsupported as module
from sapo_desktop.system.presence.idle import CannotTell, Idle
from sapo_desktop.system.presence.unsupported import LOOKED_AT, unsupported


class Computer:
    """One that can tell everything, or nothing; it counts what it is asked."""

    def __init__(self, patch: pytest.MonkeyPatch, *, able: bool) -> None:
        self.asked: list[str] = []
        self._able = able

        def seconds(idle: Idle) -> float:
            self.asked.append("idle")
            if not able:
                raise CannotTell("No desktop.")
            return 3.0

        patch.setattr(Idle, "seconds", seconds)
        patch.setattr(module.sensors, "degrees", lambda: self._saw("heat", 40.0))
        patch.setattr(module.sensors, "is_metered", lambda: self._saw("link", False))
        patch.setattr(module, "gpus", lambda: self._saw("card", ["a card"]) or [])
        patch.setattr(module.awake, "can_hold", lambda: self._saw("awake", True) or False)

    def _saw(self, what: str, value: object) -> object:
        self.asked.append(what)
        return value if self._able else None


def test_a_computer_that_tells_nothing_keeps_none_of_these_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    Computer(monkeypatch, able=False)
    reasons = unsupported(settings_file.known_keys())
    assert set(reasons) == LOOKED_AT == {"when_in_use", "hottest", "card_memory_most", "on_metered", "keep_awake"}
    assert all(reasons.values()) and reasons["when_in_use"] == "No desktop."


def test_a_computer_that_tells_all_keeps_all(monkeypatch: pytest.MonkeyPatch) -> None:
    computer = Computer(monkeypatch, able=True)
    assert unsupported(LOOKED_AT) == {} and len(computer.asked) == 5


def test_nothing_is_looked_at_that_nobody_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    computer = Computer(monkeypatch, able=False)
    assert unsupported(["seed"]) == {}
    assert list(unsupported(["hottest", "threads"])) == ["hottest"] and computer.asked == ["heat"]
