"""How cost grows: a round with its answers, their length and the model; a pool with its groups; memory with rounds.

    python -m tests.bench.engines.growth                    half an hour of one core
    python -m tests.bench.engines.growth --quick            fewer and smaller points, two minutes
    python -m tests.bench.engines.growth --only pools       one part of it: answers, tokens, models, pools, memory

A figure is the exponent of the growth: the slope of a line through the points, both axes logarithmic. 1 is linear. The
points are CPU seconds on one thread, the median of rounds after the first, random weights; a pool's are those of
putting in all groups, and of drawing 16: each group of an author of its own, by as many links, relays and tags as a
node of a large swarm has.
"""

import argparse
import math
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from random import Random

import psutil

from sapo_desktop.core.errors import UsageError
from sapo_desktop.swarm.pool import draw as pool_draw
from sapo_desktop.swarm.pool.pool import Path as Route
from sapo_desktop.swarm.pool.pool import Pool
from sapo_desktop.swarm.protocol.envelope import GroupBody, Opened
from tests.bench.engines.round import ours
from tests.bench.figure import Figure, arguments, at_most, cpu_seconds, show, tell
from tests.swarm.peers import ALICE, TASK, group_body

ANSWERS, LENGTHS = (4, 8, 16, 32, 64), (16, 32, 64, 128, 256)
MODELS = {"starter": 2.0, "50M": 54.0, "135M": 134.0}
"""Millions of parameters."""
GROUPS = (1_000, 10_000, 100_000)
DRAWN, DRAWS, GROUP_BYTES = 16, 5, 500
LINKS, RELAYS = 16, 64
PARTS = ("answers", "tokens", "models", "pools", "memory")
ROUNDS = 10_000
LINEAR = 1.1
"""The largest exponent that passes for linear."""

Points = Mapping[float, float]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    given = parser.parse_args()
    found: dict[str, Points] = {}
    with tempfile.TemporaryDirectory() as scratch:
        if set(given.only) - {"pools"}:
            found |= rounds(Path(scratch), given)
    if "pools" in given.only:
        found |= pools(GROUPS[: 2 if given.quick else len(GROUPS)], given.seed)
    show((exponent_of(name, points) for name, points in found.items()), given)


def rounds(scratch: Path, given: argparse.Namespace) -> dict[str, Points]:
    """The parts that need models. Memory is shown at once, since it does not grow with a size."""
    from tests.bench.engines.models import model_for_both_engines

    few = 3 if given.quick else len(ANSWERS)
    models = list(MODELS)[: 2 if given.quick else len(MODELS)] if "models" in given.only else ["starter"]
    folders = {name: model_for_both_engines(scratch / name, name, given.seed) for name in models}
    starter = folders["starter"]
    found: dict[str, Points] = {}
    if "answers" in given.only:
        found["a round, by answers to a question"] = {n: a_round(starter, given.seed, answers=n) for n in ANSWERS[:few]}
    if "tokens" in given.only:
        found["a round, by tokens of an answer"] = {n: a_round(starter, given.seed, tokens=n) for n in LENGTHS[:few]}
    if "models" in given.only:
        found["a round, by millions of parameters"] = {MODELS[n]: a_round(folders[n], given.seed) for n in models}
    if "memory" in given.only:
        early, late = memory_of_rounds(starter, given.seed, ROUNDS // 200 if given.quick else ROUNDS)
        grown = (late - early) / early
        note = f"{early / 1e6:.0f} MB after a tenth of them, {late / 1e6:.0f} MB in the end"
        show([Figure("memory gained, rounds", 100 * grown, "%", "<5", grown < 0.05, note)], given)
    return found


def a_round(folder: Path, seed: int, answers: int = 8, tokens: int = 32) -> float:
    """CPU seconds of one."""
    tell(f"{folder.name}: {answers} answers of {tokens} tokens")
    rounds = ours(folder, 4, seed, answers, tokens)
    next(rounds)
    return statistics.median([cpu_seconds(lambda: next(rounds)) for _ in range(4)][1:])


def pools(sizes: tuple[int, ...], seed: int) -> dict[str, Points]:
    """CPU seconds of filling a pool, and of drawing from it, by its groups."""
    filled, drawn = {}, {}
    for size in sizes:
        tell(f"a pool of {size:,} groups")
        random = Random(seed)
        pool = Pool(ALICE.key, 2 * size * GROUP_BYTES + 2**30)
        bodies = [opened(random) for _ in range(size)]
        filled[float(size)] = cpu_seconds(partial(fill, pool, bodies))
        if len(pool) < size:
            raise UsageError(f"The pool took {len(pool)} of {size} groups.")
        drawn[float(size)] = cpu_seconds(partial(draw, pool, random)) / DRAWS
    return {"filling a pool, by groups": filled, "drawing from a pool, by groups": drawn}


def opened(random: Random) -> Opened[GroupBody]:
    """A group of an author of its own."""
    author = random.randbytes(32)
    return Opened(group_body(ALICE, key=author, instance=author[:16]), author.ljust(GROUP_BYTES, b"."))


def fill(pool: Pool, bodies: list[Opened[GroupBody]]) -> None:
    for body in bodies:
        key = body.body.key
        pool.add(body, Route(bytes([key[0] % LINKS]), bytes([key[1] % RELAYS]), key[2:3]), 0.0)


def draw(pool: Pool, random: Random) -> None:
    for _ in range(DRAWS):
        pool_draw.draw(pool, DRAWN, {TASK}, lambda digest: True, random)


def memory_of_rounds(folder: Path, seed: int, rounds: int) -> tuple[float, float]:
    """Bytes that this process holds after a tenth of the rounds, and after all: small ones."""
    tell(f"{rounds:,} rounds")
    played: Iterator[None] = ours(folder, rounds, seed, 2, 4)
    held = []
    for number, _ in enumerate(played):
        if number in (rounds // 10, rounds):
            held.append(float(psutil.Process().memory_info().rss))
    return held[0], held[1]


def exponent_of(name: str, points: Points) -> Figure:
    """Least squares in logarithms."""
    xs, ys = [math.log(x) for x in points], [math.log(y) for y in points.values()]
    slope = statistics.linear_regression(xs, ys).slope
    note = "; ".join(f"{x:,.0f}: {y:.3g} s" for x, y in points.items())
    return at_most(f"exponent of {name}", slope, "exponent", LINEAR, note)


if __name__ == "__main__":
    main()
