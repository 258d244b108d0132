"""What a node is made to do by a look at its computer and at itself."""

import os
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import OnBattery
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.presence.watch import Presence
from sapo_desktop.worker import guest as guest_module
from sapo_desktop.worker.governor import NodeState
from sapo_desktop.worker.guest import Guest
from tests.worker.test_node import SETTINGS, Scene


class Side:
    """A side of the swarm that notes whether it is kept out."""

    network = None
    hosts: tuple[object, ...] = ()

    def __init__(self) -> None:
        self.barred = False

    async def bar(self, barred: bool) -> None:
        self.barred = barred


class Looked:
    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, settings: Settings) -> None:
        self.scene = Scene(folder, settings, 1e9)
        self.scene.engine.host.pid = self.scene.examiner.host.pid = os.getpid()
        self.side = Side()
        assembled = SimpleNamespace(node=self.scene.node, side=self.side)
        self.guest = Guest(assembled, DataFolder(folder))  # type: ignore[arg-type]
        self.here = Presence()
        patch.setattr(self.guest._watch, "look", lambda settings: self.here)
        patch.setattr(guest_module, "models_folder", lambda settings: folder / "models")
        self.scene.node.orders.start(None)

    async def close(self) -> None:
        await self.scene.node.close()


async def test_what_is_seen_is_obeyed_and_a_metered_link_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = Looked(tmp_path, monkeypatch, msgspec.structs.replace(SETTINGS, silo=False))
    await it.guest.begin()
    assert it.scene.gate.state is NodeState.WORKING
    it.here = Presence(on_battery=True)
    await it.guest._look()
    assert it.scene.gate.why == OnBattery() and not it.side.barred
    it.here = Presence(metered=True)
    await it.guest._look()
    assert it.side.barred and it.scene.gate.state is NodeState.PAUSED
    await it.close()


async def test_who_cannot_tell_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    it = Looked(tmp_path, monkeypatch, SETTINGS)
    it.here = Presence(idle_unknown="No desktop.")
    for _ in range(2):
        await it.guest._look()
    assert [text for text in it.scene.notices() if "No desktop." in text] == [
        "No desktop. Settings that depend on it do nothing."
    ]
    await it.close()


async def test_a_long_pause_gives_memory_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    it = Looked(tmp_path, monkeypatch, msgspec.structs.replace(SETTINGS, memory_back_after=1))
    it.scene.node.orders.pause(None)
    await it.guest._look()
    assert it.scene.engine.running
    it.scene.gate._asleep_since -= 61  # type: ignore[operator]
    await it.guest._look()
    assert not it.scene.engine.running
    await it.close()


async def test_too_little_memory_and_disk_are_said_with_what_would_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = msgspec.structs.replace(SETTINGS, memory_most=0.001, disk_gigabytes=1e-6)
    it = Looked(tmp_path, monkeypatch, small)
    for _ in range(2):
        await it.guest._look()
    said = it.scene.notices()
    assert sum("loaded anew, with less at once" in text for text in said) == 1
    assert sum("raise it, or remove a model" in text for text in said) == 1
    assert it.guest.meter.disk > 0
    await it.close()
