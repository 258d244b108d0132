"""`sapo-desktop relay`, on a relay without a process: its output, and how it ends."""

import os
import signal
from types import SimpleNamespace

import pytest

from sapo_desktop.worker.control.messages.base import Message, Request
from sapo_desktop.worker.control.messages.events import Event, Stopping
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.control.messages.replies import RelayStatus
from sapo_desktop.worker.control.messages.requests import GetStatus, Quit
from sapo_desktop.worker.control.messages.swarm import RelayOptions, SwarmInfo
from tests.cli.fake_node import FakeDoor, FakeNode
from tests.cli.test_cli import Words

STATUS = RelayStatus(swarm=SwarmInfo(state="linked", reason="Relaying."), pid=1, version="0.1.0", uptime=1.0)


class Relay(FakeNode):
    """Says where it relays once it was asked how it stands; what comes `then` is up to the test."""

    then: Event | int | None = None

    async def call(self, request: Request) -> Message:
        reply = await super().call(request)
        if not isinstance(request, GetStatus):
            return reply
        self.publish(Notice(level="info", text="Relaying at wss://relay.example:1"))
        if isinstance(self.then, int):
            os.kill(os.getpid(), self.then)
        else:
            self.publish(self.then)
        return STATUS


@pytest.fixture
def door() -> FakeDoor:
    return FakeDoor(node=Relay())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_good_order(run: Words, door: FakeDoor, number: int) -> None:
    door.node.then = number  # type: ignore[attr-defined]
    assert run("relay", "--listen", "[::]:1", "--json") == 0
    assert {line["event"] for line in run.lines} == {"notice", "swarm"}
    assert "Relaying at wss://relay.example:1" in run.stderr
    assert door.node.requests == [GetStatus(), Quit()] and door.node.closed == 1
    assert door.relay == RelayOptions(listen="[::]:1")


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Stopping(failed=True, reason="The port is taken."), "The port is taken."),
        (None, "ended without any output. (The relay's log is in"),
    ],
)
def test_a_relay_that_fails_gives_its_reason(run: Words, door: FakeDoor, event: Event | None, said: str) -> None:
    door.node.then = event  # type: ignore[attr-defined]
    assert run("relay", "--listen", "[::]:1") == 1
    assert said in run.stderr and door.node.closed == 1


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGHUP")
def test_a_relay_ends_with_its_terminal(run: Words, door: FakeDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    door.node.then = signal.SIGHUP  # type: ignore[attr-defined]
    assert run("relay", "--listen", "[::]:1", "--json") == 0
    assert door.node.requests == [GetStatus(), Quit()]


def test_on_a_relays_folder_a_command_for_nodes_says_what_runs_there(run: Words, door: FakeDoor) -> None:
    door.node.then = None  # type: ignore[attr-defined]
    assert run("history") == 1
    assert "A relay runs on this folder" in run.stderr
