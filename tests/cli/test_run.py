"""`run` against a node without a process: its output, when it ends, and what Ctrl-C does."""

import asyncio
import json
import os
import signal
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest

from sapo_desktop.cli import main
from sapo_desktop.core import settings_file
from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import Failed
from sapo_desktop.worker.control.messages.events import Event, StateChanged, Stopping
from sapo_desktop.worker.control.messages.requests import GetSettings, JoinSwarm, Quit, StartRounds
from tests.cli.fake_node import FakeDoor, FakeNode
from tests.cli.fake_replies import LINK, scripted_round

ROUND_LINE = {
    "event": "round",
    "swarm_reward": None,
    "local_groups": 8,
    "external_groups": 0,
    "seconds": 2.9,
    "step": False,
    "external_left_out": 0,
    "note": "",
}


def run(folder: Path, door: FakeDoor, *words: str) -> int:
    return main(["run", "--data", str(folder), *words], door)


def sent(node: FakeNode, kind: type[Message]) -> list[Message]:
    return [request for request in node.requests if isinstance(request, kind)]


def events(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_after_three_rounds_it_ends_with_a_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    door = FakeDoor()
    assert run(tmp_path, door, "--rounds", "3") == 0
    words = capsys.readouterr().out
    assert "first answer after" in words
    assert words.count("\nround ") == 3
    assert "3 rounds in" in words
    assert "Held-out  21% (base)" in words
    assert str(tmp_path) in words
    assert sent(door.node, StartRounds) == [StartRounds(rounds=3)]
    assert sent(door.node, Quit) == [Quit()]


def test_what_goes_on_says_what_is_kept_otherwise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "settings.toml").write_text("silo = false\nseed = 7\n")
    assert run(tmp_path, FakeDoor(), "--rounds", "1", "--silo", "--seed", "7") == 0
    assert f"sapo-desktop run --silo --data {tmp_path}" in capsys.readouterr().out
    assert run(tmp_path, FakeDoor(), "--rounds", "1", "--peer", "wss://a:1", "--seed", "0") == 0
    assert "sapo-desktop run --seed 0 --set peers=" in capsys.readouterr().out


def test_a_settings_file_that_is_damaged_meanwhile_hides_no_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "settings.toml").write_text("seed = = 1")
    assert run(tmp_path, FakeDoor(), "--rounds", "1", "--seed", "7") == 0
    assert "sapo-desktop run --seed 7" in capsys.readouterr().out


def test_json_lines_alone_on_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, FakeDoor(), "--rounds", "2", "--json") == 0
    printed = capsys.readouterr()
    lines = events(printed.out)
    assert printed.out.isascii()
    assert [line["event"] for line in lines if line["event"] not in ("answer", "state")] == [
        *("start", "round", "checkpoint", "eval", "eval", "round", "checkpoint", "end")
    ]
    rounds = [line for line in lines if line["event"] == "round"]
    assert next(iter(rounds[0])) == "event" and rounds[0].keys() >= {
        *("round", "reward", "solved", "partial", "swarm_reward", "swarm_low", "swarm_high", "swarm_peers"),
        *("local_groups", "external_groups", "seconds", "tasks", "step", "external_left_out", "checkpoint", "note"),
    }
    assert ROUND_LINE.items() <= rounds[0].items()
    assert (lines[-1]["rounds"], lines[-1]["failed"]) == (2, False)
    assert "2 rounds in" in printed.err


def test_options_are_settings_of_this_run(tmp_path: Path) -> None:
    door = FakeDoor()
    words = ["--seed", "3", "--tasks", "gcd,lcm/easy", "--curriculum", "off", "--set", "max-tokens=64", "--silo"]
    assert run(tmp_path, door, "--rounds", "1", *words) == 0
    assert door.overrides == {
        "seed": "3",
        "tasks": "gcd,lcm/easy",
        "curriculum": "off",
        "max_tokens": "64",
        "silo": "on",
    }


def test_naming_a_peer_or_sharing_is_joining_for_this_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    door = FakeDoor()
    words = ["--peer", "wss://a.example:8765", "--peer", "wss://b.example:8766", "--weighting", "paper", "--share"]
    assert run(tmp_path, door, "--rounds", "1", *words) == 0
    assert door.overrides == {
        "silo": "off",
        "peers": "wss://a.example:8765, wss://b.example:8766",
        "weighting": "paper",
    }
    # Consent is asked for once and outlives the run.
    assert "cannot be withdrawn" in capsys.readouterr().err
    assert settings_file.read(tmp_path / "settings.toml", 0.0).settings.share
    assert run(tmp_path, FakeDoor(), "--rounds", "1", *words) == 0
    assert "cannot be withdrawn" not in capsys.readouterr().err


def test_an_invite_is_followed_before_anybody_is_dialled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    door = FakeDoor()
    assert run(tmp_path, door, "--rounds", "1", "--invite", LINK) == 0
    assert door.overrides == {
        "silo": "off",
        "swarm": "5a" * 32,
        "peers": "wss://a.example:8765",
        "invited": "wss://a.example:8765",
        "admission": "0f" * 72,
    }, "else it would go to the swarm of its settings first"
    asked = [request for request in door.node.requests if isinstance(request, JoinSwarm | StartRounds)]
    assert asked == [JoinSwarm(link=LINK), StartRounds(rounds=1)]
    assert "This node will join the private swarm" in capsys.readouterr().err


def test_the_local_network_is_joining_and_logins_are_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    door = FakeDoor()
    proxy = "socks5h://user:s3cret@proxy.example:1080"
    assert run(tmp_path, door, "--rounds", "1", "--lan", "--set", f"proxy={proxy}") == 0
    assert door.overrides == {"silo": "off", "lan": "on", "proxy": proxy}
    printed = capsys.readouterr()
    assert "s3cret" not in printed.out + printed.err
    assert run(tmp_path, FakeDoor(), "--silo", "--lan") == 2
    assert "--lan" in capsys.readouterr().err


def once_watched(node: FakeNode, begin: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Have the node begin this as soon as a command looks at it."""
    original = node.call

    async def call(request: Request) -> Message:
        if isinstance(request, GetSettings):
            node.playing = asyncio.create_task(begin())
        return await original(request)

    node.call = call  # type: ignore[method-assign]


def test_a_node_at_work_is_watched_and_gets_no_orders(tmp_path: Path) -> None:
    node = FakeNode(state="working", rounds=[scripted_round(1)])
    door = FakeDoor(node=node, there=True)

    async def end_soon() -> None:
        while not node.listeners:
            await asyncio.sleep(0)
        node._end()

    once_watched(node, end_soon)
    assert run(tmp_path, door) == 0
    assert not sent(node, StartRounds)
    assert not sent(node, Quit)
    assert not door.owned


def test_an_idle_node_is_set_to_work_and_owned(tmp_path: Path) -> None:
    door = FakeDoor(there=True)
    assert run(tmp_path, door, "--rounds", "1") == 0
    assert door.owned
    assert sent(door.node, StartRounds)


def test_other_settings_than_the_running_nodes_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    door = FakeDoor(node=FakeNode(state="working", settings=Settings(seed=1)), there=True)
    assert run(tmp_path, door, "--seed", "2") == 1
    assert "other settings (seed)" in capsys.readouterr().err
    assert not sent(door.node, Quit)


def test_a_node_that_vanishes_is_a_failure_with_advice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, FakeDoor(node=FakeNode(die_after=1)), "--json") == 1
    printed = capsys.readouterr()
    assert "It ended without any output" in printed.err
    assert events(printed.out)[-1]["failed"] is True


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (Stopping(failed=True, reason="The disk is full."), "The disk is full."),
        (
            StateChanged(state="failed", reason="The engine keeps dying.", why=Failed(text="", failures=5)),
            "The engine keeps dying.",
        ),
    ],
)
def test_a_failing_node_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str], event: Event, reason: str) -> None:
    node = FakeNode()

    async def fail(rounds: int | None) -> None:
        node.publish(event)

    node._play = fail  # type: ignore[method-assign]
    assert run(tmp_path, FakeDoor(node=node), "--json") == 1
    printed = capsys.readouterr()
    assert printed.err.endswith(reason + "\n")
    last = events(printed.out)[-1]
    assert (last["event"], last["failed"], last["reason"]) == ("end", True, reason)


class Interrupted(FakeNode):
    """Sends this process signals while it plays: one each time it gets to a round named in `at`."""

    def __init__(self, at: Sequence[int], number: int = signal.SIGINT) -> None:
        super().__init__()
        self._at = list(at)
        self._signal = number

    async def _play_one(self, number: int, solved: float) -> None:
        while number in self._at:
            self._at.remove(number)
            asked = len(self.requests)
            os.kill(os.getpid(), self._signal)
            while len(self.requests) == asked:  # what the signal makes the command ask; who only watches leaves
                await asyncio.sleep(0)
        await super()._play_one(number, solved)


@pytest.mark.parametrize(
    ("at", "number", "asked", "rounds"),
    [
        ([2], signal.SIGINT, [Quit(finish_round=True)], 2),
        ([2, 2], signal.SIGINT, [Quit(finish_round=True), Quit()], 1),
        ([2], signal.SIGTERM, [Quit()], 1),
    ],
    ids=["Ctrl-C", "twice", "SIGTERM"],
)
def test_ctrl_c_finishes_the_round_twice_or_sigterm_end_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], at: list[int], number: int, asked: list[Quit], rounds: int
) -> None:
    node = Interrupted(at, number)
    assert run(tmp_path, FakeDoor(node=node)) == 0
    assert sent(node, Quit) == asked and len(node.rounds) == rounds
    assert f"{rounds} round" in capsys.readouterr().out


def test_ctrl_c_leaves_a_node_that_is_only_watched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    node = Interrupted([2])
    node.state = "working"
    once_watched(node, lambda: node._play(None))
    assert run(tmp_path, FakeDoor(node=node, there=True)) == 0
    assert not sent(node, Quit)
    assert "the node continues" in capsys.readouterr().err


def test_the_signals_are_given_back(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    assert run(tmp_path, FakeDoor(), "--rounds", "1") == 0
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
