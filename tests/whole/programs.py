"""Commands of the product as separate processes, which tests listen to and ask."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from tests.whole.nodes import PATIENCE

PASSPHRASE = "only for this test"


class Program:
    """A command of the product with its JSON lines in a file, ended at the end of the test."""

    def __init__(self, data: Path, *words: str) -> None:
        self.data = data
        data.parent.mkdir(parents=True, exist_ok=True)
        self.out = data.with_suffix(".jsonl")
        self._from = self.out.stat().st_size if self.out.exists() else 0  # what one before it said is not its word
        environment = {**os.environ, "SAPO_PASSPHRASE": PASSPHRASE, "OMP_NUM_THREADS": "1"}
        with self.out.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "sapo_desktop", "--data", str(data), *words, "--json"],
                stdout=out,
                stderr=subprocess.DEVNULL,
                env=environment,
            )

    def events(self, name: str) -> list[dict[str, Any]]:
        lines = self.out.read_bytes()[self._from :].decode().splitlines()
        return [event for line in lines if line.endswith("}") and (event := json.loads(line))["event"] == name]

    def ask(self, *words: str) -> dict[str, Any]:
        """The first line that another command on the same folder prints."""
        return self.lines(*words)[0]

    def lines(self, *words: str) -> list[dict[str, Any]]:
        """All lines that another command on the same folder prints."""
        line = [sys.executable, "-m", "sapo_desktop", *words, "--data", str(self.data), "--json"]
        done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=True, timeout=PATIENCE)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def end(self) -> None:
        if self.process.poll() is None:
            processes = [psutil.Process(self.process.pid)]
            for process in processes + processes[0].children(recursive=True):
                process.kill()
        self.process.wait()


def until(holds: Callable[[], Any]) -> Any:
    """What `holds` returns once it is true."""
    deadline = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < deadline, "waited for nothing"
        time.sleep(0.1)
    return found


def address(program: Program) -> str:
    """Where a program listens, as others dial it."""

    def said() -> str | None:
        known = [event["address"] for event in program.events("swarm") if event.get("address")]
        return known[-1] if known else None

    return str(until(said))
