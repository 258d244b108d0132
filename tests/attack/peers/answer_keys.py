"""An answer key in the swarm: a peer publishes right answers without reasoning. Do others still learn?

    python -m tests.attack.peers.answer_keys                       3 seeds, 24 rounds, the starter; 7 CPU-minutes
    python -m tests.attack.peers.answer_keys --trained 30          honest nodes that learned alone before
    python -m tests.attack.peers.answer_keys --text stolen         the key behind an honest answer's reasoning
    python -m tests.attack.peers.answer_keys --trusting            without the factors of learning/trust.py
    python -m tests.attack.peers.answer_keys --quick               5 rounds, one seed

The lab's nodes, with the product's round, engine, draw, checks, scores, choice of questions and default weighting. They
use a mix of 4/4 and 8 answers per question. The attacker has no model. Each round it publishes groups of four right and
four wrong answers to any task, through the honest relay that everybody uses. For each seed two honest nodes play in
silo, the same two with one attacker, and one of them with the attacker alone.

The figures compare the share of held-out questions solved greedily, averaged over the last third of the rounds, with
that of the same nodes in silo. They also count honest groups that would teach but were left out (learning/trust.py).
"""

import argparse
import asyncio
import contextlib
import statistics
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as Folder
from random import Random
from typing import Any

from sapo_desktop.core.extraction import CLOSE, OPEN
from sapo_desktop.core.hashing import digest
from sapo_desktop.core.records import Completion, Group, Mark, Question, Sampling, WeightingName
from sapo_desktop.engines.torch.service import create
from sapo_desktop.lab import node as lab_node
from sapo_desktop.lab.arm import Arm
from sapo_desktop.lab.node import Ground, Node
from sapo_desktop.lab.play import Lab
from sapo_desktop.lab.swarm import NETWORK, LabMember, Room, Seat
from sapo_desktop.learning import round as learning_round
from sapo_desktop.learning import trust
from sapo_desktop.learning.heldout import Evaluator, HeldOutSet, Subject
from sapo_desktop.learning.mixing import MixShare, summed
from sapo_desktop.learning.round import RoundPlan, RoundResult, unwatched
from sapo_desktop.learning.trust import Evidence
from sapo_desktop.swarm.pool.pool import Path
from sapo_desktop.swarm.protocol.envelope import GroupBody, open_envelope
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.worker.membership.index_book import IndexBook
from sapo_desktop.worker.membership.joining import group_check
from sapo_desktop.worker.membership.publishing import Membership
from tests.bench.figure import Figure, arguments, at_most, show, tell, with_fixed_hashes

SEEDS, ROUNDS, QUICK_ROUNDS = (1, 2, 3), 24, 5
HELD_OUT = 6
"""Questions of each task in a score."""
GROUPS = 24
"""Groups that the attacker publishes in a round."""
ALONE, SHARED = MixShare(8, 0), MixShare(4, 4)
RELAY = b"relay"


class Attacker:
    """Knows every right answer, and publishes it without a step that leads there."""

    def __init__(self, ground: Ground, room: Room, lab: Lab, seed: int, *, steals: bool) -> None:
        signer = Signer(digest(b"sapo/attack/key", str(seed).encode("ascii")))
        self.key = signer.key.hex()
        self._lab, self._rng, self._steals = lab, Random(seed), steals
        self._tasks = {identity: task for task, identity in ground.ids.items()}
        self._seat = Seat(room, signer, group_check(ground.catalogue, self._tasks), self._rng, forges=False)
        draws_nothing: Any = None
        self._member = LabMember(
            Membership(signer, NETWORK, digest(b"attacker")[:16], ground.ids),
            self._seat,
            ground.examiner,
            draws_nothing,
            IndexBook(None),
            ground.catalogue,
            lambda: room.now,
            self._rng,
        )
        self._member.sharing = True

    async def play(self) -> None:
        """Publish for one round."""
        questions = await self._member.questions(self._rng.choices([*self._tasks.values()], k=GROUPS))
        reasoning = self._overheard() if self._steals else {}
        truths = [self._lab._marker.truth(one.task, one.seed) for one in questions]
        wrong = [*truths[1:], *truths[:1]]
        for question, right, other in zip(questions, truths, wrong, strict=True):
            before = reasoning.get(question.task, "")
            texts = [f"{before}{OPEN}{answer}{CLOSE}" for answer in [right] * 4 + [other] * 4]
            await self._member.share([_group(question, texts)])

    def _overheard(self) -> Mapping[str, str]:
        """The reasoning of an honest answer to each task: to another question."""
        found = {}
        for entry in self._seat.exchange.pool:
            body = open_envelope(entry.envelope, GroupBody, NETWORK).body
            texts = [answer.text for answer in body.answers if OPEN in answer.text]
            if texts:
                text = self._rng.choice(texts)
                found[self._tasks[body.task]] = text[: text.find(OPEN)]
        return found


def _group(question: Question, texts: Sequence[str]) -> Group:
    answers = [Completion(tokens=[1], logprobs=[], text=text, finish="stop") for text in texts]
    mark = Mark(solved=False, partial=0.0, reward=0.0, answer=None, verdict="wrong")
    return Group(question=question, completions=answers, marks=[mark] * len(texts))


@dataclass
class Played:
    """What became of the honest nodes of an arm. Counts are by whether the attacker made the group."""

    scores: dict[int, list[float]] = field(default_factory=dict)
    """Each node's, in the last third of the rounds."""
    would_teach: Counter[bool] = field(default_factory=Counter)
    """Groups looked at that have a right answer to a task that is not solved always, and those of them left out."""
    left_out: Counter[bool] = field(default_factory=Counter)
    advantage: Counter[bool] = field(default_factory=Counter)
    """Summed over the tokens of peers' answers in steps."""

    def score(self, nodes: int) -> float:
        """Mean of the first nodes."""
        return statistics.fmean(score for node in range(nodes) for score in self.scores[node])


async def play(lab: Lab, seed: int, honest: int, given: argparse.Namespace, *, attacked: bool) -> Played:
    """All rounds of one arm."""
    mix, weighting = ("4/4", "guarded") if attacked else ("8/0", "")
    held_out = 1 if given.quick else HELD_OUT
    arm = Arm(mix=mix, weighting=weighting, nodes=honest, seed=seed, levels=("easy", "middle"), held_out=held_out,
              values={"curriculum": "on"})  # fmt: skip
    ground, room = await lab._ground(arm), Room()
    nodes = [Node(number, ground, room, None) for number in range(honest)]
    attacker = Attacker(ground, room, lab, seed, steals=given.text == "stolen")
    for node in nodes:
        await node.load()
    questions = HeldOutSet("validation", lab._held_out(ground))
    played = Played()
    with watched(played, attacker.key, trusting=given.trusting):
        for number in range(1, given.trained + given.rounds + 1):
            room.begin(number)
            left = given.trained + given.rounds - number
            shares = attacked and number > given.trained
            if shares:
                await attacker.play()
            for node in nodes:
                node._share = SHARED if shares else ALONE
                await node.play()
            if left < given.rounds / 3 and left % max(1, given.rounds // 8) == 0:
                for node in nodes:
                    played.scores.setdefault(node.number, []).append(await score(node, questions))
                tell(f"seed {seed}, {mix}, round {number}: {[rows[-1] for rows in played.scores.values()]}")
    return played


async def score(node: Node, questions: HeldOutSet) -> float:
    """The share of held-out questions that the node solves greedily now."""
    evaluator = Evaluator(node.engine, node._ground.examiner, b"")
    subject = Subject("last", node.counters.round, None, live=True)
    return (await evaluator.evaluate(subject, questions, Sampling(max_tokens=node.max_tokens), unwatched)).score


@contextlib.contextmanager
def behind_one_relay() -> Iterator[None]:
    """All groups come through the same honest relay, which gives each author a tag of its own."""
    keep = Seat._keep

    def kept(self: Seat, envelope: bytes, received: float) -> None:
        opened = open_envelope(envelope, GroupBody, NETWORK)
        self.exchange.pool.add(opened, Path(RELAY, RELAY, opened.body.key[:8]), received)

    Seat._keep = kept  # type: ignore[method-assign]
    try:
        yield
    finally:
        Seat._keep = keep  # type: ignore[method-assign]


@contextlib.contextmanager
def watched(played: Played, attacker: str, *, trusting: bool) -> Iterator[None]:
    """Note what each round makes of peers' groups; `trusting`: without the factors and shares of trust.py."""
    run_round, teaches, factors, share = lab_node.run_round, learning_round.teaches, trust.FACTORS, trust.SHARE

    async def noted(plan: RoundPlan, *parts: Any) -> RoundResult:
        result = await run_round(plan, *parts)
        for group, row in zip(result.groups, result.advantages, strict=True):
            if group.author:
                played.advantage[group.author == attacker] += round(summed(group, row))
        return result

    def judged(group: Group, weighting: WeightingName, own_rates: Mapping[str, float], evidence: Evidence) -> bool:
        found, would = teaches(group, weighting, own_rates, evidence), teaches(group, weighting, own_rates)
        played.would_teach[group.author == attacker] += would
        played.left_out[group.author == attacker] += would and not found
        return found

    lab_node.run_round, learning_round.teaches = noted, judged  # type: ignore[attr-defined]
    if trusting:
        trust.FACTORS, trust.SHARE = (), 1.0
    try:
        yield
    finally:
        lab_node.run_round, learning_round.teaches = run_round, teaches  # type: ignore[attr-defined]
        trust.FACTORS, trust.SHARE = factors, share


async def figures(folder: Folder, given: argparse.Namespace) -> list[Figure]:
    lab = Lab(folder, create)
    of_three: list[float] = []
    only: list[float] = []
    left_out, would_teach, taken = 0, 0, Counter[bool]()
    with behind_one_relay():
        for seed in given.seeds:
            silo = await play(lab, seed, 2, given, attacked=False)
            three = await play(lab, seed, 2, given, attacked=True)
            alone = await play(lab, seed, 1, given, attacked=True)
            of_three.append(1 - three.score(2) / silo.score(2))
            only.append(1 - alone.score(1) / silo.score(1))
            left_out, would_teach = left_out + three.left_out[False], would_teach + three.would_teach[False]
            taken.update(three.advantage)
            tell(f"seed {seed}: silo {silo.score(2):.3f}, of three {three}, only source {alone}")
    share = taken[True] / max(1, taken.total())
    return [
        shortfall("one attacker of three", of_three, 0.05),
        shortfall("an attacker as the only source", only, 0.15),
        at_most("honest groups left out", left_out / max(1, would_teach), "share", 0.03, f"of {would_teach}"),
        at_most("an attacker's share of what is learned from two peers", share, "share", trust.SHARE),
    ]


def shortfall(case: str, by_seed: Sequence[float], most: float) -> Figure:
    note = f"by seed: {', '.join(f'{one:+.3f}' for one in by_seed)}"
    return at_most(f"held-out score below silo's, {case}", statistics.fmean(by_seed), "share", most, note)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--trained", type=int, default=0, help="rounds that honest nodes play alone before")
    parser.add_argument("--text", choices=["bare", "stolen"], default="bare", help="what stands before the answer")
    parser.add_argument("--trusting", action="store_true", help="weigh peers' answers without learning/trust.py")
    given = parser.parse_args()
    if given.quick:
        given.rounds, given.seeds = QUICK_ROUNDS, SEEDS[:1]
    with_fixed_hashes()
    with tempfile.TemporaryDirectory() as folder:
        show(asyncio.run(figures(Folder(folder), given)), given)


if __name__ == "__main__":
    main()
