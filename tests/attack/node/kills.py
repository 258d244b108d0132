"""Kill -9 of any process of a node at random instants: is a checkpointed round ever lost, and is the run
still the same?

    python -m tests.attack.node.kills                    200 kills; the starter, in silo
    python -m tests.attack.node.kills --quick            2 kills

A first run is left alone. A second one of the same seed is killed again and again: the worker, the engine,
the examiner or the terminal, drawn at random, at a random instant. Every `checkpoint` line that the terminal
printed is a promise: the next round after a kill must be a later one. In the end the rewards of both runs are
compared, round by round.
"""

import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.bench.figure import Figure, arguments, show, tell

TARGETS = ("worker", "engine", "examiner", "terminal")
START_SECONDS = 120.0
LONGEST_LIFE = 6.0
"""Seconds from the first answer or round to the kill, at most."""


@dataclass
class Toll:
    """What the kills cost."""

    killed: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    """Checkpointed rounds that were played again."""
    promised: int = 0
    """Newest round whose checkpoint was announced."""


class Terminal:
    """`sapo-desktop run` with its lines, read as they come."""

    def __init__(
        self,
        data: Path,
        seed: int,
        rounds: int,
        *,
        silo: bool = True,
        environment: Mapping[str, str] | None = None,
        within: Sequence[str] = (),
    ) -> None:
        """`within`: the words of a command that runs the one that follows them."""
        line = [*within, sys.executable, "-m", "sapo_desktop", "run", "--json", "--curriculum", "off"]
        line += ["--silo"] if silo else ["--set", "silo=off"]
        # Short rounds, and no giving way to other programs: more rounds for each kill.
        line += ["--set", "questions=4", "--set", "low_priority=off"]
        line += ["--seed", str(seed), "--rounds", str(rounds), "--data", str(data)]
        self.data = data
        self.process = subprocess.Popen(
            line,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        self.first_round: int | None = None
        self.checkpointed = 0
        self.said: list[str] = []
        """Warnings and errors."""
        self.told: list[str] = []
        """All else that it noted."""
        self.seen = {"answer": threading.Event(), "round": threading.Event()}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with contextlib.suppress(json.JSONDecodeError):  # the last line of a killed process may be cut
                self._take(json.loads(line))

    def _take(self, event: dict[str, object]) -> None:
        if event["event"] in self.seen:
            self.seen[str(event["event"])].set()
        if event["event"] == "round":
            number = int(str(event["round"]))
            self.first_round = self.first_round or number
        if event["event"] == "notice":
            (self.told if event["level"] == "info" else self.said).append(str(event["text"]))
        if event["event"] == "checkpoint":
            self.checkpointed = max(self.checkpointed, int(str(event["round"])))

    def processes(self) -> dict[str, psutil.Process]:
        """The terminal, its worker and the worker's hosts, by what they are."""
        found = {"terminal": psutil.Process(self.process.pid)}
        for process in found["terminal"].children(recursive=True):
            with contextlib.suppress(psutil.Error):
                line = process.cmdline()
                for kind in ("engine", "examiner"):
                    if kind in line:
                        found[kind] = process
                if "sapo_desktop.worker.main" in line:
                    found["worker"] = process
        return found

    def finish(self, patience: float | None = None) -> None:
        """Wait until the process is gone and all it said is read; TimeoutExpired after so many seconds."""
        self.process.wait(patience)
        self._reader.join()


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--kills", type=int, default=200)
    given = parser.parse_args()
    kills = 2 if given.quick else given.kills
    draw = random.Random(given.seed)
    toll = Toll()
    with tempfile.TemporaryDirectory() as scratch:
        data = Path(scratch) / "killed"
        while sum(toll.killed.values()) < kills:
            kill_once(data, given.seed, draw, toll)
        last_terminal(data, given.seed, toll)
        rewards = read_rewards(data)
        tell(f"{len(rewards)} rounds survived; now the same run without kills")
        unbroken = Path(scratch) / "unbroken"
        terminal = Terminal(unbroken, given.seed, len(rewards))
        terminal.finish()
        alike = sum(a == b for a, b in zip(read_rewards(unbroken), rewards, strict=True))
    for figure in figures(toll, alike, len(rewards)):
        show(figure, given.json)


def kill_once(data: Path, seed: int, draw: random.Random, toll: Toll) -> None:
    """Start (or go on), wait a random time, kill something, and see what is left."""
    terminal = Terminal(data, seed, 10_000)
    try:
        # Some die in their first round, some in a later one or while what it taught is being written.
        if not terminal.seen[draw.choice(["answer", "round"])].wait(START_SECONDS):
            raise SystemExit("The node did not come up within two minutes.")
        time.sleep(draw.uniform(0.0, LONGEST_LIFE))
        target = draw.choice(TARGETS)
        victim = terminal.processes().get(target)
        if victim is not None:
            with contextlib.suppress(psutil.NoSuchProcess):
                victim.kill()
                toll.killed[target] += 1
                tell(f"kill {sum(toll.killed.values())}: {target}, after checkpoint {terminal.checkpointed}")
        if target in ("engine", "examiner"):
            time.sleep(draw.uniform(0.0, LONGEST_LIFE))
    finally:
        end(terminal)
    judge(terminal, toll)


def end(terminal: Terminal) -> None:
    """Kill what is left of it, the worker first, so that nothing can write any more."""
    with contextlib.suppress(psutil.Error):
        for process in sorted(terminal.processes().items(), key=lambda item: item[0] != "worker"):
            process[1].kill()
    terminal.process.kill()
    terminal.finish()
    wait_for_orphans(terminal.data)


def wait_for_orphans(data: Path) -> None:
    """Hosts die with their worker, a worker whose terminal was killed a little later. Other nodes are none of ours."""
    ours = {"sapo_desktop.worker.main", str(data)}
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if not any(ours <= set(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])):
            return
        time.sleep(0.1)
    raise SystemExit("A worker outlived its terminal.")


def judge(terminal: Terminal, toll: Toll) -> None:
    if terminal.first_round is not None and terminal.first_round <= toll.promised:
        toll.lost += toll.promised - terminal.first_round + 1
    toll.promised = max(toll.promised, terminal.checkpointed)


def last_terminal(data: Path, seed: int, toll: Toll) -> None:
    """One more start that may end by itself: what it begins with shows the last kill's cost."""
    terminal = Terminal(data, seed, 2)
    terminal.finish()
    judge(terminal, toll)


def read_rewards(data: Path) -> list[float]:
    line = [sys.executable, "-m", "sapo_desktop", "history", "--data", str(data), "--json"]
    output = subprocess.run(line, check=True, capture_output=True, text=True).stdout
    events = [json.loads(text) for text in output.splitlines()]
    return [event["reward"] for event in events if event["event"] == "round"]


def figures(toll: Toll, alike: int, rounds: int) -> list[Figure]:
    kills = sum(toll.killed.values())
    shares = ", ".join(f"{count} {name}" for name, count in sorted(toll.killed.items()))
    return [
        Figure(name="kills", value=kills, unit="processes", note=shares),
        Figure(name="checkpointed rounds lost", value=toll.lost, unit="rounds", goal="0", held=toll.lost == 0),
        Figure(
            name="rounds equal to the unbroken run's",
            value=alike,
            unit=f"of {rounds}",
            goal="all",
            held=alike == rounds,
        ),
    ]


if __name__ == "__main__":
    main()
