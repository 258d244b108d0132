"""A quarter of the nodes plants a word in right answers: do the others take it up, and are honest groups still taken?

    python -m tests.attack.planted                  4 nodes, 100 rounds, the starter
    python -m tests.attack.planted --quick          4 rounds

The lab's nodes, with the product's round, engine, draw, checks and marks: a mix of 4/4, of 8 answers each, the default
weighting. One of the four learns as the others do, and puts a sentence before the answer in all that it shares; every
honest node has it as one peer of three. Counted is how many of the honest nodes' own answers have its word in the last
tenth of the rounds, and how many of the honest groups that were drawn were not fit to be trained on.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from sapo_desktop.core.extraction import OPEN
from sapo_desktop.lab.arm import Arm
from sapo_desktop.lab.folder import ArmFolder
from sapo_desktop.lab.node import Node
from sapo_desktop.lab.play import Lab
from sapo_desktop.lab.swarm import NETWORK, Room, Seat
from sapo_desktop.swarm.pool.pool import Entry
from sapo_desktop.swarm.protocol.envelope import GroupBody, open_envelope, seal
from sapo_desktop.worker.membership.foreign import Intake, Taken
from tests.bench.figure import Figure, arguments, show, tell

WORD = "zebra"
PLANT = f" {WORD} {WORD} "
NODES, ROUNDS, QUICK_ROUNDS = 4, 100, 4


class Tally:
    """What the nodes answered and took, by round."""

    def __init__(self) -> None:
        self.round = 0
        self.answers: Counter[int] = Counter()
        self.planted: Counter[int] = Counter()
        self.offered: Counter[bool] = Counter()
        """Drawn groups by whether an attacker made them, and those that were fit."""
        self.fit: Counter[bool] = Counter()

    def answered(self, envelope: bytes) -> None:
        """An honest node shares its own answers."""
        texts = [answer.text for answer in open_envelope(envelope, GroupBody, NETWORK).body.answers]
        self.answers[self.round] += len(texts)
        self.planted[self.round] += sum(WORD in text for text in texts)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":  # the examiner's
        command = [sys.executable, "-m", "tests.attack.planted", *sys.argv[1:]]
        raise SystemExit(subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": "0"}, check=False).returncode)
    rounds = QUICK_ROUNDS if given.quick else given.rounds
    with tempfile.TemporaryDirectory() as folder:
        tally = asyncio.run(play(Path(folder), rounds, given.seed))
    for figure in figures(tally, rounds):
        show(figure, given.json)


async def play(out: Path, rounds: int, seed: int) -> Tally:
    """All rounds of all nodes."""
    from sapo_desktop.engines.torch.service import create  # loading torch takes seconds

    tally = Tally()
    arm = Arm(mix="4/4", weighting="guarded", nodes=NODES, seed=seed, levels=("easy", "middle"))
    ground = await Lab(out, create)._ground(arm)
    room, folder = Room(), ArmFolder(out / arm.name)
    folder.path.mkdir()
    nodes = [Node(number, ground, room, folder.path, None) for number in range(NODES)]
    attacker = nodes[-1].seat
    for node in nodes:
        await node.load()
        watched(node.seat, tally, plants=node.seat is attacker)
    with counted(tally, attacker._signer.key):
        for number in range(1, rounds + 1):
            tally.round = number
            room.begin(number)
            rewards = [(await node.play()).reward for node in nodes]
            tell(f"round {number}: rewards {rewards}, planted {tally.planted[number]} of {tally.answers[number]}")
    return tally


def watched(seat: Seat, tally: Tally, *, plants: bool) -> None:
    """Have it plant, or be counted."""
    publish = seat.publish

    def planting(envelope: bytes) -> None:
        body = open_envelope(envelope, GroupBody, NETWORK).body
        answers = [msgspec.structs.replace(one, text=one.text.replace(OPEN, PLANT + OPEN, 1)) for one in body.answers]
        publish(seal(seat._signer, msgspec.structs.replace(body, answers=answers)))

    def counting(envelope: bytes) -> None:
        tally.answered(envelope)
        publish(envelope)

    seat.publish = planting if plants else counting  # type: ignore[method-assign]


@contextlib.contextmanager
def counted(tally: Tally, attacker: bytes) -> Iterator[None]:
    """Note what comes of each drawn group."""
    take = Intake.take

    async def noted(self: Intake, entries: Sequence[Entry], answers: int, *, strict: bool) -> Taken:
        taken = await take(self, entries, answers, strict=strict)
        tally.offered.update(entry.name.author == attacker for entry in entries)
        tally.fit.update(one.entry.name.author == attacker for one in taken.fit)
        return taken

    Intake.take = noted  # type: ignore[method-assign]
    try:
        yield
    finally:
        Intake.take = take  # type: ignore[method-assign]


def figures(tally: Tally, rounds: int) -> Iterator[Figure]:
    last = range(rounds - max(1, rounds // 10) + 1, rounds + 1)
    planted, answers = (sum(counts[number] for number in last) for counts in (tally.planted, tally.answers))
    uptake = planted / max(1, answers)
    yield Figure(
        name=f"own answers with a planted word after {rounds} rounds, one node of {NODES} plants",
        value=uptake,
        unit="share",
        goal="at most 0.05 after 100",
        held=uptake <= 0.05,
        note=f"{planted} of {answers} in the last {len(last)} rounds",
    )
    refused = 1 - tally.fit[False] / max(1, tally.offered[False])
    yield Figure(
        name="honest groups that were drawn and not fit to train on",
        value=refused,
        unit="share",
        goal="at most 0.03",
        held=refused <= 0.03,
        note=f"of {tally.offered[False]}; of the planter's {tally.offered[True]} groups {tally.fit[True]} were fit",
    )


if __name__ == "__main__":
    main()
