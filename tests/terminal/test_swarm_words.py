"""The terminal's words about the swarm."""

from sapo_desktop.core.sentences import Text
from sapo_desktop.terminal.swarm_words import relay_lines, swarm_lines
from sapo_desktop.worker.control.messages.replies import RelayStatus
from sapo_desktop.worker.control.messages.swarm import SwarmInfo


def test_why_an_address_takes_no_link_is_said_once() -> None:
    alone = "wss://a.example:1 takes no link: it is full."
    two: dict[str, Text] = {
        "wss://a.example:1": alone,
        "wss://b.example:1": "wss://b.example:1 takes no link: it is full.",
    }
    info = SwarmInfo(state="alone", reason=f"{alone} Training continues alone.", partings=two)
    lines = swarm_lines(info)
    assert sum("a.example" in line for line in lines) == 1
    assert f"Address   {two['wss://b.example:1']}" in lines


def test_a_relay_speaks_of_links_and_not_of_draws() -> None:
    swarm = SwarmInfo(state="linked", reason="Relaying for 1 peer.", pool=7)
    said = "\n".join(relay_lines(RelayStatus(swarm=swarm, pid=1, version="0", uptime=1.0)))
    assert "7 served now" in said and "drawn" not in said and "draws" not in said
