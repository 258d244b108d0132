"""Whole nodes with the starter and a relay: separate processes and folders, real websockets with TLS."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.whole.nodes import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

PLAIN = ["questions=4", "validate_every=0", "low_priority=off"]
SHORT = [*(word for item in PLAIN for word in ("--set", item)), "--curriculum", "off", "--mix", "4/4"]


class Program:
    """A command of the product with its JSON lines in a file, ended at the end of the test."""

    def __init__(self, data: Path, *words: str) -> None:
        self.data = data
        data.parent.mkdir(parents=True, exist_ok=True)
        self.out = data.with_suffix(".jsonl")
        self._from = self.out.stat().st_size if self.out.exists() else 0  # what one before it said is not its word
        environment = {**os.environ, "SAPO_PASSPHRASE": "only for this test", "OMP_NUM_THREADS": "1"}
        with self.out.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "sapo_desktop", *words, "--data", str(data), "--json"],
                stdout=out,
                stderr=subprocess.DEVNULL,
                env=environment,
            )

    def events(self, name: str) -> list[dict[str, Any]]:
        lines = self.out.read_bytes()[self._from :].decode().splitlines()
        return [event for line in lines if line.endswith("}") and (event := json.loads(line))["event"] == name]

    def ask(self, *words: str) -> dict[str, Any]:
        """The first line that another command on the same folder prints."""
        line = [sys.executable, "-m", "sapo_desktop", *words, "--data", str(self.data), "--json"]
        done = subprocess.run(line, capture_output=True, text=True, check=True, timeout=PATIENCE)
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[0])
        return found

    def end(self) -> None:
        if self.process.poll() is None:
            processes = [psutil.Process(self.process.pid)]
            for process in processes + processes[0].children(recursive=True):
                process.kill()
        self.process.wait()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Program]]:
    started: list[Program] = []

    def begin(name: str, *words: str) -> Program:
        started.append(Program(tmp_path / name, *words))
        return started[-1]

    yield begin
    for program in started:
        program.end()


def until(holds: Callable[[], Any]) -> Any:
    """What `holds` returns once it is true."""
    deadline = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)
    return found


def address(program: Program) -> str:
    """Where a program listens, as others dial it."""

    def said() -> str | None:
        known = [event["address"] for event in program.events("swarm") if event.get("address")]
        return known[-1] if known else None

    return str(until(said))


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
