"""A real chat model and the starter share over a relay: each scores the other's answers, and learns from them."""

from collections.abc import Callable

import pytest

from tests.reference import reference
from tests.whole.programs import Program, address, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

TASKS = "chain_sum/first,simple_equations/first,spell_backward/first"
SHORT = ["--tasks", TASKS, "--curriculum", "off", "--mix", "4/4"]
for item in ("questions=4", "validate_every=0", "low_priority=off", "threads=1"):
    SHORT += ["--set", item]


def test_groups_of_the_reference_and_of_the_starter_travel_both_ways(start: Callable[..., Program]) -> None:
    relay = start("relay", "relay", "--listen", "127.0.0.1:0")
    joins = ["run", "--share", "--peer", address(relay), *SHORT]
    chat = start("chat", *joins, "--model", str(reference()), "--seed", "1")
    starter = start("starter", *joins, "--seed", "2")
    for node in (chat, starter):
        until(lambda node=node: node.events("round"))
    key = {node: node.ask("status")["swarm"]["key"] for node in (chat, starter)}
    for node, other in ((chat, starter), (starter, chat)):
        drawn = until(lambda node=node: [line for line in node.events("round") if line["external_groups"]])
        assert drawn[0]["local_groups"] + drawn[0]["external_groups"] == 4
        until(
            lambda node=node, other=other: key[other] in {line["author"] for line in node.lines("history", "--sources")}
        )
        assert not node.ask("status")["swarm"]["refused"]["invalid"]
