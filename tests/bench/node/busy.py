"""How long a newcomer waits where other programs keep the computer busy: endless loops beside a first `run`.

    python -m tests.bench.node.busy             3 starts beside four loops
    python -m tests.bench.node.busy --quick     1 start

Each loop is a program of its own, in a session of its own as a desktop starts them. Wall time as a person sees it.
"""

import contextlib
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bench.figure import arguments, at_most, show, tell
from tests.bench.node.first_answer import start

LOOPS = 4
ANSWER_SECONDS, ROUND_SECONDS = 90.0, 170.0
"""Goals, on two cores."""


def main() -> None:
    given = arguments(__doc__).parse_args()
    starts = []
    with loops(LOOPS):
        for number in range(1 if given.quick else 3):
            with tempfile.TemporaryDirectory() as folder:
                starts.append(start(Path(folder) / "node", given.seed))
            tell(f"start {number + 1}: answer after {starts[-1].answer:.1f} s, round after {starts[-1].round:.1f} s")
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    note = f"{LOOPS} endless loops on {os.cpu_count()} cores, load {load:.1f} at the end"
    for name, values, most in (
        ("to the first answer", [s.answer for s in starts], ANSWER_SECONDS),
        ("to the first finished round", [s.round for s in starts], ROUND_SECONDS),
    ):
        spread = f"{min(values):.1f} to {max(values):.1f} in {len(values)}; {note}"
        show([at_most(name, statistics.median(values) or math.inf, "s", most, spread)], given)  # 0: none came


@contextlib.contextmanager
def loops(count: int) -> Iterator[None]:
    """So many programs that compute without end."""
    line = [sys.executable, "-c", "while True: pass"]
    running = [subprocess.Popen(line, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()


if __name__ == "__main__":
    main()
