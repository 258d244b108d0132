"""What a computer does to a node's files: does it go on after its newest checkpoint, and say what happened?

    python -m tests.attack.faults                   a damaged file of each kind; as root on Linux a full disk, too

A node plays two rounds with the starter, in silo. Then one of its files is damaged, and it is started again for one
round more. The full disk is a small one in memory, filled up while a round is played and emptied again.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.attack.kills import START_SECONDS, Terminal, read_rewards
from tests.bench.figure import Figure, arguments, show, tell

ROUNDS = 2
DISK_MEGABYTES = 32
FULL_SECONDS = 15.0


@dataclass(frozen=True)
class Outcome:
    """What became of a node."""

    fault: str
    reached: int
    """The last round of the run after the fault."""
    expected: int
    """What it is where the newest undamaged checkpoint was gone on from."""
    said: list[str]

    @property
    def lost(self) -> int:
        return max(0, self.expected - self.reached)


def main() -> None:
    given = arguments(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        good = Path(scratch) / "good"
        play(good, ROUNDS, given.seed)
        outcomes = [damaged(name, fault, good, Path(scratch), given.seed) for name, fault in FAULTS.items()]
        if sys.platform == "linux" and os.geteuid() == 0:
            outcomes.append(full_disk(Path(scratch), given.seed))
    for figure in figures(outcomes):
        show(figure, given.json)


def damaged(name: str, fault: Callable[[Path], int], good: Path, scratch: Path, seed: int) -> Outcome:
    """A copy of the folder with one fault, started again."""
    folder = scratch / name.replace(" ", "-")
    shutil.copytree(good, folder)
    left = fault(folder)
    said, reached = play(folder, 1, seed)
    tell(f"{name}: went on to round {reached}; said: {' '.join(said) or 'nothing'}")
    return Outcome(name, reached, left + 1, said)


def overwrite(path: Path, at: int, count: int = 64) -> None:
    """Some bytes in the middle of a file are others."""
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"\xa5" * count)


def newest(folder: Path) -> Path:
    """Its newest checkpoint."""
    return max(path for path in (folder / "checkpoints").iterdir() if path.name.isdigit())


def settings_are_noise(folder: Path) -> int:
    (folder / "settings.toml").write_bytes(b"\x00\xffquestions = [")
    return ROUNDS


def wishes_are_noise(folder: Path) -> int:
    (folder / "wishes.json").write_bytes(b"{{")
    return ROUNDS


def weights_are_other_ones(folder: Path) -> int:
    overwrite(newest(folder) / "adapter_model.safetensors", 5000)
    return ROUNDS - 1


def a_checkpoint_is_cut_off(folder: Path) -> int:
    (newest(folder) / "state.msgpack").write_bytes(b"")
    return ROUNDS - 1


def the_history_is_no_database(folder: Path) -> int:
    overwrite(folder / "history.sqlite", 0)
    return ROUNDS


def the_history_has_a_torn_page(folder: Path) -> int:
    overwrite(folder / "history.sqlite", 20_000, 4096)
    return ROUNDS


def a_row_is_another_text(folder: Path) -> int:
    data = (folder / "history.sqlite").read_bytes()
    at = data.rindex(b'"local_groups"')
    overwrite(folder / "history.sqlite", at, 8)
    return ROUNDS


def the_cache_is_gone(folder: Path) -> int:
    shutil.rmtree(folder / "cache")
    return ROUNDS


FAULTS: dict[str, Callable[[Path], int]] = {
    "settings are noise": settings_are_noise,
    "wishes are noise": wishes_are_noise,
    "weights are other ones": weights_are_other_ones,
    "a checkpoint is cut off": a_checkpoint_is_cut_off,
    "the history is no database": the_history_is_no_database,
    "the history has a torn page": the_history_has_a_torn_page,
    "a row is another text": a_row_is_another_text,
    "the cache is gone": the_cache_is_gone,
}
"""Each returns the round whose checkpoint is whole after it."""
SILENT = {"the cache is gone", "wishes are noise"}
"""The one is made again, the other not asked for where a run is told what to do: there is nothing to say."""


def play(folder: Path, rounds: int, seed: int) -> tuple[list[str], int]:
    """Play so many rounds; returns what was said, and the last round. 0 where it did not start."""
    line = [sys.executable, "-m", "sapo_desktop", "run", "--silo", "--json", "--seed", str(seed), "--data", str(folder)]
    line += ["--rounds", str(rounds), "--set", "questions=4", "--set", "low_priority=off"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    events = [json.loads(text) for text in done.stdout.splitlines() if text.startswith("{")]
    said = [event["text"] for event in events if event["event"] == "notice" and event["level"] != "info"]
    return said, max((event["round"] for event in events if event["event"] == "round"), default=0)


def full_disk(scratch: Path, seed: int) -> Outcome:
    """Filled up after the first checkpoint, emptied after a while."""
    place = scratch / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m", "tmpfs", str(place)], check=True)
    try:
        terminal = Terminal(place / "node", seed, 3 * ROUNDS)
        deadline = time.monotonic() + START_SECONDS
        while not terminal.checkpointed and time.monotonic() < deadline:
            time.sleep(0.1)
        filled = fill(place / "ballast")
        time.sleep(FULL_SECONDS)
        filled.unlink()
        terminal.finish()
        reached = len(read_rewards(place / "node"))
    finally:
        subprocess.run(["umount", str(place)], check=True)
    tell(f"the disk is full: went on to round {reached}; said: {' '.join(terminal.said) or 'nothing'}")
    return Outcome("the disk is full", reached, 3 * ROUNDS, terminal.said)


def fill(ballast: Path) -> Path:
    """Write until no byte is left."""
    with ballast.open("wb", buffering=0) as file:
        for size in (2**16, 2**10, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return ballast


def figures(outcomes: Sequence[Outcome]) -> list[Figure]:
    lost = sum(outcome.lost for outcome in outcomes)
    silent = [outcome.fault for outcome in outcomes if not outcome.said and outcome.fault not in SILENT]
    count = f"{len(outcomes)} faults"
    return [
        Figure(
            name=f"checkpointed rounds lost to {count}",
            value=lost,
            unit="rounds",
            goal="0",
            held=lost == 0,
            note=", ".join(outcome.fault for outcome in outcomes if outcome.lost),
        ),
        Figure(
            name="faults about which nothing was said",
            value=len(silent),
            unit="faults",
            goal="0",
            held=not silent,
            note=", ".join(silent),
        ),
    ]


if __name__ == "__main__":
    main()
