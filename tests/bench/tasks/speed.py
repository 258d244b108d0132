"""How long a question takes to make and an answer to score, per task.

    python -m tests.bench.tasks.speed              2,000 seeds a task, a few minutes
    python -m tests.bench.tasks.speed --quick      60 seeds a task
    python -m tests.bench.tasks.speed --count 100000    what tasks that are shared must hold

Wall time, each question and mark measured twice by two examiners and the shorter time taken: CPU time has steps of
several milliseconds on some systems, and a busy machine disturbs one of two. Marked are the true answer and one with
a line too many. A family counts by its slowest level. Goal: 20 ms at p99.9 to make and mark together, for the levels
that are shared.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import msgspec

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.resources import resource
from sapo_desktop.tasks.catalogue import Family, TaskKey, load_catalogue
from sapo_desktop.tasks.examiner import Examiner
from tests.bench.figure import Figure, arguments, show, tell, with_fixed_hashes

GOAL_MS = 20.0
_SEEDS_APART = 1_000_003


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds of each question of a task."""

    make: list[float]
    mark: list[float]
    failed: int
    """Seeds without a question."""


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--count", type=int, help="seeds per task")
    options = parser.parse_args()
    with_fixed_hashes()
    count = options.count or (60 if options.quick else 2000)
    catalogue = load_catalogue(resource("tasks.toml"))
    pair = (Examiner(catalogue), Examiner(catalogue))
    tell(f"{len(catalogue.tasks())} tasks, {count} seeds each from {options.seed} on")
    for family in catalogue.families:
        measured = {
            level.name: measure(pair, f"{family.name}/{level.name}", options.seed, count) for level in family.levels
        }
        show(figures(family, measured), options)


def measure(pair: Sequence[Examiner], task: TaskKey, first_seed: int, count: int) -> Times:
    """Make and mark `count` questions of a task, with each of the two examiners."""
    for examiner in pair:
        examiner.question(task, first_seed)  # word lists are read once, not per question
    make: list[float] = []
    mark: list[float] = []
    failed = 0
    for number in range(1, count + 1):
        seed = first_seed + number * _SEEDS_APART
        try:
            make.append(min(_milliseconds(partial(examiner.question, task, seed)) for examiner in pair))
        except TaskError:
            failed += 1
            continue
        truth = pair[0].truth(task, seed)
        answers = (f"steps\n<answer>{truth}</answer>", f"<answer>{truth}\n1</answer>")
        marking = [partial(_mark_each, examiner, task, seed, answers) for examiner in pair]
        mark.append(min(map(_milliseconds, marking)) / len(answers))
    return Times(make=make, mark=mark, failed=failed)


def _mark_each(examiner: Examiner, task: TaskKey, seed: int, answers: Sequence[str]) -> None:
    for answer in answers:
        examiner.mark(task, seed, answer)


def _milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - started)


def figures(family: Family, measured: dict[str, Times]) -> Iterable[Figure]:
    """One family's figures: its slowest level counts."""
    for what, share in (("p50", 0.5), ("p99.9", 0.999)):
        for name, rows in (
            ("make", {level: times.make for level, times in measured.items()}),
            ("score", {level: times.mark for level, times in measured.items()}),
        ):
            yield _slowest(f"tasks.{family.name}.{name}.{what}", rows, share)
    together = {
        level: [make + mark for make, mark in zip(times.make, times.mark, strict=True)]
        for level, times in measured.items()
    }
    failed = sum(times.failed for times in measured.values())
    for shared in (True, False):
        rows = {level.name: together[level.name] for level in family.levels if level.shared == shared}
        if rows:
            name = f"tasks.{family.name}.99.9% made and scored{'' if shared else ', not shared'}"
            whole = _slowest(name, rows, 0.999)
            yield msgspec.structs.replace(
                whole,
                goal=f"≤{GOAL_MS:g}" if shared else None,
                held=whole.value <= GOAL_MS if shared else None,
                note=f"{whole.note}, {failed} seeds without a question" if failed else whole.note,
            )


def _slowest(name: str, rows: dict[str, list[float]], share: float) -> Figure:
    quantiles = {level: quantile(values, share) for level, values in rows.items()}
    level = max(quantiles, key=lambda key: quantiles[key])
    return Figure(name, round(quantiles[level], 4), "ms", note=f"level {level}")


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


if __name__ == "__main__":
    main()
