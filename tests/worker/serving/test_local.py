"""When the local server runs, at which port, and with which key."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sapo_desktop.core.errors import IdentityError, KeyringClosed, UsageError
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.secrets.kept_secrets import server_key
from sapo_desktop.worker.control.messages.events import Event
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.control.messages.serving import GetServer, NewServerKey, Serve, ServerIs
from sapo_desktop.worker.serving.local import LocalService
from tests.worker.serving.programs import FakeModel


class Keyring(dict[str, str]):
    """`missing`: there is none; `closed`: it does not open."""

    missing = False
    closed = False

    def load(self, address: str) -> str | None:
        if self.closed:
            raise KeyringClosed("It does not open.")
        return server_key.given or self.get(address)

    def keep(self, address: str, secret: str) -> None:
        if self.missing:
            raise IdentityError("There is none.")
        self[address] = secret


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> Keyring:
    kept = Keyring()
    monkeypatch.delenv(server_key.variable, raising=False)
    monkeypatch.setattr(server_key, "load", kept.load)
    monkeypatch.setattr(server_key, "keep", kept.keep)
    return kept


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Node:
    def __init__(self, folder: Path) -> None:
        self.events: list[Event] = []
        self.folder = DataFolder.open(folder)
        self.local = self.again(Settings())

    def again(self, settings: Settings) -> LocalService:
        """A new service, as after a start."""
        self.local = LocalService(self.folder, settings, FakeModel(), self.events.append)
        return self.local

    async def follow(self, settings: Settings) -> ServerIs:
        self.local.follow(settings)
        return await self.local.server(GetServer())

    @property
    def said(self) -> list[str]:
        return [str(event.text) for event in self.events if isinstance(event, Notice)]


@pytest.fixture
async def node(tmp_path: Path, keyring: Keyring) -> AsyncIterator[Node]:
    node = Node(tmp_path)
    yield node
    await node.local.close()


async def test_it_is_off_until_the_setting_says_so_and_off_again_at_once(node: Node, port: int) -> None:
    assert await node.follow(Settings()) == ServerIs(url="", key="", kept=False)
    found = await node.follow(Settings(serve=True, serve_port=port))
    assert found.url == f"http://127.0.0.1:{port}/v1" and found.key.startswith("sk-sapo-") and found.kept
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.close()
    assert (await node.follow(Settings(serve_port=port))).url == ""
    with pytest.raises(ConnectionError):
        await asyncio.open_connection("127.0.0.1", port)


async def test_the_key_is_the_same_at_the_next_start_and_another_when_asked(node: Node, keyring: Keyring) -> None:
    on = Settings(serve=True, serve_port=0)
    first = await node.follow(on)
    await node.local.close()
    node.again(on)
    assert (await node.follow(on)).key == first.key
    renewed = await node.local.renew_key(NewServerKey())
    assert renewed.url and renewed.key != first.key and list(keyring.values()) == [renewed.key]


async def test_without_a_keyring_the_key_lasts_for_this_run_and_says_so(node: Node, keyring: Keyring) -> None:
    keyring.missing = True
    found = await node.follow(Settings(serve=True, serve_port=0))
    assert found.url and not found.kept and keyring == {}


async def test_the_environment_names_the_key(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(server_key.variable, "a-key-of-my-own-choice")
    assert (await node.follow(Settings(serve=True, serve_port=0))).key == "a-key-of-my-own-choice"
    with pytest.raises(UsageError, match=server_key.variable):
        await node.local.renew_key(NewServerKey())


async def test_a_closed_keyring_or_a_used_port_is_said_and_can_be_tried_again(
    node: Node, keyring: Keyring, port: int
) -> None:
    on = Settings(serve=True, serve_port=port)
    keyring.closed = True
    assert str((await node.follow(on)).error) == "It does not open."
    keyring.closed = False
    with socket.create_server(("127.0.0.1", port)):
        found = await node.follow(on)
    assert not found.url and f"port {port}" in str(found.error)
    assert len(node.said) == 2
    assert (await node.follow(on)).url and len(node.said) == 2


async def test_a_command_runs_it_for_as_long_as_it_asks(node: Node, port: int) -> None:
    serving = asyncio.create_task(node.local.serve(Serve(port=port)))
    await asyncio.sleep(0)
    assert (await node.local.server(GetServer())).url.endswith(f":{port}/v1")
    with pytest.raises(UsageError, match="already"):
        await node.local.serve(Serve(port=1 + port))
    serving.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await serving
    await asyncio.sleep(0)
    assert (await node.local.server(GetServer())).url == ""


async def test_a_command_that_cannot_have_its_port_learns_why(node: Node, port: int) -> None:
    with socket.create_server(("127.0.0.1", port)), pytest.raises(UsageError, match=f"port {port}"):
        await node.local.serve(Serve(port=port))
    assert node.said == []
