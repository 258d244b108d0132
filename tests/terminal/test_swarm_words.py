"""What a terminal says of the swarm."""

from sapo_desktop.core.sentences import Text
from sapo_desktop.terminal.swarm_words import swarm_lines
from sapo_desktop.worker.control.messages.swarm import SwarmInfo


def test_why_an_address_takes_no_link_is_said_once() -> None:
    alone = "wss://a.example:1 takes no link: it is full."
    two: dict[str, Text] = {
        "wss://a.example:1": alone,
        "wss://b.example:1": "wss://b.example:1 takes no link: it is full.",
    }
    info = SwarmInfo(state="alone", reason=f"{alone} Training goes on alone.", partings=two)
    lines = swarm_lines(info)
    assert sum("a.example" in line for line in lines) == 1
    assert f"Address   {two['wss://b.example:1']}" in lines
