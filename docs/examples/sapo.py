"""SAPO in one file: two small models learn arithmetic, each from its own answers and the other's.

    .venv/bin/python docs/examples/sapo.py --rounds 60                 # from a clone; about three minutes on one core
    .venv/bin/python docs/examples/sapo.py --rounds 60 --external 0    # the same without sharing

It follows Algorithm 1 of arXiv 2509.08721 with the product's own parts: tasks and scorer, PyTorch engine, mixing,
advantages and GRPO step. Answers travel as text: the receiver encodes and scores them itself. It omits what a real
swarm needs: signatures, time slots, limits, sandboxes and distrust (sapo_desktop/swarm, learning/trust.py).
"""

import argparse
import asyncio
import os
import random
import sys
from dataclasses import dataclass, field
from typing import NamedTuple

from sapo_desktop.core.records import Completion, Group, Prompt, Question, Sampling
from sapo_desktop.core.resources import resource
from sapo_desktop.core.settings import Settings
from sapo_desktop.engines.torch.service import create
from sapo_desktop.lab.node import InProcess
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.mixing import MixedBatch, MixShare, advantages, mix_groups, training_sequences
from sapo_desktop.learning.plan import trainer_settings
from sapo_desktop.tasks.catalogue import load_catalogue
from sapo_desktop.tasks.examiner import Examiner
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.hosts.trainer import EnginePlan, Trainer

TASKS = ("chain_sum/easy", "count_bits/easy", "gcd/easy")
ANSWERS, GROUPS, TOKENS = 8, 8, 48  # answers to each question, groups in each step, tokens of an answer at most
HELD_OUT = 10**9  # seeds from here on are for the score alone


class Shared(NamedTuple):
    """A group as it travels: which question, and what was answered. Neither the scores nor the right answer."""

    author: int
    task: str
    seed: int
    texts: list[str]


@dataclass
class Node:
    """One model with its optimiser. `rates`: its smoothed share solved by task, the baseline of others' answers."""

    number: int
    engine: Engine
    random: random.Random
    rates: dict[str, float] = field(default_factory=dict)


async def make_node(number: int, seed: int) -> Node:
    """Load the starter as this node's model."""
    model = resource("starter")
    counters = Counters(round=0, instance="", seed=seed * 100 + number)
    trainer = trainer_settings(Settings(method="full"), 1_900_000, counters)
    engine = Engine(Trainer(InProcess(create())), EnginePlan(model, trainer, threads=1, device="cpu"))
    await engine.load(None)
    return Node(number, engine, random.Random(counters.seed))


def scored(examiner: Examiner, question: Question, answers: list[Completion], **origin: str) -> Group:
    """Reward the answers: 1 if the scorer finds them right, otherwise 0."""
    marks = [examiner.mark(question.task, question.seed, answer.text) for answer in answers]
    return Group(question=question, completions=answers, marks=marks, **origin)


def weigh(mixed: MixedBatch, rates: dict[str, float]) -> list[list[float]]:
    """An advantage for each answer. Write your own weighting here; groups from `mixed.local` on come from others."""
    return advantages(mixed, "paper", rates)


async def play(node: Node, examiner: Examiner, pool: list[Shared], share: MixShare) -> tuple[list[Shared], float]:
    """Play one round of a node; returns the groups that it shares and its mean reward."""
    # 1. Sample a batch of questions. 2. Generate answers. 3. Share them as text.
    drawn = [(node.random.choice(TASKS), node.random.randrange(HELD_OUT)) for _ in range(share.local)]
    questions = [examiner.question(task, seed) for task, seed in drawn]
    sampling = Sampling(max_tokens=TOKENS, seed=node.random.randrange(2**31))
    made = await node.engine.generate([Prompt(question.text) for question in questions], ANSWERS, sampling)
    own = [scored(examiner, *pair) for pair in zip(questions, made.completions, strict=True)]
    shared = [
        Shared(node.number, one.question.task, one.question.seed, [c.text for c in one.completions]) for one in own
    ]
    for group in own:
        solved = sum(mark.solved for mark in group.marks) / ANSWERS
        node.rates[group.question.task] = 0.9 * node.rates.get(group.question.task, solved) + 0.1 * solved

    # 4. Draw J groups of others, recreate and score them here. 5. Rewards, advantages, one step.
    others = [one for one in pool if one.author != node.number]
    drawn_groups = node.random.sample(others, min(share.external, len(others)))
    external, external_ids = await received(node, examiner, drawn_groups)
    mixed = mix_groups(own, external, share)
    weights = weigh(mixed, node.rates)
    ids = [*(made.prompt_tokens[place] for place in mixed.places), *external_ids[: mixed.external]]
    await node.engine.step(training_sequences(mixed.groups, ids, weights, "paper"))
    return shared, sum(mark.reward for group in own for mark in group.marks) / (len(own) * ANSWERS)


async def received(node: Node, examiner: Examiner, drawn: list[Shared]) -> tuple[list[Group], list[list[int]]]:
    """Make shared groups again: the question from task and seed, tokens and scores by our own tokeniser and scorer."""
    if not drawn:
        return [], []
    questions = [examiner.question(one.task, one.seed) for one in drawn]
    encoded = await node.engine.encode([Prompt(one.text) for one in questions], [t for one in drawn for t in one.texts])
    ids = iter(encoded.tokens)
    groups = [
        scored(examiner, question, [Completion(next(ids), [], text, "stop") for text in one.texts], origin="peer")
        for question, one in zip(questions, drawn, strict=True)
    ]
    return groups, [list(prompt) for prompt in encoded.prompts]


async def score(node: Node, examiner: Examiner, questions: int) -> float:
    """The share of held-out questions that its most likely answers solve."""
    asked = [examiner.question(TASKS[n % len(TASKS)], HELD_OUT + n) for n in range(questions)]
    greedy = Sampling(max_tokens=TOKENS, greedy=True)
    made = await node.engine.generate([Prompt(one.text) for one in asked], 1, greedy)
    groups = [scored(examiner, *pair) for pair in zip(asked, made.completions, strict=True)]
    return sum(group.marks[0].solved for group in groups) / questions


async def sapo(rounds: int, external: int, seed: int, nodes: int = 2, held_out: int = 120) -> tuple[float, float]:
    """Let the nodes learn; returns their mean score before and after."""
    examiner = Examiner(load_catalogue(resource("tasks.toml")))
    swarm = [await make_node(number, seed) for number in range(nodes)]
    share = MixShare(local=GROUPS - external, external=external)
    before = await score(swarm[0], examiner, held_out)
    pool: list[Shared] = []
    for number in range(1, rounds + 1):
        played = [await play(node, examiner, pool, share) for node in swarm]
        pool = [group for groups, _ in played for group in groups]
        if number % 10 == 0:
            print(f"round {number}: mean reward {sum(reward for _, reward in played) / nodes:.2f}", flush=True)
    after = sum([await score(node, examiner, held_out) for node in swarm]) / nodes
    print(f"held-out questions solved: {before:.0%} before, {after:.0%} after {rounds} rounds")
    return before, after


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":  # the questions of some tasks depend on it
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--external", type=int, default=4, help=f"groups of others among the {GROUPS} of a step (J)")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    asyncio.run(sapo(given.rounds, given.external, given.seed))
