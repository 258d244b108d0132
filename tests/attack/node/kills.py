"""Kill -9 of any process of a node at random instants: is a checkpointed round ever lost, and is the run
still the same?

    python -m tests.attack.node.kills                    200 kills; the starter, in silo
    python -m tests.attack.node.kills --quick            2 kills

A first run is left alone. In a second one with the same seed, a process is killed again and again at random instants:
the worker, the engine, the examiner or the terminal. Every `checkpoint` line of the terminal is a promise: all rounds
after it must have higher numbers. At the end the rewards of both runs are compared, round by round.
"""

import contextlib
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.attack.peers.swarm import Program
from tests.bench.figure import Figure, arguments, exactly, show, tell
from tests.bench.processes import by_role

TARGETS = ("worker", "engine", "examiner", "terminal")
START_SECONDS = 120.0
LONGEST_LIFE = 6.0
"""Seconds from the first answer or round to the kill, at most."""


@dataclass
class Toll:
    """The cost of the kills."""

    killed: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    """Checkpointed rounds that were played again."""
    promised: int = 0
    """Newest round with an announced checkpoint."""


class Terminal(Program):
    """A node in short rounds at normal priority: more rounds for each kill."""

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
        words = ["run", "--curriculum", "off", *(["--silo"] if silo else ["--set", "silo=off"])]
        words += ["--set", "questions=4", "--set", "low_priority=off", "--seed", str(seed), "--rounds", str(rounds)]
        super().__init__(words, data, environment=environment or {}, within=within)

    @property
    def first_round(self) -> int | None:
        return next(map(number_of, self.rounds()), None)

    @property
    def checkpointed(self) -> int:
        """The newest round with an announced checkpoint."""
        return max((number_of(event) for event in list(self.events) if event["event"] == "checkpoint"), default=0)

    def notices(self, *levels: str) -> list[str]:
        noted = [event for event in list(self.events) if event["event"] == "notice"]
        return [str(event["text"]) for event in noted if event["level"] in levels]

    @property
    def said(self) -> list[str]:
        return self.notices("warning", "error")

    def wait_for(self, kind: str, number: int = 0) -> bool:
        """Whether an event of this kind, of at least that round, comes in time and before the process ends."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            ended = self.process.poll() is not None
            if any(event["event"] == kind and number_of(event) >= number for event in list(self.events)):
                return True
            if ended:
                return False
            time.sleep(0.1)
        return False

    def processes(self) -> dict[str, psutil.Process]:
        """The terminal, its worker and the worker's hosts, by role."""
        found = by_role(self.process.pid)
        return {"terminal" if kind == "command" else kind: process for kind, process in found.items()}


def number_of(event: Mapping[str, object]) -> int:
    return int(str(event["round"]))


def played_again(events: Iterable[Mapping[str, object]]) -> int:
    """The number of rounds that were repeated after their checkpoint, because a node went back too far."""
    newest = again = 0
    for event in events:
        if event["event"] == "checkpoint":
            newest = max(newest, number_of(event))
        elif event["event"] == "round":
            again += number_of(event) <= newest
    return again


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
    show(figures(toll, alike, len(rewards)), given)


def kill_once(data: Path, seed: int, draw: random.Random, toll: Toll) -> None:
    """Start (or continue), wait a random time, kill something, and check what is left."""
    terminal = Terminal(data, seed, 10_000)
    try:
        # Some die in their first round, some in a later one, some while writing a checkpoint.
        if not terminal.wait_for(draw.choice(["answer", "round"])):
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
    """Kill the remaining processes, the worker first, so that nothing writes any more."""
    with contextlib.suppress(psutil.Error):
        for process in sorted(terminal.processes().items(), key=lambda item: item[0] != "worker"):
            process[1].kill()
    terminal.process.kill()
    terminal.finish()
    wait_for_orphans(terminal.data)


def wait_for_orphans(data: Path) -> None:
    """Wait for processes to end: hosts with their worker, a worker soon after its terminal. Ignore other nodes."""
    ours = {"sapo_desktop.worker.main", str(data)}
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if not any(ours <= set(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])):
            return
        time.sleep(0.1)
    raise SystemExit("A worker outlived its terminal.")


def judge(terminal: Terminal, toll: Toll) -> None:
    toll.lost += played_again(terminal.events)
    if terminal.first_round is not None and terminal.first_round <= toll.promised:
        toll.lost += toll.promised - terminal.first_round + 1
    toll.promised = max(toll.promised, terminal.checkpointed)


def last_terminal(data: Path, seed: int, toll: Toll) -> None:
    """One more start that ends by itself: its first round shows the last kill's cost."""
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
        Figure("kills", kills, "processes", note=shares),
        exactly("checkpointed rounds lost", toll.lost, "rounds", 0),
        Figure("rounds equal to the unbroken run's", alike, f"of {rounds}", "all", alike == rounds),
    ]


if __name__ == "__main__":
    main()
