"""serve: shows where other programs ask, until Ctrl-C."""

import asyncio
import os
import signal

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.worker.control.messages.serving import GetServer, NewServerKey, Serve, ServerIs
from tests.cli.fake_node import FakeDoor, FakeNode
from tests.cli.words import Words

KEY = "sk-sapo-secret"


class Serving(FakeNode):
    """Ctrl-C is pressed once the address is known; `refuses`: it cannot listen."""

    refuses = False
    kept = True

    async def call(self, request: Request) -> Message:
        self.requests.append(request)
        match request:
            case Serve():
                if self.refuses:
                    raise UsageError("It cannot listen.")
                await asyncio.Event().wait()
            case GetServer() | NewServerKey():
                if any(isinstance(one, Serve) for one in self.requests):
                    asyncio.get_running_loop().call_later(0.1, os.kill, os.getpid(), signal.SIGINT)
                return ServerIs(url="" if self.refuses else "http://127.0.0.1:8766/v1", key=KEY, kept=self.kept)
        return await super().call(request)


@pytest.fixture
def door() -> FakeDoor:
    return FakeDoor(node=Serving(), there=True)


def test_it_shows_address_and_key_until_ctrl_c(run: Words, door: FakeDoor) -> None:
    assert run("serve", "--port", "9000") == 0
    assert "http://127.0.0.1:9000" not in run.stdout and "http://127.0.0.1:8766/v1\n" in run.stdout
    assert KEY in run.stdout and "no keyring" not in run.stdout
    assert [type(one) for one in door.node.requests[:2]] == [Serve, GetServer]
    assert door.node.requests[0] == Serve(port=9000)


def test_a_program_reads_them(run: Words, door: FakeDoor) -> None:
    assert run("serve", "--new-key", "--json") == 0
    assert isinstance(door.node.requests[0], NewServerKey)
    (line,) = run.lines
    assert (line["event"], line["url"], line["key"], line["kept"]) == (
        "serving", "http://127.0.0.1:8766/v1", KEY, True
    )  # fmt: skip


def test_what_lasts_for_a_run_only_is_said(run: Words, door: FakeDoor) -> None:
    assert isinstance(door.node, Serving)
    door.node.kept = False
    assert run("serve") == 0 and "SAPO_SERVER_KEY" in run.stdout


def test_where_it_cannot_listen_it_says_so(run: Words, door: FakeDoor) -> None:
    assert isinstance(door.node, Serving)
    door.node.refuses = True
    assert run("serve") == 2 and "It cannot listen." in run.stderr


@pytest.mark.parametrize("port", ["80", "65536", "x", "-1", "9000.5"])
def test_a_port_that_is_none_is_refused(run: Words, port: str) -> None:
    assert run("serve", "--port", port) == 2 and "port" in run.stderr
