"""Do real nodes learn sooner together? Four with a relay between them, and the same four alone.

    python -m tests.bench.swarm.together --out .cache/together       seeds 1, 2, 3; continues where it was ended
    python -m tests.bench.swarm.together --quick                     2 nodes, a few rounds each, scored once
    python -m tests.bench.swarm.together --model FILE --level first --nodes 3 --seconds 150 --out DIR    a real model

Every node is `sapo-desktop run` with default settings and the starter, or the model of a GGUF file or folder. Each has
a data folder and processes of its own and one thread; those that share talk over real websockets. All run at once until
each has taken so many CPU-seconds, its start not counted. Then the checkpoints that each had after a share of them are
scored greedily, on the validation set or one level of the test set; of a real model only the last one, since that takes
minutes. Differences are paired: same seed, same CPU-seconds, same questions.
"""

import asyncio
import json
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from sapo_desktop.lab.table import t_interval
from tests.attack.peers.swarm import Program, settings, start_relay
from tests.bench.figure import Figure, arguments, show, tell
from tests.bench.processes import cpu_of, family

NODES, SECONDS = 4, 120.0
SHARES = (0.1, 0.3, 1.0)
"""Shares of the CPU-seconds after which checkpoints are scored."""
LOOK_SECONDS = 0.5
READY_SECONDS = 300.0


@dataclass(frozen=True)
class Plan:
    """What every arm plays."""

    nodes: int
    seconds: float
    """CPU-seconds of each node."""
    shares: Sequence[float]
    model: Path | None
    """None: the starter."""
    level: str | None
    """Level of the scored test questions; None: the validation set."""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """A node after one of its rounds."""

    round: int
    cpu: float
    """Seconds of all its processes since its first round."""
    reward: float
    external: int
    """Groups of others in its step."""


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """Greedy answers to the validation set by a checkpoint."""

    round: int
    cpu: float
    solved: float


class Played(msgspec.Struct, kw_only=True):
    """One arm under one seed: by node, what it did and how it scored."""

    seed: int
    shared: bool
    points: list[list[Point]]
    scores: list[list[Score]] = []
    """At each of SHARES, or at the last of them alone."""


@dataclass
class Running:
    """A node at work, seen from outside."""

    program: Program
    points: list[Point] = field(default_factory=list)
    _first: float | None = None

    def look(self) -> float:
        """Take note of new rounds; returns its CPU-seconds."""
        spent = cpu_of(family(self.program.process.pid))
        rounds = self.program.rounds()
        if rounds and self._first is None:
            self._first = spent
        if spent == 0.0 and self._first is not None:
            raise SystemExit(f"A node ended: {''.join(self.program.errors[-3:])}")
        cpu = 0.0 if self._first is None else spent - self._first
        for event in rounds[len(self.points) :]:
            number, external = int(str(event["round"])), int(str(event["external_groups"]))
            self.points.append(Point(round=number, cpu=cpu, reward=float(str(event["reward"])), external=external))
        return cpu

    def stop(self) -> None:
        self.program.process.send_signal(signal.SIGINT)
        self.program.finish()


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="CPU-seconds of each node")
    parser.add_argument("--model", type=Path, help="a GGUF file or a model folder in place of the starter")
    parser.add_argument("--level", help="score test questions of this level")
    parser.add_argument("--until", type=float, help="rounds and rewards of the first so many CPU-seconds alone")
    parser.add_argument("--out", type=Path, help="keeps each finished arm, so that a run can go on")
    given = parser.parse_args()
    nodes, seconds = (2, 5.0) if given.quick else (given.nodes, given.seconds)
    plan = Plan(
        nodes=nodes,
        seconds=seconds,
        shares=SHARES[-1:] if given.quick or given.model else SHARES,
        model=given.model and given.model.absolute(),
        level=given.level,
    )
    with tempfile.TemporaryDirectory(prefix="sapo-together-") as scratch:
        arms = []
        for seed in given.seeds[:1] if given.quick else given.seeds:
            for shared in (False, True):
                arms.append(arm(given.out or Path(scratch), seed, plan, shared=shared))
    if given.until:
        for one in arms:
            one.points = [[point for point in points if point.cpu <= given.until] for points in one.points]
    show(figures(arms), given)


def arm(out: Path, seed: int, plan: Plan, *, shared: bool) -> Played:
    """Play and score an arm, or read what was played before."""
    name = f"{'shared' if shared else 'alone'}-{plan.nodes}-nodes-{plan.seconds:g}-seconds-seed-{seed}"
    kept = out / f"{name}.json"
    if kept.is_file():
        return msgspec.json.decode(kept.read_bytes(), type=Played)
    tell(name)
    with tempfile.TemporaryDirectory(prefix="sapo-arm-") as folder:
        played = asyncio.run(play(Path(folder), seed, plan, shared=shared))
        for number, points in enumerate(played.points):
            played.scores.append(scored(Path(folder) / f"node-{number}", points, plan))
    out.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(msgspec.json.encode(played))
    return played


async def play(folder: Path, seed: int, plan: Plan, *, shared: bool) -> Played:
    """Until each has had its CPU-seconds."""
    nodes, seconds = plan.nodes, plan.seconds
    relay, address = await start_relay(folder / "relay", "127.0.0.1:0") if shared else (None, None)
    way = ["--share", "--peer", str(address)] if shared else ["--silo"]
    running = [
        Running(start(folder / f"node-{number}", seed * 100 + number, way, plan.model)) for number in range(nodes)
    ]
    try:
        began = time.monotonic()
        while min([node.look() for node in running]) < seconds:  # all are looked at, each time
            for number in range(nodes):
                keep_all(folder / f"node-{number}")
            await asyncio.sleep(LOOK_SECONDS)
            if time.monotonic() - began > READY_SECONDS + 20 * seconds * nodes:
                raise SystemExit("The nodes take twenty times as long as their CPU-seconds: is the computer busy?")
    finally:
        for node in running:
            node.stop()
        if relay is not None:
            relay.kill()
    return Played(seed=seed, shared=shared, points=[node.points for node in running])


def start(data: Path, seed: int, way: list[str], model: Path | None) -> Program:
    if model is not None:
        keep_model = [sys.executable, "-m", "sapo_desktop", "settings", "set", "model", str(model), "--data", str(data)]
        subprocess.run(keep_model, check=True, stdout=subprocess.DEVNULL)
    words = ["run", *way, "--seed", str(seed)]
    return Program([*words, *settings("threads=1", "low_priority=off")], data)


def keep_all(data: Path) -> None:
    """Keep each checkpoint under another name, for the node deletes older ones."""
    for path in (data / "checkpoints").glob("[0-9]*"):
        kept = data / "kept" / path.name
        if path.name.isdigit() and not kept.exists():
            shutil.copytree(path, kept)


def scored(data: Path, points: list[Point], plan: Plan) -> list[Score]:
    """The checkpoint that a node had after each of these shares, on the validation set."""
    found = []
    shutil.copytree(data / "kept", data / "checkpoints", dirs_exist_ok=True)
    kept = {int(path.name) for path in (data / "checkpoints").iterdir() if path.name.isdigit()}
    asked = ["--which", "test", "--level", plan.level] if plan.level else ["--which", "validation"]
    for share in plan.shares:
        point = [p for p in points if p.cpu <= share * plan.seconds and p.round in kept][-1]
        line = [sys.executable, "-m", "sapo_desktop", "eval", "--checkpoint", str(point.round), *asked]
        printed = subprocess.run([*line, "--data", str(data), "--json"], check=True, stdout=subprocess.PIPE).stdout
        report = next(event for event in map(json.loads, printed.splitlines()) if event["event"] == "eval")
        found.append(Score(round=point.round, cpu=point.cpu, solved=report["score"]))
    return found


def figures(arms: list[Played]) -> list[Figure]:
    """Sharing compared with training alone, by seed, and over the seeds."""
    pairs = list(zip(arms[::2], arms[1::2], strict=True))
    found = []
    for place in range(len(arms[0].scores[0])):
        cpu = statistics.fmean(scores[place].cpu for arm in arms for scores in arm.scores)
        levels = [[statistics.fmean(scores[place].solved for scores in arm.scores) for arm in pair] for pair in pairs]
        note = "; ".join(f"{alone:.3f} alone, {shared:.3f} shared" for alone, shared in levels)
        gains = [shared - alone for alone, shared in levels]
        found.append(_over_seeds(f"held-out after {cpu:.0f} CPU-s, shared less alone", gains, "share", note))
    ratios = [rewards(shared) / rewards(alone) for alone, shared in pairs]
    found.append(_over_seeds("reward summed over rounds, equal CPU-s, shared to alone", ratios, "times", ""))
    rounds = [statistics.fmean(map(len, s.points)) / statistics.fmean(map(len, a.points)) for a, s in pairs]
    found.append(_over_seeds("rounds in them, shared to alone", rounds, "times", ""))
    external = [statistics.fmean(p.external for points in s.points for p in points) for _, s in pairs]
    found.append(_over_seeds("groups of others in a step", external, "groups", ""))
    return found


def rewards(arm: Played) -> float:
    """Mean over the nodes of the rewards summed."""
    return statistics.fmean(sum(point.reward for point in points) for points in arm.points)


def _over_seeds(name: str, values: list[float], unit: str, note: str) -> Figure:
    interval = t_interval(values)
    printed = f"95% interval {interval.low:.3f} to {interval.high:.3f}" if interval else "one seed"
    return Figure(name, statistics.fmean(values), unit, note="; ".join(filter(None, (printed, note))))


if __name__ == "__main__":
    main()
