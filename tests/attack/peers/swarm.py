"""Faults in a real swarm: one relay and six nodes with the starter, in separate processes, over real websockets.

    python -m tests.attack.peers.swarm                    6 nodes, 30 rounds each
    python -m tests.attack.peers.swarm --quick            2 nodes, 4 rounds each, nothing killed

During the run the relay is killed (-9) and restarted twice, and a node is killed (-9) and restarted. All the time, a
client with a valid key sends rubbish to the relay. Does every node train on others' groups in 25 of its rounds? Does
anything crash? Does the killed node continue at its last round? Is the sender of rubbish shut out?
"""

import asyncio
import contextlib
import json
import os
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import psutil
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.protocol import codec
from sapo_desktop.swarm.protocol import messages as m
from sapo_desktop.swarm.protocol.envelope import Answer, GroupBody
from sapo_desktop.swarm.protocol.handshake import Me
from sapo_desktop.swarm.protocol.session import Session
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.sockets.dialling import client_tls, peer_certificate
from sapo_desktop.worker.membership.joining import PUBLIC_SWARM
from tests.bench.figure import Figure, arguments, at_least, exactly, show, tell
from tests.bench.processes import family

GOAL_ROUNDS = 25
QUESTIONS = 8
READY_SECONDS = 180.0
LONGEST_SECONDS = 3600.0
ENDED_FOR_RUBBISH = ("too many faults", "shut out")
_PASSPHRASE = "only for this run"  # the relay's key, and so its address, must outlive its process


def settings(*items: str) -> list[str]:
    """The words of a command line that say so: `KEY=VALUE` each."""
    return [word for item in items for word in ("--set", item)]


@dataclass
class Program:
    """A `sapo-desktop` command with its JSON lines, read as they come."""

    words: list[str]
    data: Path
    environment: Mapping[str, str] = field(
        default_factory=lambda: {"SAPO_PASSPHRASE": _PASSPHRASE, "OMP_NUM_THREADS": "1"}
    )
    within: Sequence[str] = ()
    """The words of a command that runs the one that follows them."""
    events: list[dict[str, object]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        line = [*self.within, sys.executable, "-m", "sapo_desktop", *self.words, "--data", str(self.data), "--json"]
        environment = {**os.environ, **self.environment}
        self.process = subprocess.Popen(
            line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        self._readers = [threading.Thread(target=read, daemon=True) for read in (self._read, self._read_errors)]
        for reader in self._readers:
            reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with contextlib.suppress(json.JSONDecodeError):  # the last line of a killed process may be cut
                self.events.append(json.loads(line))

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.errors.extend(self.process.stderr)

    def rounds(self) -> list[dict[str, object]]:
        return [event for event in list(self.events) if event["event"] == "round"]

    def kill(self) -> None:
        """Kill -9 of the command and everything below it."""
        if self.process.poll() is None:
            for process in family(self.process.pid):
                with contextlib.suppress(psutil.Error):
                    process.kill()
        self.finish()

    def finish(self, patience: float | None = None) -> int:
        """Wait until it is gone and all it said is read; returns its exit code. Raises TimeoutExpired."""
        code = self.process.wait(patience)
        for reader in self._readers:
            reader.join()
        return code


@dataclass
class Outcome:
    """What is counted."""

    relay_kills: int = 0
    lost_rounds: int = 0
    resumed_after: int = 0
    crashes: list[str] = field(default_factory=list)
    rounds: dict[int, list[dict[str, object]]] = field(default_factory=dict)
    seconds: float = 0.0
    refused: dict[str, dict[str, int]] = field(default_factory=dict)


def main() -> None:
    given = arguments(__doc__).parse_args()
    nodes, rounds = (2, 4) if given.quick else (6, 30)
    with tempfile.TemporaryDirectory() as scratch:
        outcome, talker = asyncio.run(play(Path(scratch), nodes, rounds, given.seed, calm=given.quick))
    goal = min(GOAL_ROUNDS, rounds - 3)
    show(figures(outcome, talker, goal), given)


async def play(folder: Path, nodes: int, rounds: int, seed: int, *, calm: bool) -> "tuple[Outcome, Talker]":
    """The whole scene."""
    outcome, rng = Outcome(), random.Random(seed)
    relay, address = await start_relay(folder / "relay", "127.0.0.1:0")
    talker = Talker(address, rng)
    talking = asyncio.create_task(talker.talk())
    began = time.monotonic()
    running = {number: start_node(folder, number, address, rounds, seed) for number in range(1, nodes + 1)}
    tell(f"{nodes} nodes at {address.url}")
    plan = [] if calm else [(rounds // 3, "relay"), (rounds // 2, "node"), (2 * rounds // 3, "relay")]
    while any(program.process.poll() is None for program in running.values()):
        await asyncio.sleep(1.0)
        if time.monotonic() - began > LONGEST_SECONDS:
            outcome.crashes.append("not done within an hour")
            break
        reached = min(played(folder, outcome, running, number) for number in running)
        if plan and reached >= plan[0][0]:
            what = plan.pop(0)[1]
            tell(f"round {reached}: kill the {what}")
            if what == "relay":
                relay.kill()
                outcome.relay_kills += 1
                relay, _ = await start_relay(folder / "relay", f"127.0.0.1:{address.port}")
            else:
                restart_node(folder, running, outcome, address, rounds, seed)
    outcome.seconds = time.monotonic() - began
    outcome.refused = refusals(relay)
    if talking.done():
        talking.result()  # it was to talk until now: say why it did not
    talking.cancel()
    for number, program in running.items():
        collect(outcome, number, program)
        if program.finish() != 0:
            outcome.crashes.append(f"node {number} ended with: {''.join(program.errors[-3:])}")
    relay.kill()
    return outcome, talker


async def start_relay(data: Path, where: str, *words: str, within: float = READY_SECONDS) -> tuple[Program, Address]:
    """A relay that listens, and where. `words`: more of its command line. `within`: seconds."""
    program = Program(["relay", "--listen", where, *words], data)
    async with asyncio.timeout(within):
        while True:
            for event in list(program.events):
                if event["event"] == "swarm" and event["address"]:
                    return program, Address.parse(str(event["address"]))
            if program.process.poll() is not None:
                raise RuntimeError(f"The relay ended: {''.join(program.errors)}")
            await asyncio.sleep(0.2)


def start_node(folder: Path, number: int, address: Address, rounds: int, seed: int) -> Program:
    """A node that shares and draws; its tasks were compared before, as at any start but the first."""
    data = folder / f"node-{number}"
    if not data.exists():
        (data / "cache").mkdir(parents=True)
        shutil.copy(folder / "relay" / "cache" / "task-ids.json", data / "cache")
    words = ["run", "--share", "--peer", str(address), "--rounds", str(rounds), "--seed", str(seed + number)]
    quiet = settings("threads=1", "validate_every=0", "curriculum=off", "low_priority=off")
    return Program([*words, *settings(f"questions={QUESTIONS}", "mix=4/4"), *quiet], data)


def restart_node(
    folder: Path, running: dict[int, Program], outcome: Outcome, address: Address, rounds: int, seed: int
) -> None:
    """Kill node 1 and start it again for the rounds that are left."""
    running[1].kill()
    collect(outcome, 1, running[1])
    promised = max(int(str(event["round"])) for event in running[1].events if event["event"] == "checkpoint")
    outcome.resumed_after = promised
    outcome.rounds[1] = [event for event in outcome.rounds[1] if int(str(event["round"])) <= promised]
    running[1] = start_node(folder, 1, address, rounds - promised, seed)


def collect(outcome: Outcome, number: int, program: Program) -> None:
    """Take over the rounds that a program reported; one reported twice was lost."""
    known = outcome.rounds.setdefault(number, [])
    numbers = {event["round"] for event in known}
    for event in program.rounds():
        outcome.lost_rounds += event["round"] in numbers
        known.append(event)


def played(folder: Path, outcome: Outcome, running: dict[int, Program], number: int) -> int:
    """The last round that a node reported."""
    rounds = [*outcome.rounds.get(number, []), *running[number].rounds()]
    return max((int(str(event["round"])) for event in rounds), default=0)


def refusals(relay: Program) -> dict[str, dict[str, int]]:
    """What the relay refused since it was last started, as it says itself."""
    last = [event for event in list(relay.events) if event["event"] == "swarm"][-1]
    found: dict[str, dict[str, int]] = last["refused"]  # type: ignore[assignment]
    return found


@dataclass
class Talker:
    """Somebody with a valid key who shakes hands and then sends rubbish, again and again."""

    address: Address
    rng: random.Random
    signer: Signer = field(default_factory=lambda: Signer(secrets.token_bytes(32)))
    frames: int = 0
    """Sent on links that were ended for them."""
    goodbyes: Counter[str] = field(default_factory=Counter)

    async def talk(self) -> None:
        """Until cancelled."""
        while True:
            with contextlib.suppress(OSError, WebSocketException, TimeoutError):
                await self._link()
            await asyncio.sleep(0.5)

    async def _link(self) -> None:
        options = {
            "ssl": client_tls(self.address, any_certificate=True),
            "subprotocols": [m.SUBPROTOCOL],
            "compression": None,
        }
        async with connect(self.address.url, **options) as wire:  # type: ignore[arg-type]
            me = Me(signer=self.signer, network=PUBLIC_SWARM, tasks=(), catalogue=bytes(32))
            session = Session(
                "client",
                me,
                nonce=secrets.token_bytes(32),
                unix_time=time.time(),
                now=time.monotonic(),
                certificate=peer_certificate(wire),
            )
            sent = 0
            while not session.is_closed:
                for frame in session.take():
                    await wire.send(frame)
                if session.is_open:
                    await wire.send(self._rubbish())
                    sent += 1
                with contextlib.suppress(TimeoutError):
                    frame = await asyncio.wait_for(wire.recv(), 0.02 if session.is_open else 5)
                    if isinstance(frame, bytes):
                        for event in session.receive(frame, time.monotonic()):
                            self._note(event, sent)

    def _note(self, event: object, sent: int) -> None:
        reason = getattr(event, "reason", None)
        if getattr(event, "by_peer", False) and isinstance(reason, str):
            short = reason.partition(":")[0].partition(",")[0]
            self.goodbyes[short] += 1
            if short in ENDED_FOR_RUBBISH:
                self.frames += sent

    def _rubbish(self) -> bytes:
        kinds: list[Callable[[], bytes]] = [
            lambda: self.rng.randbytes(self.rng.randrange(1, 4000)),
            lambda: codec.encode(m.Publish(batch=self.rng.randbytes(200))),
            lambda: codec.encode(m.Groups(ticket=bytes(16), batch=b"")),
            lambda: codec.encode(m.Publish(batch=codec.pack_published([self._group("no task of yours\u202e")]))),
            lambda: b"\x81" * 60_000,
        ]
        return self.rng.choice(kinds)()

    def _group(self, text: str) -> bytes:
        body = GroupBody(
            network=PUBLIC_SWARM,
            key=self.signer.key,
            instance=bytes(16),
            task=self.rng.randbytes(32),
            slot=int(time.time() // 600),
            index=self.rng.randrange(64),
            question=bytes(8),
            answers=[Answer(text=text)],
        )
        content = msgspec.msgpack.encode(body)  # `seal` would not sign what nobody takes
        return msgspec.msgpack.encode([1, content, self.signer.sign("group", PUBLIC_SWARM, content)])


def figures(outcome: Outcome, talker: Talker, goal: int) -> list[Figure]:
    external = {
        number: sum(int(str(event["external_groups"])) > 0 for event in rounds)
        for number, rounds in outcome.rounds.items()
    }
    groups = sum(int(str(e["external_groups"])) for rounds in outcome.rounds.values() for e in rounds)
    least = min(external.values())
    crashes = "; ".join(outcome.crashes)
    shut = sum(talker.goodbyes[reason] for reason in ENDED_FOR_RUBBISH)
    shown = ", ".join(f"{count} x {reason}" for reason, count in talker.goodbyes.most_common(4))
    invalid = outcome.refused.get("invalid", {})
    return [
        Figure("nodes", len(external), "nodes", note=f"{outcome.seconds:.0f} s"),
        at_least(
            "rounds with external groups, fewest of a node",
            least,
            "rounds",
            goal,
            ", ".join(f"node {number}: {count}" for number, count in sorted(external.items())),
        ),
        Figure("external groups trained on", groups, "groups"),
        exactly("crashes", len(outcome.crashes), "crashes", 0, crashes),
        Figure("relay killed and started again", outcome.relay_kills, "times"),
        exactly(
            "checkpointed rounds lost",
            outcome.lost_rounds,
            "rounds",
            0,
            f"killed after round {outcome.resumed_after}",
        ),
        Figure(
            "invalid frames until the sender is shut out",
            talker.frames / max(shut, 1),
            "frames",
            "≤100",
            0 < talker.frames <= 100 * shut and talker.goodbyes["still shut out"] > 0,
            f"links ended by the relay: {shown}",
        ),
        Figure(
            "refused by the relay as invalid since its last start",
            sum(invalid.values()),
            "messages",
            note=", ".join(f"{count} {reason}" for reason, count in sorted(invalid.items())),
        ),
    ]


if __name__ == "__main__":
    main()
