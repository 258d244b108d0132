"""settings, erase, remote: what is stored, with a node and without one."""

from pathlib import Path

import pytest

from sapo_desktop.core import settings_file
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.presence import sensors
from sapo_desktop.system.secrets.kept_secrets import remote_key
from sapo_desktop.worker.control.lock import FolderLock
from sapo_desktop.worker.control.messages import requests
from tests.cli.fake_node import FakeDoor
from tests.cli.words import Words

SEED_OF_SEVEN = {"event": "setting", "key": "seed", "value": 7, "default": 0, "changed": True} | dict.fromkeys(
    ("this_run_only", "waiting"), False
)
SEED_OF_SEVEN["unsupported"] = ""


def test_the_key_of_a_server_is_kept_and_shown_nowhere(run: Words, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, str] = {}
    monkeypatch.setattr(remote_key, "keep", kept.__setitem__)
    monkeypatch.setattr("getpass.getpass", lambda prompt: "the-secret ")
    assert run("remote-key", "http://gpu:8000", "--json") == 0
    assert kept == {"http://gpu:8000": "the-secret"}
    assert run.lines == [{"event": "remote-key", "url": "http://gpu:8000", "kept": True}]
    assert "the-secret" not in run.stdout + run.stderr


def test_settings_are_shown_set_and_reset(run: Words, door: FakeDoor) -> None:
    assert run("settings", "set", "seed", "7") == 0
    assert run("settings", "set", "max-tokens=64", "curriculum=off") == 0
    assert (door.node.settings.seed, door.node.settings.max_tokens, door.node.settings.curriculum) == (7, 64, False)
    assert run("settings", "get", "seed", "--json") == 0
    assert run.lines == [SEED_OF_SEVEN]
    assert run("settings", "reset", "seed") == 0
    assert door.node.settings.seed == 0
    assert run("settings") == 0
    assert "max_tokens" in run.stdout


def test_what_the_nodes_computer_cannot_keep_stands_next_to_the_setting_with_the_reason(
    run: Words, door: FakeDoor
) -> None:
    door.node.unsupported = {"hottest": "No sensors.", "when_in_use": "No desktop.", "keep_awake": "No desktop."}
    assert run("settings") == 0
    assert "not here: hottest. No sensors." in run.stdout
    assert "not here: when_in_use, keep_awake. No desktop." in run.stdout
    assert run("settings", "get", "hottest", "--json") == 0
    assert run.lines[-1]["unsupported"] == "No sensors."
    assert run("settings", "get", "seed") == 0
    assert not isinstance(door.node.requests[-1], requests.GetUnsupported) and "not here" not in run.stdout


@pytest.mark.usefixtures("computer")
def test_the_login_of_a_proxy_stays_in_the_file(run: Words, door: FakeDoor) -> None:
    assert run("settings", "set", "proxy", "http://user:s3cret@proxy.example:3128") == 0
    assert door.node.settings.proxy == "http://user:s3cret@proxy.example:3128"
    for words in (("settings",), ("settings", "get", "proxy", "--json"), ("status",), ("doctor",)):
        assert run(*words) == 0
        assert "s3cret" not in run.stdout + run.stderr
        assert ("***@proxy.example:3128" in run.stdout) == (words[0] == "settings")


def test_without_a_node_settings_are_a_file(gone: None, run: Words, door: FakeDoor, tmp_path: Path) -> None:
    assert run("settings", "set", "model=/no/such/folder", "seed=7") == 0
    assert run("settings", "get", "seed", "--json") == 0
    assert run.lines == [SEED_OF_SEVEN]
    assert run("settings", "reset", "--all") == 0
    assert settings_file.read(tmp_path / "settings.toml", 0.0).settings == Settings()
    assert door.node.requests == []


def test_without_a_node_what_cannot_be_kept_here_is_said_and_kept(
    gone: None, run: Words, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sensors, "degrees", lambda: None)
    assert run("settings", "set", "hottest", "80") == 0
    assert "it will have no effect. This computer reports no temperature" in run.stderr
    assert settings_file.read(tmp_path / "settings.toml", 0.0).settings.hottest == 80
    assert run("settings", "set", "hottest", "0") == 0 and "no temperature" not in run.stderr


def test_a_settings_file_that_is_damaged_is_said_and_left(gone: None, run: Words, tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("seed = = 1")
    for words in (("settings",), ("settings", "set", "seed=2")):
        assert run(*words) == 2
        assert "settings.toml is damaged" in run.stderr and "at line 1" in run.stderr
    assert (tmp_path / "settings.toml").read_text() == "seed = = 1"


def test_what_a_node_keeps_is_deleted_after_a_question(run: Words, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = DataFolder.open(run.folder)
    folder.history.write_text("x")
    for answer, code in (("n", 1), ("y", 0)):
        monkeypatch.setattr("sapo_desktop.commands.settings.typed_line", lambda *about, answer=answer: answer)
        assert run("erase", "learned") == code
        assert str(folder.history) in run.stdout and folder.history.exists() == bool(code)
    assert run("erase", "learned", "--yes") == 0 and "Nothing of that" in run.stdout
    folder.history.write_text("x")
    with FolderLock(folder):
        assert run("erase", "learned", "--yes") == 1 and "already runs" in run.stderr
    assert folder.history.exists()
