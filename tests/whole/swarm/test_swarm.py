"""Whole nodes with the starter and a relay: separate processes and folders, real websockets with TLS."""

from collections.abc import Callable

import pytest

from tests.whole.programs import Program, address, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

PLAIN = ["questions=4", "validate_every=0", "low_priority=off"]
SHORT = [*(word for item in PLAIN for word in ("--set", item)), "--curriculum", "off", "--mix", "4/4"]


def test_two_nodes_and_a_relay_learn_from_each_other_and_silo_leaves_at_once(start: Callable[..., Program]) -> None:
    relay = start("relay", "relay", "--listen", "127.0.0.1:0")
    url = address(relay)
    nodes = [start(f"node-{n}", "run", "--share", "--peer", url, "--seed", str(n), *SHORT) for n in (1, 2)]
    for node in nodes:
        drawn = until(lambda node=node: [e for e in node.events("round") if e["external_groups"]])
        assert drawn[0]["local_groups"] + drawn[0]["external_groups"] == 4
        assert drawn[-1]["swarm_peers"] in (0, 1)
    first = nodes[0].ask("status")
    assert (first["silo"], first["swarm"]["state"], first["swarm"]["sharing"]) == (False, "linked", True)
    assert not first["swarm"]["refused"]["invalid"]
    sources = nodes[0].ask("history", "--sources")
    assert sources["event"] == "source"

    nodes[0].ask("silo", "on")
    left = nodes[0].ask("status")
    assert (left["silo"], left["swarm"]["state"]) == (True, "silo"), "before the switch answers"
    until(lambda: relay.ask("status")["swarm"]["links"] == 1)
    rounds = len(nodes[0].events("round"))
    until(lambda: len(nodes[0].events("round")) >= rounds + 2)
    assert nodes[0].events("round")[-1]["external_groups"] == 0

    # A relay that dies takes nobody along, and under its own key it is found again.
    relay.end()
    again = start("relay", "relay", "--listen", "127.0.0.1:" + url.partition("#")[0].rpartition(":")[2])
    assert address(again) == url
    until(lambda: again.ask("status")["swarm"]["links"] == 1)
