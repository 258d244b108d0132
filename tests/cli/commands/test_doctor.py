"""doctor and engine: findings, advice, and a report for a bug."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from sapo_desktop.commands import doctor
from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.records import Check
from sapo_desktop.system import diagnosis
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.worker.control.client import Attached
from sapo_desktop.worker.control.messages.facts import COMPUTING
from tests.cli.fake_node import FakeDoor
from tests.cli.fake_replies import LINK
from tests.cli.words import Words


def test_doctor_says_that_a_node_which_is_held_back_does_not_compute(run: Words, computer: list[Check]) -> None:
    computer.append(Check(COMPUTING, "limited", "Paused: on battery (BAT0, 55%).", "Plug it in."))
    assert run("doctor") == 0
    assert "is not computing now. Paused: on battery (BAT0, 55%)." in run.stdout and "Nothing keeps" not in run.stdout


def test_the_engine_pack_is_of_an_installed_application(
    run: Words, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    async def engine_pack(*words: str) -> None:
        done.append(words[0])

    monkeypatch.setattr(doctor, "_engine_pack", engine_pack)
    monkeypatch.setattr(doctor.installation, "payload", lambda: None)
    assert run("engine", "remove") == 2 and "installed application" in run.stderr
    monkeypatch.setattr(doctor.installation, "payload", lambda: tmp_path)
    assert run("engine", "remove", "--json") == 0 and run.lines[0]["event"] == "ok"
    assert run("engine", "fetch", str(tmp_path / "pack"), "--json") == 0
    assert run.lines == [{"event": "written", "file": str(tmp_path / "pack"), "what": "engine pack"}]
    assert done == ["remove", "fetch"]


@pytest.mark.usefixtures("computer")
def test_doctor_tells_what_it_found_even_where_the_node_fails(run: Words, door: FakeDoor, tmp_path: Path) -> None:
    assert run("doctor") == 0
    assert "torch" in run.stdout and "Nothing keeps this node from working." in run.stdout
    door.node.fail = SapoError("The starter is missing.")
    assert run("doctor", "--report", str(tmp_path / "report.txt")) == 1
    assert "did not answer: The starter is missing." in (tmp_path / "report.txt").read_text()


def test_doctor_sees_that_the_clock_was_put_back_though_the_node_it_starts_writes(
    run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    history, later = DataFolder.open(run.folder).history, 4e9
    history.touch()
    os.utime(history, (later, later))
    seen: list[float] = []
    started = door.running_or_started

    async def writing(folder: Path, overrides: Mapping[str, str]) -> Attached:
        history.touch()
        return await started(folder, overrides)

    def looked(folder: DataFolder, written: float, *about: object) -> list[Check]:
        seen.append(written)
        return []

    monkeypatch.setattr(door, "running_or_started", writing)
    monkeypatch.setattr("sapo_desktop.commands.doctor.computer_checks", looked)
    assert run("doctor") == 0
    assert seen == [later]


@pytest.mark.usefixtures("gone")
def test_doctor_where_only_a_relay_was_set_up_starts_no_node(
    run: Words, door: FakeDoor, computer: list[Check], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sapo_desktop.system.installation.only_relays", lambda: True)
    monkeypatch.setattr("sapo_desktop.commands.doctor.relay_checks", lambda *about: list(computer))
    door.node.fail = SapoError("A node needs torch.")
    assert run("doctor") == 0
    assert "No relay is running on this folder." in run.stdout and "bootstrap.py relay" in run.stdout
    assert "engine pack" not in run.stdout and "Nothing keeps this relay from working." in run.stdout


def test_a_check_that_fails_is_said_with_what_to_do(run: Words, computer: list[Check]) -> None:
    computer.append(Check(name="disk", state="bad", found="100 MB free.", advice="Make room."))
    computer.append(Check(name="tray", state="limited", found="There is none.", advice="Look for one."))
    assert run("doctor") == 1
    assert "bad      disk           100 MB free.\n         to do:         Make room.\n" in run.stdout
    assert "Problems: disk. Each comes with advice." in run.stderr
    assert run("doctor", "--json") == 1
    assert run.lines[0] == {"event": "check", "name": "disk", "state": "bad", "found": "100 MB free."} | {
        "advice": "Make room."
    }


def test_the_report_for_a_bug_names_nobody(
    run: Words, computer: list[Check], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnosis.getpass, "getuser", lambda: "wilma")
    monkeypatch.setattr(diagnosis.platform, "node", lambda: "wilmas-laptop.home.arpa")
    monkeypatch.setenv("HOME", "/home/wilma")
    monkeypatch.setenv("USERPROFILE", "/home/wilma")
    monkeypatch.setenv("SAPO_PASSPHRASE", "open sesame twice")
    address = f"wss://peer.example:8765#{'ab' * 32}"
    (tmp_path / "settings.toml").write_text(f'peers = "{address}"\nlabel = "anna"\nanswers = 4\n')
    (tmp_path / "logs").mkdir()
    said = [f"linked to {address}", f"read {tmp_path}/cache", "read /home/wilma/x", "wilma at wilmas-laptop"]
    said += ["peer.example does not answer", "192.168.7.9:8765", f"key {'ab' * 8}", "open sesame twice", LINK]
    (tmp_path / "logs" / "worker.log").write_text("\n".join(said))
    computer.append(Check(name="peers", state="bad", found=f"Nobody at {address}.", advice="Ask wilma."))
    assert run("doctor", "--report", str(tmp_path / "report.txt")) == 1, "the peer"
    text = (tmp_path / "report.txt").read_text()
    assert "peers = (set)" in text and "label = (set)" in text and "answers = 4" in text
    assert "linked to wss://<address>" in text and "read <data folder>/cache" in text
    planted = ("peer.example", "abab", "anna", "wilma", "192.168", "sesame", "home.arpa", "a.example", str(tmp_path))
    assert not [private for private in planted if private in text]
