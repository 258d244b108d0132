"""The messages of Ctrl-C while a node is watched."""

import io
from types import SimpleNamespace
from typing import Any

from sapo_desktop.commands.line.watch import Watch
from sapo_desktop.terminal.dashboard import Dashboard
from sapo_desktop.worker.control.client import Attached
from sapo_desktop.worker.control.messages.requests import StartRounds
from tests.cli.fake_node import FakeNode


async def test_the_second_ctrl_c_says_that_it_is_ending() -> None:
    said: list[str] = []
    view: Any = SimpleNamespace(said=said.append, redraw=lambda: None)
    context: Any = SimpleNamespace()
    watch = Watch(context, Dashboard("d"), view, Attached(FakeNode(), started=True), in_charge=True, _begun=True)
    watch.dashboard.reason = "Finishing round 7, then quitting"
    for _ in range(2):
        watch._interrupt()
        assert watch._asking is not None
        await watch._asking
    assert said[-1] == "Stopping now, without the unfinished round."
    assert watch.dashboard.reason == "Ending" and watch.asked_to_end


async def test_a_node_that_is_paused_stays_so() -> None:
    said: list[str] = []
    node = FakeNode(state="paused")
    out: Any = SimpleNamespace(emit=lambda *about, **more: None, stdout=io.StringIO())
    context: Any = SimpleNamespace(out=out, folder="d", data_option=" --data d")
    for rounds in (None, 3):
        view: Any = SimpleNamespace(said=said.append, redraw=lambda: None)
        watch = Watch(context, Dashboard("d"), view, Attached(node, started=False))
        await watch._begin({}, rounds)
        started = [request for request in node.requests if isinstance(request, StartRounds)]
        assert started == ([] if rounds is None else [StartRounds(rounds=3)])
        assert not watch.in_charge
    assert said[1:] == ["It is paused; continue: sapo-desktop resume --data d", said[0]]
    assert node.playing is not None
    node.playing.cancel()
