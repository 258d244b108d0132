"""How long a newcomer waits: from `run` to the first answer and to the first finished round, on a new data folder.

    python -m tests.bench.node.first_answer             5 starts
    python -m tests.bench.node.first_answer --quick     1 start

Wall time as a person sees it, and CPU time of all processes as the machine sees it (trust that one where it is busy).
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.bench.figure import Figure, arguments, show, tell
from tests.bench.processes import cpu_of, family


@dataclass
class Start:
    """Seconds of one start."""

    answer: float = 0.0
    answer_cpu: float = 0.0
    round: float = 0.0


def main() -> None:
    given = arguments(__doc__).parse_args()
    starts = []
    for number in range(1 if given.quick else 5):
        with tempfile.TemporaryDirectory() as folder:
            starts.append(start(Path(folder) / "node", given.seed))
        tell(f"start {number + 1}: first answer after {starts[-1].answer:.1f} s")
    for name, values in {
        "run to first answer, wall": [s.answer for s in starts],
        "run to first answer, CPU of all processes": [s.answer_cpu for s in starts],
        "run to first finished round, wall": [s.round for s in starts],
    }.items():
        spread = f"{min(values):.1f} to {max(values):.1f} in {len(values)}"
        show([Figure(name, statistics.median(values), "s", note=spread)], given)


def start(data: Path, seed: int) -> Start:
    """Start a node, and end it after its first round."""
    line = [sys.executable, "-m", "sapo_desktop", "run", "--silo", "--json", "--rounds", "1"]
    line += ["--seed", str(seed), "--data", str(data)]
    seen = Start()
    began = time.perf_counter()
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    for text in process.stdout:
        event = json.loads(text)["event"]
        if event == "answer" and not seen.answer:
            seen.answer, seen.answer_cpu = time.perf_counter() - began, cpu_of(family(process.pid))
        if event == "round":
            seen.round = time.perf_counter() - began
    process.wait()
    return seen


if __name__ == "__main__":
    main()
