"""What does `overlap` bring to whole rounds? Real nodes in silo with two threads, on and off in turns.

    python -m tests.bench.node.overlapped [--quick] [--json] [--seed N] [--turns N] [--rounds N]

Each turn plays the starter with default settings but for the threads and the priority, in a new folder, once each way,
and the two take each other's places from turn to turn. What counts is the wall time of the rounds after the second,
validation included: true where nothing else runs. The ratio is the median of the turns, with the 95% interval of the
mean of its logarithm. Each way's mean reward over the same rounds stands beside it.
"""

import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from sapo_desktop.core.records import RoundReport
from sapo_desktop.lab.table import t_interval
from sapo_desktop.worker.store.history import History
from tests.attack.peers.swarm import settings
from tests.bench.figure import Figure, arguments, show, tell
from tests.bench.node.session import busy

TURNS, ROUNDS, THREADS = 4, 30, 2
QUICK_TURNS, QUICK_ROUNDS = 2, 4
WARM = 2
"""Rounds that do not count."""


class Played(msgspec.Struct, frozen=True):
    """Of the rounds that count: seconds a round, and the mean reward."""

    seconds: float
    reward: float


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    turns, rounds = (QUICK_TURNS, QUICK_ROUNDS) if options.quick else (options.turns, options.rounds)
    found: dict[bool, list[Played]] = {False: [], True: []}
    for turn in range(turns):
        for on in (False, True) if turn % 2 else (True, False):
            found[on].append(play(on, rounds, options.seed + turn))
            tell(f"turn {turn + 1} of {turns}, overlap {'on' if on else 'off'}: {found[on][-1].seconds:.2f} s a round")
    show(figures(found), options)


def play(on: bool, rounds: int, seed: int) -> Played:
    """A node of its own, from its first round."""
    with tempfile.TemporaryDirectory(prefix="sapo-overlapped-") as folder:
        command = [sys.executable, "-m", "sapo_desktop", "run", "--silo", "--json", "--data", folder]
        command += ["--rounds", str(rounds), "--seed", str(seed)]
        command += settings(f"overlap={on}".lower(), f"threads={THREADS}", "low_priority=false")
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        with closing(History(Path(folder) / "history.sqlite")) as history:
            return counted(history.last_rounds(rounds))


def counted(reports: list[RoundReport]) -> Played:
    """The rounds after the warm ones."""
    counting = sorted(reports, key=lambda report: report.round)[WARM:]
    return Played(
        statistics.fmean(report.seconds for report in counting), statistics.fmean(report.reward for report in counting)
    )


def figures(found: dict[bool, list[Played]]) -> Iterator[Figure]:
    gains = [off.seconds / on.seconds for off, on in zip(found[False], found[True], strict=True)]
    interval = t_interval([math.log(gain) for gain in gains])
    assert interval is not None, "there are several turns"
    note = f"95% interval {math.exp(interval.low):.2f} to {math.exp(interval.high):.2f}; {busy()}"
    yield Figure("by the wall, starter", statistics.median(gains), "times as fast", note=note)
    for on, played in found.items():
        way = f"overlap {'on' if on else 'off'}, starter"
        yield Figure(f"a round, {way}", statistics.median(one.seconds for one in played), "s of the wall")
        yield Figure(f"reward, {way}", statistics.fmean(one.reward for one in played), "mean")


if __name__ == "__main__":
    main()
