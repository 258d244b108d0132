"""`sapo-desktop relay`, on a relay without a process: its output, and how it ends."""

import os
import signal
from types import SimpleNamespace

import pytest

from sapo_desktop.commands.line.parser import build_parser
from sapo_desktop.commands.relay import _options
from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.worker.control.messages.events import Event, Stopping
from sapo_desktop.worker.control.messages.facts import Notice
from sapo_desktop.worker.control.messages.replies import RelayStatus
from sapo_desktop.worker.control.messages.requests import GetStatus, Quit
from sapo_desktop.worker.control.messages.swarm import RelayOptions, SwarmInfo
from tests.cli.fake_node import FakeDoor, FakeNode
from tests.cli.fake_replies import LINK
from tests.cli.words import Words

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


def relay_options(*words: str) -> RelayOptions:
    return _options(build_parser().parse_args(["relay", "--listen", "[::]:1", *words]))


def test_a_relay_takes_its_swarm_from_a_link() -> None:
    assert relay_options() == RelayOptions(listen="[::]:1")
    given = relay_options("--peer", "wss://b.example:8766", "--invite", LINK)
    assert given.peers == "wss://b.example:8766,wss://a.example:8765"
    assert (given.invited, given.swarm, given.admission) == ("wss://a.example:8765", "5a" * 32, "0f" * 72)
    nearby = LINK.replace("a.example", "localhost")
    with pytest.raises(UsageError, match=r"leads to wss://localhost:8765.*--private-addresses"):
        relay_options("--invite", nearby)
    assert relay_options("--invite", nearby, "--private-addresses").invited == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--backbone-credentials", "FILE"], "--backbone URL"),
        (["--backbone-shards", "64"], "--backbone URL"),
        (["--admission", "0f" * 72], "--swarm"),
    ],
)
def test_a_relays_option_without_the_one_it_belongs_to_is_refused(words: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        relay_options(*words)
