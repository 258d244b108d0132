"""Messages about settings that this computer or this model cannot keep."""

import socket
from pathlib import Path

import pytest

from sapo_desktop.core.settings import Settings
from sapo_desktop.models.describe import describe
from sapo_desktop.models.starter import starter_folder
from sapo_desktop.system import beyond
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.worker.control.keepable import before_a_start, doubts

STARTER = describe(starter_folder())


def said(settings: Settings, key: str) -> str:
    return " ".join(map(str, doubts(settings, {key})))


@pytest.mark.parametrize(
    ("settings", "key", "expected"),
    [
        (Settings(max_tokens=8192), "max_tokens", f"This model has a context of {STARTER.context} tokens"),
        (Settings(memory_most=0.1), "memory_most", "but memory_most leaves"),
        (Settings(generator="torch", trainer="none"), "trainer", "Set generator to llama.cpp"),
        (Settings(generator="remote"), "generator", "In silo nothing leaves this computer"),
        (Settings(generator="remote", silo=False), "generator", "Set remote_url"),
        (Settings(generator="remote"), "silo", "In silo nothing leaves this computer"),
        (Settings(model="nowhere"), "model", "A node cannot start with these settings"),
        (Settings(hottest=40), "hottest", "It is 45 °C now"),
        (Settings(models_folder="/nowhere/models"), "models_folder", "cannot write to /"),
        (Settings(remote_adapters="/nowhere/adapters"), "remote_adapters", "cannot write to /"),
    ],
)
def test_what_does_not_go_together_is_said_when_it_is_set(
    settings: Settings, key: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beyond, "degrees", lambda: 45.0)
    monkeypatch.setattr(beyond.os, "access", lambda path, mode: False)
    assert expected in said(settings, key)


def test_a_place_that_is_taken_or_none_of_this_computer_is_said_before_a_start(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for where in ("203.0.113.5:8765", f"127.0.0.1:{taken.getsockname()[1]}"):
            (text,) = before_a_start(DataFolder.at(tmp_path), Settings(listen=where), {"listen"})
            assert str(text).startswith(f"Cannot listen at {where}: ")


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        (Settings(max_tokens=256, memory_most=8.0), "max_tokens"),
        (Settings(max_tokens=256, memory_most=8.0), "memory_most"),
        (Settings(hottest=90), "hottest"),
        (Settings(max_tokens=8192), "label"),
    ],
)
def test_nothing_is_said_of_what_can_be_kept(
    tmp_path: Path, settings: Settings, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beyond, "degrees", lambda: 45.0)
    assert said(settings, key) == ""
    folder = DataFolder.at(tmp_path)
    assert before_a_start(folder, Settings(listen="127.0.0.1:0"), {"listen"}) == []
    assert doubts(Settings(models_folder=str(tmp_path / "models")), {"models_folder"}) == []
