"""A quarter of the nodes plants a word in right answers: do others adopt it, and are honest groups still accepted?

    python -m tests.attack.peers.planted                           4 nodes, 100 rounds, the starter
    python -m tests.attack.peers.planted --nodes 2 --rounds 40     the only peer plants: half of each step
    python -m tests.attack.peers.planted --least 0                 learning from whatever peers write
    python -m tests.attack.peers.planted --quick                   4 rounds

The lab's nodes, with the product's round, engine, draw, checks, scores and default weighting. They use a mix of 4/4 and
8 answers per question. One of them learns as the others do, and puts a sentence before the answer in everything that it
shares. With four nodes, it is one of each honest node's three peers. The figures are the share of honest nodes' own
answers with its word in the last tenth of the rounds, and the reward of these answers. They also count drawn honest
groups that could not be trained on, and honest answers left out as too unlikely (learning/external.py).
"""

import asyncio
import contextlib
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from torch import Tensor

from sapo_desktop.core.extraction import OPEN
from sapo_desktop.core.records import TrainingSequence
from sapo_desktop.engines.torch import grpo
from sapo_desktop.engines.torch.service import create
from sapo_desktop.engines.torch.trainer import GrpoTrainer, Update
from sapo_desktop.lab.arm import Arm
from sapo_desktop.lab.node import Node
from sapo_desktop.lab.play import Lab
from sapo_desktop.lab.swarm import NETWORK, Room, Seat
from sapo_desktop.learning import external
from sapo_desktop.swarm.pool.pool import Entry
from sapo_desktop.swarm.protocol.envelope import GroupBody, open_envelope, seal
from sapo_desktop.worker.membership.external import Intake, Taken
from tests.bench.figure import Figure, arguments, at_most, show, tell, with_fixed_hashes

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
        self.rewards: dict[int, float] = {}
        self.planters: set[tuple[int, ...]] = set()
        """Its answers, as they were trained on."""
        self.stepped: Counter[bool] = Counter()
        """Answers of peers in steps by whether an attacker wrote them, and those that were left out."""
        self.left_out: Counter[bool] = Counter()

    def answered(self, envelope: bytes) -> None:
        """An honest node shares its own answers."""
        texts = [answer.text for answer in open_envelope(envelope, GroupBody, NETWORK).body.answers]
        self.answers[self.round] += len(texts)
        self.planted[self.round] += sum(WORD in text for text in texts)

    def step(self, batch: Sequence[TrainingSequence], known: Mapping[int, Tensor]) -> None:
        """A step was taken; `known`: log-probabilities of each answer's tokens before it, by place in the batch."""
        for place, old in known.items():
            if batch[place].external:
                by_attacker = tuple(batch[place].tokens) in self.planters
                self.stepped[by_attacker] += 1
                self.left_out[by_attacker] += not grpo.reach(old, batch[place].least).all()


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--least", type=float, default=external.LEAST, help="in place of external.LEAST")
    given = parser.parse_args()
    with_fixed_hashes()
    rounds = QUICK_ROUNDS if given.quick else given.rounds
    with tempfile.TemporaryDirectory() as folder:
        external.LEAST = given.least
        tally = asyncio.run(play(Path(folder), rounds, given.seed, given.nodes))
    show(figures(tally, rounds, given.nodes), given)


async def play(out: Path, rounds: int, seed: int, count: int) -> Tally:
    """All rounds of all nodes."""
    tally = Tally()
    arm = Arm(mix="4/4", weighting="guarded", nodes=count, seed=seed, levels=("easy", "middle"))
    ground = await Lab(out, create)._ground(arm)
    room = Room()
    nodes = [Node(number, ground, room, None) for number in range(count)]
    attacker = nodes[-1].seat
    for node in nodes:
        await node.load()
        watched(node.seat, tally, plants=node.seat is attacker)
    with counted(tally, attacker._signer.key):
        for number in range(1, rounds + 1):
            tally.round = number
            room.begin(number)
            rewards = [(await node.play()).reward for node in nodes]
            tally.rewards[number] = sum(rewards[:-1]) / (count - 1)
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
    """Note what comes of each drawn group, and of each step."""
    take, accumulate = Intake.take, GrpoTrainer.accumulate

    async def noted(self: Intake, entries: Sequence[Entry], answers: int, *, strict: bool) -> Taken:
        taken = await take(self, entries, answers, strict=strict)
        tally.offered.update(entry.name.author == attacker for entry in entries)
        tally.fit.update(one.entry.name.author == attacker for one in taken.fit)
        theirs = [one.group for one in taken.fit if one.entry.name.author == attacker]
        tally.planters.update(tuple(answer.tokens) for group in theirs for answer in group.completions)
        return taken

    def stepping(
        self: GrpoTrainer,
        batch: Sequence[TrainingSequence],
        teaching: list[int],
        tokens: int,
        known: dict[int, Tensor],
    ) -> Update:
        update = accumulate(self, batch, teaching, tokens, known)
        tally.step(batch, known)
        return update

    Intake.take = noted  # type: ignore[method-assign]
    GrpoTrainer.accumulate = stepping  # type: ignore[method-assign]
    try:
        yield
    finally:
        Intake.take = take  # type: ignore[method-assign]
        GrpoTrainer.accumulate = accumulate  # type: ignore[method-assign]


def figures(tally: Tally, rounds: int, nodes: int) -> Iterator[Figure]:
    last = range(rounds - max(1, rounds // 10) + 1, rounds + 1)
    planted, answers = (sum(counts[number] for number in last) for counts in (tally.planted, tally.answers))
    name = f"answers with a planted word, one node of {nodes} plants"
    note = f"{planted} of {answers} in the last {len(last)} rounds"
    yield at_most(name, planted / max(1, answers), "share", 0.05, note)  # after 100 rounds
    reward = sum(tally.rewards[number] for number in last) / len(last)
    note = f"{tally.rewards[1]:.2f} in the first"
    yield Figure("reward of the honest nodes in these rounds", reward, "reward", note=note)
    unfit = 1 - tally.fit[False] / max(1, tally.offered[False])
    note = f"of {tally.offered[False]}; of the planter's {tally.offered[True]} groups {tally.fit[True]} were fit"
    yield at_most("honest groups not fit to train on", unfit, "share", 0.03, note)
    left_out = tally.left_out[False] / max(1, tally.stepped[False])
    note = f"of {tally.stepped[False]}; of the planter's {tally.stepped[True]} answers {tally.left_out[True]} were"
    yield at_most("honest right answers left out", left_out, "share", 0.03, note)


if __name__ == "__main__":
    main()
