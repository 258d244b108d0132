"""Two learning runs of one seed beside each other, and how far a run's training reward moved.

    python -m tests.bench.node.compare FOLDER FOLDER    blocks of 20 rounds: difference on the same questions
    python -m tests.bench.node.compare FOLDER           blocks of 20 rounds: gain over the first, families made equal

In silo the questions follow from seed and round, so two runs of one seed are compared question by question. One run by
itself draws other families in every block; a family's share and a block's gain are fitted together by least squares.
"""

import argparse
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sapo_desktop.core.statistics import mean_with_error
from tests.bench.figure import Figure, show

BLOCK = 20
_QUESTIONS = """
SELECT r.round, a.place, g.seed, avg(a.solved) FROM rollouts a JOIN groups g USING (round_id, place)
JOIN rounds r ON r.id = a.round_id WHERE r.lost = 0 GROUP BY r.round, a.place
"""
_TASKS = """
SELECT r.round, n.name, m.answers, m.solved FROM task_marks m JOIN names n ON n.id = m.task
JOIN rounds r ON r.id = m.round_id WHERE r.lost = 0
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", help="one data folder, or two of one seed")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = beside(*given.folders) if len(given.folders) == 2 else gains(given.folders[0])
    for figure in found:
        show(figure, given.json)


def beside(first: Path, second: Path) -> list[Figure]:
    """Share solved of the second run less that of the first, on questions that both were asked."""
    one, other = ({row[:3]: row[3] for row in _rows(folder, _QUESTIONS)} for folder in (first, second))
    shared = sorted(one.keys() & other.keys())
    found = []
    for start in range(1, max((key[0] for key in shared), default=0) + 1, BLOCK):
        keys = [key for key in shared if start <= key[0] < start + BLOCK]
        if len(keys) > 1:
            change = mean_with_error([other[key] - one[key] for key in keys])
            note = f"standard error {change.standard_error:.4f}, {len(keys)} questions"
            found.append(
                Figure(name=f"rounds {start} to {start + BLOCK - 1}", value=change.value, unit="share", note=note)
            )
    return found


def gains(folder: Path) -> list[Figure]:
    """Share solved in each block less that in the first, as if every block had asked the same families."""
    rows = [((number - 1) // BLOCK, task, answers, solved) for number, task, answers, solved in _rows(folder, _TASKS)]
    tasks = sorted({task for _, task, _, _ in rows})
    blocks = sorted({block for block, _, _, _ in rows} - {0})
    design, seen, weights = np.zeros((len(rows), len(tasks) + len(blocks))), np.zeros(len(rows)), np.zeros(len(rows))
    for place, (block, task, answers, solved) in enumerate(rows):
        design[place, tasks.index(task)] = 1
        if block:
            design[place, len(tasks) + blocks.index(block)] = 1
        seen[place], weights[place] = solved, answers**0.5
    fitted = np.linalg.lstsq(design * weights[:, None], seen * weights, rcond=None)[0]
    return [
        Figure(name=f"rounds {BLOCK * block + 1} to {BLOCK * (block + 1)}", value=float(gain), unit="share")
        for block, gain in zip(blocks, fitted[len(tasks) :], strict=True)
    ]


def _rows(folder: Path, query: str) -> Sequence[tuple[int, ...]]:
    database = sqlite3.connect(f"file:{folder / 'history.sqlite'}?mode=ro", uri=True)
    try:
        return database.execute(query).fetchall()
    finally:
        database.close()


if __name__ == "__main__":
    main()
