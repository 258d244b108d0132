"""What is checked, how often, and the result on systems without the information."""

import queue
import sys

import msgspec
import pytest

from sapo_desktop.core.settings import Settings
from sapo_desktop.system.presence import programs, watch
from sapo_desktop.system.presence.idle import CannotTell, Idle
from sapo_desktop.system.presence.watch import Power


class Looked:
    """Readers that count; the clock stands until it is moved."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.found: list[str] = []
        self.watch = watch.Watch(lambda: [7], lambda: self.now)
        patch.setattr(watch, "power", lambda: Power(True, 55))
        patch.setattr(watch.sensors, "is_metered", lambda: self._saw("link", True))
        patch.setattr(watch.sensors, "degrees", lambda: self._saw("heat", 61.0))
        patch.setattr(watch.programs, "first_of", lambda names: self._saw("programs", names[0] if names else None))
        patch.setattr(watch, "taken_by_others", lambda own: self._saw(f"card of others than {own}", 12.0))
        patch.setattr(Idle, "seconds", lambda idle: self._saw("idle", 33.0))

    def _saw(self, what: str, value: object) -> object:
        self.found.append(what)
        return value


ALL = Settings(silo=False, hottest=80, pause_for="blender, steam", when_in_use="pause")


def test_everything_that_is_asked_for_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = Looked(monkeypatch)
    assert looked.watch.look(ALL) == watch.Presence(
        on_battery=True, charge=55, idle=33.0, metered=True, program="blender", card_share=12.0, degrees=61.0
    )


def test_what_costs_more_is_looked_at_seldom_and_again_with_new_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = Looked(monkeypatch)
    for looked.now in (0.0, 2.0, 9.0):
        looked.watch.look(ALL)
    assert (looked.found.count("idle"), looked.found.count("heat")) == (3, 1)
    looked.watch.look(msgspec.structs.replace(ALL, hottest=70))
    looked.now += watch.SLOW_SECONDS
    looked.watch.look(msgspec.structs.replace(ALL, hottest=70))
    assert looked.found.count("heat") == 3


def test_windows_is_asked_for_the_link_once_a_minute_and_holds_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """It starts a program for it."""
    looked, answers = Looked(monkeypatch), queue.SimpleQueue[bool]()

    def is_metered() -> bool:
        looked.found.append("link")
        return answers.get(timeout=30)

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(watch.sensors, "is_metered", is_metered)
    answers.put(True)
    assert looked.watch.look(ALL).metered, "the first answer is waited for"
    looked.now = watch.LINK_SECONDS - 1
    assert looked.watch.look(ALL).metered and looked.found.count("link") == 1
    looked.now += watch.SLOW_SECONDS
    assert looked.watch.look(ALL).metered, "the last one"
    looked.now += watch.LINK_SECONDS
    assert looked.watch.look(ALL).metered
    answers.put(False)
    assert looked.watch._asking is not None
    looked.watch._asking.join(30)
    assert looked.found.count("link") == 2, "one at a time"
    looked.now += watch.SLOW_SECONDS
    answers.put(False)
    assert not looked.watch.look(ALL).metered


def test_nothing_is_looked_at_that_no_setting_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = Looked(monkeypatch)
    looked.watch.look(Settings(device="cpu"))
    assert looked.found == ["programs"]


def test_somebody_is_looked_for_where_limits_end_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Looked(monkeypatch).watch.look(Settings(when_in_use="limits")).idle == 33.0


def test_who_cannot_tell_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    seen = watch.Watch(list).look(Settings(when_in_use="pause", device="cpu"))
    assert seen.idle is None and "outside a desktop session" in str(seen.idle_unknown)
    monkeypatch.setenv("DISPLAY", "elsewhere.example:0")
    with pytest.raises(CannotTell, match="not on this computer"):
        Idle().seconds()


def test_a_program_is_known_by_its_name_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "running", lambda: {"Steam.exe", "a-very-long-prog"})
    assert programs.first_of(["blender", "steam"]) == "steam"
    assert programs.first_of(["a-very-long-program-name"]) is not None
    assert programs.first_of([]) is None
    assert programs.nearest_to_unknown(["steam", "stean.exe", "zzzz", "sh"]) == {"stean.exe": "Steam.exe", "zzzz": ""}
