"""Each check of this computer, once good and once not; a failed one says what to do."""

import os
import time
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.errors import KeyringClosed
from sapo_desktop.core.records import Check
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.updates.manifest import Standing
from sapo_desktop.system import checks
from sapo_desktop.system.checks import SET_CLOCK
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.hardware import Gpu, Hardware
from tests.builders import MACHINE
from tests.test_arrows import ROOT, declared

NOW = time.mktime((2026, 6, 1, 12, 0, 0, 0, 0, -1))
CARD = Gpu(name="Card 9", memory=8_000_000_000, free=6_000_000_000)


def machine(**values: object) -> Hardware:
    return msgspec.structs.replace(MACHINE, **values)


def standing(state: str, text: str) -> Standing:
    return Standing(state=state, text=text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("check", "state", "words"),
    [
        (checks.versions(standing("current", "It is the newest.")), "good", "SAPO Desktop 0"),
        (checks.versions(standing("newer", "0.9 is there.")), "limited", "updates"),
        (checks.versions(standing("urgent", "Not safe any more.")), "bad", "updates"),
        (checks.libraries({"rich": "15.0", "psutil": "7.2"}), "good", "All 2"),
        (checks.libraries({"rich": None, "psutil": "7.2", "numpy": None}), "bad", "rich, numpy"),
        (checks.engine_pack(can_learn=True, by_installer=True), "good", "is installed"),
        (checks.engine_pack(can_learn=True, by_installer=True, other="linux-cuda"), "limited", "linux-cuda fits now"),
        (checks.engine_pack(can_learn=False, by_installer=True), "limited", "engine install"),
        (checks.engine_pack(can_learn=False, by_installer=False), "bad", "bootstrap.py setup"),
        (checks.display(""), "good", "can be opened"),
        (checks.display("There is no display."), "limited", "sapo-desktop run"),
        (checks.tray(no_window=False, there=True), "good", "shows tray icons"),
        (checks.tray(no_window=False, there=False), "limited", "AppIndicator"),
        (checks.tray(no_window=True, there=True), "limited", "sapo-desktop run"),
        (checks.keyring("SecretService"), "good", "SecretService"),
        (checks.keyring(""), "limited", "identity protect"),
        (checks.keyring("", in_file=True), "good", "protected by a passphrase"),
        (checks.keyring("SecretService", "it is locked."), "bad", "Unlock it"),
        (checks.ports(""), "good", "reach a node"),
        (checks.ports("Permission denied"), "bad", "firewall"),
        (checks.clock(NOW, NOW - 60, True), "good", "2026-06-01"),
        (checks.clock(NOW, 0.0, None), "good", "2026-06-01"),
        (checks.clock(NOW, NOW - 60, False), "limited", "set-ntp"),
        (checks.clock(NOW, NOW + 7200, None), "bad", "120 minutes later"),
        (checks.clock(86_400.0, 0.0, True), "bad", "long ago"),
        (checks.disk("disk", Path("/"), 50_000_000_000), "good", "50.0 GB free"),
        (checks.disk("disk", Path("/"), 1_000_000_000), "limited", "before you download"),
        (checks.disk("disk", Path("/"), 100_000_000), "bad", "or choose a folder on another disk"),
        (checks.memory(machine(memory=8_000_000_000, memory_free=4_000_000_000)), "good", "4.0 GB of 8"),
        (checks.memory(machine(memory_free=900_000_000)), "limited", "Close programs"),
        (checks.graphics(machine(gpus=[CARD]), Settings(), 1), "good", "Card 9, 6.0 GB of 8.0 GB free"),
        (checks.graphics(machine(gpus=[], idle_gpus=["Card 9"]), Settings(), 1), "limited", "engine install"),
        (checks.graphics(machine(gpus=[]), Settings(), 1), "limited", "driver"),
        (checks.graphics(machine(gpus=[]), Settings(), 0), "good", "the processor computes"),
        (checks.graphics(machine(gpus=[], unified=True), Settings(), None), "good", "Apple"),
        (checks.graphics(machine(gpus=[]), Settings(device="cuda"), None), "bad", "settings reset device"),
    ],
)
def test_a_check_and_what_to_do(check: Check, state: str, words: str) -> None:
    assert check.state == state and words in f"{check.found} {check.advice}"
    assert bool(check.advice) == (state != "good"), "what is not good says what to do, and nothing else does"


def test_a_folder_that_cannot_be_written_or_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert checks.disk("disk", tmp_path / "not" / "yet", 9_000_000_000).state == "good"
    monkeypatch.setattr(checks.os, "access", lambda path, mode: False)
    closed = checks.disk("disk", tmp_path, 9_000_000_000)
    assert closed.state == "bad" and "cannot be written" in closed.found and "--data" in closed.advice
    monkeypatch.undo()
    away = Settings(models_folder=str(tmp_path / "stick"))
    assert checks._models_disk(tmp_path / "stick", away).state == "bad"
    assert checks._models_disk(tmp_path / "stick", Settings()).state in ("good", "limited")


def test_cards_without_a_driver_are_found_on_the_bus(tmp_path: Path) -> None:
    assert checks._nvidia_cards_on_the_bus(tmp_path / "no") is None
    for name, vendor, kind in (("a", "0x10de", "0x030000"), ("b", "0x10de", "0x040300"), ("c", "0x8086", "0x030000")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "vendor").write_text(f"{vendor}\n")
        (tmp_path / name / "class").write_text(f"{kind}\n")
    assert checks._nvidia_cards_on_the_bus(tmp_path) == 1


class Keyring:
    """A keyring that is locked, or is not."""

    name = "SecretService"

    def __init__(self, locked: KeyringClosed | None) -> None:
        self.locked = locked

    def load(self, user: str) -> None:
        if self.locked:
            raise self.locked


@pytest.mark.parametrize(
    ("locked", "state"),
    [(None, "good"), (KeyringClosed("The keyring is locked: it waits."), "bad")],
)
def test_a_keyring_is_tried(monkeypatch: pytest.MonkeyPatch, locked: KeyringClosed | None, state: str) -> None:
    monkeypatch.setattr(checks, "opened", lambda advice: Keyring(locked))
    check = checks._look_at_keyring()
    assert check.state == state and (not locked or (check.found == str(locked) and "protect" in check.advice))
    monkeypatch.setattr(checks, "opened", lambda advice: None)
    assert checks._look_at_keyring().state == "limited"


def test_a_file_of_the_node_dates_the_clock(tmp_path: Path) -> None:
    folder = DataFolder.open(tmp_path)
    assert checks.last_written(folder) == 0.0
    folder.history.touch()
    os.utime(folder.history, (NOW, NOW))
    assert checks.last_written(folder) == NOW


def test_all_checks_together_name_each_thing_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "opened", lambda advice: None)
    monkeypatch.setattr(checks, "why_no_window", lambda: "")
    monkeypatch.setattr(checks, "_has_tray", lambda: True)
    monkeypatch.setattr(checks, "_is_synchronised", lambda: None)
    found = checks.computer_checks(
        DataFolder.at(tmp_path / "node"), 0.0, tmp_path, Settings(), standing("unknown", "Not checked yet.")
    )
    assert [check.name for check in found] == [
        *("versions", "libraries", "engine pack", "display", "tray", "keyring", "ports", "clock", "disk"),
        *("models' disk", "memory", "graphics card"),
    ]
    assert not (tmp_path / "node").exists(), "looking makes nothing"
    assert SET_CLOCK.endswith(".")


def test_a_relay_is_looked_at_for_what_a_relay_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "opened", lambda advice: None)
    lock = (ROOT / "packaging" / "requirements" / "relay.txt").read_text().lower()
    assert [name for name in checks.OF_A_RELAY if f"{name.lower().replace('_', '-')}==" not in lock] == []
    found = checks.relay_checks(DataFolder.at(tmp_path / "relay"), 0.0, standing("unknown", "Not checked yet."))
    assert [check.name for check in found] == ["versions", "libraries", "keyring", "ports", "clock", "disk"]


def test_the_libraries_are_those_that_the_project_declares() -> None:
    """Those of the lab and of relays are extras, and what learns has a check of its own."""
    named = {name.lower().replace("-", "_") for name in checks.DISTRIBUTIONS}
    extras = {"llama_cpp_python", "matplotlib", "nats_py", "prometheus_client"}
    learns = {"torch", "peft"}
    elsewhere = {"nvidia_ml_py", "jeepney"}
    assert named | elsewhere == declared(ROOT) - extras - learns | elsewhere
