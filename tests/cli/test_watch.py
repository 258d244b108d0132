"""What Ctrl-C says while a node is watched."""

from types import SimpleNamespace
from typing import Any

from sapo_desktop.commands.line.context import Attached
from sapo_desktop.commands.line.watch import Watch
from sapo_desktop.terminal.dashboard import Dashboard
from tests.cli.fake_node import FakeNode


async def test_the_second_ctrl_c_says_that_it_is_ending() -> None:
    said: list[str] = []
    view: Any = SimpleNamespace(said=said.append, redraw=lambda: None)
    context: Any = SimpleNamespace()
    watch = Watch(context, Dashboard("d"), view, Attached(FakeNode(), started=True), in_charge=True, _begun=True)
    watch.dashboard.reason = "Finishing round 7, then ending"
    for _ in range(2):
        watch._interrupt()
        assert watch._asking is not None
        await watch._asking
    assert said[-1] == "Ending now, without the half round."
    assert watch.dashboard.reason == "Ending" and watch.told_to_end
