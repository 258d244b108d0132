"""What a policy earns that does not think: the best constant answer and the best copy out of the question, per task.

    python -m tests.bench.cheapest                     1,000 questions a task, some minutes
    python -m tests.bench.cheapest --quick             60 questions a task
    python -m tests.bench.cheapest --tasks gcd,paper   only these
    python -m tests.bench.cheapest --balance           also proposes `keep` tables for tasks.toml

Constants are learnt from the right answers to as many other questions; every one of them, and every text that can be
copied out of a question from a named place (cheapest_policies.py), is marked by the examiner on all questions. The best
of each kind is the figure: chosen and measured on the same questions, so it is rather too high than too low. Goal: 20%
at most, for the levels that are shared.
"""

import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.resources import resource
from sapo_desktop.tasks.catalogue import Catalogue, TaskKey, load_catalogue, parse_tasks
from sapo_desktop.tasks.choosing import COPIED, is_copied
from sapo_desktop.tasks.examiner import Examiner
from tests.bench.cheapest_policies import constants, copies
from tests.bench.figure import Figure, arguments, show, tell

GOAL = 0.20
TARGET = 0.17
"""What a proposed balance aims at: the goal less what chance may add in another thousand questions."""
STEP, STEPS = 0.95, 1000
_SEEDS_APART = 1_000_003
_LEARNT_APART = 7_654_321
_BALANCED_APART = 5_555_555


class Best(msgspec.Struct, frozen=True, kw_only=True):
    """The best policy of one kind."""

    name: str
    share: float


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--count", type=int, help="questions per task")
    parser.add_argument("--tasks", help="a list as in the settings; all without it")
    parser.add_argument("--balance", action="store_true", help="propose `keep` tables")
    options = parser.parse_args()
    if sys.flags.hash_randomization:  # the examiner wants a fixed hash seed, which only a new process can have
        command = [sys.executable, "-m", "tests.bench.cheapest", *sys.argv[1:]]
        raise SystemExit(subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": "0"}, check=False).returncode)
    catalogue = load_catalogue(resource("tasks.toml"))
    count = options.count or (60 if options.quick else 1000)
    examiner = Examiner(catalogue)
    for task in parse_tasks(catalogue, options.tasks) if options.tasks else catalogue.tasks():
        show(figure(examiner, task, options.seed, count), options.json)
        if options.balance:
            tell(f"{task}: {balance(examiner, task, options.seed + _BALANCED_APART, count)}")


def figure(examiner: Examiner, task: TaskKey, first_seed: int, count: int) -> Figure:
    """What the better one of best constant and best copy solves of one task."""
    family, level = examiner.catalogue.find(task)
    learnt = [examiner.truth(task, seed) for seed in seeds(examiner, task, first_seed + _LEARNT_APART, count)]
    asked = list(seeds(examiner, task, first_seed, count))
    found = {
        "constant": best_constant(examiner, task, asked, constants(learnt, family.grammar)),
        "copy": best_copy(examiner, task, asked, family.grammar),
    }
    value = round(max(best.share for best in found.values()), 4)
    told = "; ".join(f"{kind} {best.share:.3f} ({best.name})" for kind, best in found.items())
    return Figure(
        name=f"cheapest.{task.replace('/', '.')}",
        value=value,
        unit="solved",
        goal=f"<= {GOAL:g}" if level.shared else None,
        held=value <= GOAL if level.shared else None,
        note=told if level.shared else f"not shared; {told}",
    )


def seeds(examiner: Examiner, task: TaskKey, first_seed: int, count: int) -> Iterator[int]:
    """So many seeds that have a question."""
    found, number = 0, 0
    while found < count:
        number += 1
        seed = first_seed + number * _SEEDS_APART
        try:
            examiner.question(task, seed)
        except TaskError:
            continue
        found += 1
        yield seed


def best_constant(examiner: Examiner, task: TaskKey, asked: Sequence[int], texts: Sequence[str]) -> Best:
    """Of these texts the one that solves most."""
    solved: Counter[str] = Counter()
    for seed in asked:
        for text, mark in zip(texts, examiner.mark_all(task, seed, map(_span, texts)), strict=True):
            solved[text] += mark.solved
    text, most = solved.most_common(1)[0]
    return Best(name=repr(text)[:30], share=most / len(asked))


def best_copy(examiner: Examiner, task: TaskKey, asked: Sequence[int], grammar: str) -> Best:
    """Of all places to copy from the one that solves most."""
    solved: Counter[str] = Counter()
    for seed in asked:
        found = copies(examiner.question(task, seed).text, grammar)
        right = {
            text for text in set(found.values()) if examiner.mark(task, seed, _span(text)).solved
        }  # one text stands in several places
        solved.update(name for name, text in found.items() if text in right)
    name, most = solved.most_common(1)[0] if solved else ("none", 0)
    return Best(name=name, share=most / len(asked))


def _span(text: str) -> str:
    return f"<answer>{text}</answer>"


class _Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a balance depends on, of one question."""

    keys: frozenset[str]
    """Entries of `keep` that would apply to it."""
    solved: frozenset[str]
    """The policies that solve it, constants and copies alike."""


def balance(examiner: Examiner, task: TaskKey, first_seed: int, count: int) -> dict[str, float]:
    """A `keep` table (tasks/choosing.py) under which no policy exceeds TARGET, as far as such a table can do that.

    The policy that earns most has the entry lowered that most of the questions it solves fall under, a little each
    time, as that makes all others earn more.
    """
    rows = list(_asked(_unbalanced(examiner), task, first_seed, count))
    keep: dict[str, float] = {}
    for _ in range(STEPS):
        weights = [min((keep.get(key, 1.0) for key in row.keys), default=1.0) for row in rows]
        earned: defaultdict[str, float] = defaultdict(float)
        for row, weight in zip(rows, weights, strict=True):
            for policy in row.solved:
                earned[policy] += weight
        policy = max(earned, key=lambda name: earned[name])
        if earned[policy] <= TARGET * sum(weights):
            break
        blamed: defaultdict[str, float] = defaultdict(float)
        for row, weight in zip(rows, weights, strict=True):
            if policy in row.solved:
                for key in row.keys:
                    blamed[key] += weight
        key = max(sorted(blamed), key=lambda name: blamed[name])
        keep[key] = keep.get(key, 1.0) * STEP
    else:
        tell(f"{task}: {policy} still earns {earned[policy] / sum(weights):.2f}")
    return {key: round(share, 3) for key, share in sorted(keep.items())}


def _asked(examiner: Examiner, task: TaskKey, first_seed: int, count: int) -> Iterator[_Asked]:
    family, _ = examiner.catalogue.find(task)
    asked = list(seeds(examiner, task, first_seed, count))
    texts = constants((examiner.truth(task, seed) for seed in asked), family.grammar)
    for seed in asked:
        question, right = examiner.question(task, seed).text, examiner.right_answers(task, seed)
        found = {repr(text): text for text in texts} | copies(question, family.grammar)
        marks = {text: examiner.mark(task, seed, _span(text)).solved for text in set(found.values())}
        copied = {COPIED} if is_copied(question, right) else set()
        yield _Asked(
            keys=frozenset({*right, *copied}), solved=frozenset(name for name, text in found.items() if marks[text])
        )


def _unbalanced(examiner: Examiner) -> Examiner:
    """One that sets every question there is."""
    bare = [
        msgspec.structs.replace(
            family, levels=tuple(msgspec.structs.replace(level, keep={}) for level in family.levels)
        )
        for family in examiner.catalogue.families
    ]
    return Examiner(Catalogue(families=tuple(bare)))


if __name__ == "__main__":
    main()
