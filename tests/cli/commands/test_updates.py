"""The updates command: what it says about this version, alone and through a running node."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sapo_desktop import __version__
from sapo_desktop.core import settings_file
from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.updates.manifest import Standing
from sapo_desktop.system.checks import versions
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.worker.control.messages.facts import GetUpdates, UpdatesAre
from sapo_desktop.worker.hosts import updates
from tests.cli.fake_node import FakeDoor, FakeNode
from tests.cli.words import Words
from tests.core.updates.signing import FILE, public, served
from tests.models.hub_server import with_a_network

DAY = datetime.timedelta(days=1)
NEWER = Standing(state="newer", text="It is there.", version="9.9.9", changelog="**Faster**", files=[FILE])


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Words]:
    """No node runs; a build that has a release address, where 9.9.9 is."""
    with_a_network(monkeypatch)
    today = datetime.datetime.now(datetime.UTC).date()
    with served(tmp_path / "site", version="9.9.9", least_version="0.0.1", date=today, expires=today + DAY) as address:
        build = tmp_path / "updates.toml"
        build.write_text(f'address = "{address}"\nkeys = ["{public(1)}"]\n')
        monkeypatch.setattr(updates, "resource", lambda name: build)
        monkeypatch.setattr("sys.platform", "linux")
        words = Words(tmp_path / "node", FakeDoor(), capsys)
        settings_file.write(DataFolder.open(words.folder).settings, Settings(silo=False))
        yield words


def test_it_says_what_is_new(alone: Words) -> None:
    assert alone("updates") == 0 and "Not checked yet" in alone.stdout
    assert alone("updates", "check") == 0
    assert "Version 9.9.9 of " in alone.stdout and f"is available; this one is {__version__}." in alone.stdout
    assert "**Faster**: rounds." in alone.stdout and FILE.name in alone.stdout
    assert alone("updates", "--json") == 0
    assert (alone.lines[0]["event"], alone.lines[0]["state"]) == ("updates", "newer")


def test_in_silo_and_switched_off_nothing_is_asked(alone: Words) -> None:
    settings_file.write(alone.folder / "settings.toml", Settings())
    assert alone("updates", "check") == 1 and "in silo" in alone.stderr
    settings_file.write(alone.folder / "settings.toml", Settings(silo=False, look_for_updates=False))
    assert alone("updates", "check") == 2 and "look_for_updates is off" in alone.stderr
    assert not (alone.folder / "updates.json").exists()


def test_a_build_without_an_address_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    build = tmp_path / "updates.toml"
    build.write_text("")
    monkeypatch.setattr(updates, "resource", lambda name: build)
    words = Words(tmp_path / "node", FakeDoor(), capsys)
    assert words("updates") == 0 and "This build has no release address" in words.stdout
    assert words("updates", "check") == 1 and "This build has no release address" in words.stderr
    monkeypatch.setattr("sapo_desktop.commands.doctor.computer_checks", lambda *about: [versions(about[-1])])
    assert words("doctor", "--json") == 0
    said = {line["name"]: line for line in words.lines if line["event"] in ("fact", "check")}
    assert "no release address" in str(said["versions"]["found"]) and said["command line"]["value"] == __version__


@dataclass
class UpdatedNode(FakeNode):
    async def call(self, request: Request) -> Message:
        if isinstance(request, GetUpdates):
            self.requests.append(request)
            return UpdatesAre(standing=NEWER)
        return await super().call(request)


def test_a_running_node_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "node").mkdir()
    node = UpdatedNode()
    run = Words(tmp_path / "node", FakeDoor(node=node, there=True), capsys)
    assert run("updates") == 0 and "It is there." in run.stdout and "**Faster**" in run.stdout
    assert run("updates", "check") == 0
    assert [request for request in node.requests if isinstance(request, GetUpdates)] == [
        GetUpdates(),
        GetUpdates(look=True),
    ]
