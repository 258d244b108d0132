"""Models of two kinds in one swarm: a chat model that reasons at length, and the starter, over real websockets."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.whole.programs import Program, address, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

ROOT = Path(__file__).parents[3]
FAMILIES = "chain_sum,count_bits,gcd,spell_backward"
"""What packaging/starter/chat.py shows its model."""
LONG = 400
SHORT = ["--curriculum", "off", "--mix", "4/4"]
# To the starter, which reads bytes, what a chat model writes is long.
for item in ("questions=8", "validate_every=0", "low_priority=off", "max_tokens=700", f"tasks={FAMILIES}"):
    SHORT += ["--set", item]


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "chat"
    command = [sys.executable, "packaging/starter/chat.py", "--to", str(folder), "--steps", "60"]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, timeout=900)
    return folder


def test_two_chat_models_and_a_starter_learn_from_each_other(start: Callable[..., Program], chat: Path) -> None:
    relay = start("relay", "relay", "--listen", "127.0.0.1:0")
    joins = ["run", "--share", "--peer", address(relay), *SHORT]
    chats = [start(f"chat-{n}", *joins, "--model", str(chat), "--seed", str(n)) for n in (1, 2)]
    starter = start("starter", *joins, "--seed", "3")
    nodes = (*chats, starter)
    for node in nodes:
        until(lambda node=node: node.events("round"))
    keys = {node: until(lambda node=node: node.ask("status")["swarm"]["key"]) for node in nodes}

    def learned_from(node: Program) -> set[str]:
        """Keys of those whose answers weighed something in a step here."""
        return {line["author"] for line in node.lines("history", "--sources") if line["weight"] and line["author"]}

    for node in chats:
        until(lambda node=node: [e for e in node.events("answer") if e["solved"] and len(e["completion"]) >= LONG])
        until(lambda node=node: learned_from(node) - {keys[node]})
    until(lambda: learned_from(starter) & {keys[node] for node in chats})
    until(lambda: any(keys[starter] in learned_from(node) for node in chats))
    for node in nodes:
        status = node.ask("status")
        assert not status["swarm"]["refused"]["invalid"], "what one kind writes the other can read"
