"""Damages a node's files: does it continue from its newest checkpoint, and report what happened?

    python -m tests.attack.node.faults                   all of them; disks only as root on Linux
    python -m tests.attack.node.faults --quick           one of each kind, no disks
    python -m tests.attack.node.faults --only "memory runs out"

A node plays two rounds with the starter, in silo. Then one of its files is damaged, and it is started again for one
more round. Other faults happen while it plays. Its clock jumps by a day. A process is suspended for a while, or one
after the other from the start, as on a busy computer. The keyring is missing as it enters the swarm. Memory runs out:
its engine is killed (-9), and the kernel's count of such kills rises by one. A file that replaces /proc/vmstat for that
node does this (as root; otherwise the count stays, and the node says "maybe"). The full disk is a small one in memory,
filled up while a round is played and emptied again; the read-only one a file with a file system that the kernel treats
as broken, repaired before the next start. Bad connections are in `lines`, power cuts in `power`.
"""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from sapo_desktop.system.processes import KERNEL_COUNTERS, memory_kills
from tests.attack.node.kills import Terminal, end, number_of, played_again, read_rewards
from tests.bench.figure import Figure, arguments, exactly, show, tell

ROUNDS = 2
DISK_MEGABYTES = 32
FULL_SECONDS = 15.0
SUSPENDED_SECONDS, STARVED_SECONDS = 10.0, 240.0
PATIENCE = 300.0
"""Seconds after which a node that should have ended counts as hanging."""
CLOCK = """
import os, time
_real = time.time

def _jumping():
    try:
        with open(os.environ["SAPO_TEST_JUMP"]) as file:
            return _real() + float(file.read() or 0)
    except OSError:
        return _real()

time.time = _jumping
"""
"""Code that every process of the node runs first: it sets the clock ahead as a file says."""


@dataclass(frozen=True)
class Outcome:
    """The result of one fault."""

    fault: str
    reached: int
    """The last round of the run after the fault."""
    expected: int
    """The last round if the node continued from the newest undamaged checkpoint."""
    said: list[str]
    again: int = 0
    """Rounds of one run that were repeated after their checkpoint."""
    hung: bool = False
    """Whether it had to be ended."""
    unsaid: str = ""
    """Expected words about this fault that were missing."""

    @property
    def lost(self) -> int:
        return max(0, self.expected - self.reached) + self.again


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", choices=[*FAULTS, *HAPPENING], help="this fault alone")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        good = Path(scratch) / "good"
        if given.only not in HAPPENING:
            play(good, ROUNDS, given.seed)
        files = chosen(FAULTS, 1 if given.quick else None, given.only)
        outcomes = [damaged(name, good, Path(scratch), given.seed) for name in files]
        happening = chosen(HAPPENING, 2 if given.quick else None, given.only)
        outcomes += [happened(name, Path(scratch), given.seed) for name in happening]
        if sys.platform == "linux" and os.geteuid() == 0 and not given.quick and not given.only:
            outcomes.append(full_disk(Path(scratch), given.seed))
            outcomes.append(read_only_disk(Path(scratch), given.seed))
    show(figures(outcomes), given)


def chosen(faults: Iterable[str], most: int | None, only: str | None) -> list[str]:
    """The names of the faults to try."""
    return [name for name in faults if name == only] if only else [*faults][:most]


def damaged(name: str, good: Path, scratch: Path, seed: int) -> Outcome:
    """A copy of the folder with one fault, started again."""
    folder = scratch / name.replace(" ", "-")
    shutil.copytree(good, folder)
    left, fault = FAULTS[name]
    fault(folder)
    said, reached = play(folder, 1, seed)
    tell(f"{name}: went on to round {reached}; said: {' '.join(said) or 'nothing'}")
    return Outcome(name, reached, left + 1, said)


def overwrite(path: Path, at: int, count: int = 64) -> None:
    """Replace some bytes in the middle of a file."""
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"\xa5" * count)


def newest(folder: Path) -> Path:
    """Its newest checkpoint."""
    return max(path for path in (folder / "checkpoints").iterdir() if path.name.isdigit())


def a_row_is_another_text(folder: Path) -> None:
    """Of the newest round, which a start reads and SQLite puts before the others; an older row is shown to
    a client that asks for it (tests/worker/store/test_history.py)."""
    data = (folder / "history.sqlite").read_bytes()
    overwrite(folder / "history.sqlite", data.index(b'"local_groups"'), 8)


FAULTS: dict[str, tuple[int, Callable[[Path], object]]] = {
    "settings are noise": (ROUNDS, lambda node: (node / "settings.toml").write_bytes(b"\x00\xffquestions = [")),
    "wishes are noise": (ROUNDS, lambda node: (node / "wishes.json").write_bytes(b"{{")),
    "weights are other ones": (ROUNDS - 1, lambda node: overwrite(newest(node) / "adapter_model.safetensors", 5000)),
    "a checkpoint is cut off": (ROUNDS - 1, lambda node: (newest(node) / "state.msgpack").write_bytes(b"")),
    "the history is no database": (ROUNDS, lambda node: overwrite(node / "history.sqlite", 0)),
    "the history has a torn page": (ROUNDS, lambda node: overwrite(node / "history.sqlite", 20_000, 4096)),
    "a row is another text": (ROUNDS, a_row_is_another_text),
    "the cache is gone": (ROUNDS, lambda node: shutil.rmtree(node / "cache")),
}
"""The damage to a node's folder, and the round of the newest intact checkpoint after it."""
SILENT = {
    *("the cache is gone", "wishes are noise"),
    *("the worker is suspended", "the engine is suspended", "the examiner is suspended"),
    *("its processes are starved", "the clock jumps"),
}
"""A cache is made again, wishes are ignored in a run with orders, and the others cost nothing, so no message is
needed."""


def play(folder: Path, rounds: int, seed: int) -> tuple[list[str], int]:
    """Play so many rounds; returns the output and the last round, 0 if it did not start."""
    terminal = Terminal(folder, seed, rounds)
    terminal.finish()
    return terminal.said, max(map(number_of, terminal.rounds()), default=0)


# -- while it plays --------------------------------------------------------------------------------------------------


def happened(name: str, scratch: Path, seed: int) -> Outcome:
    """One run of some rounds with a fault."""
    terminal = HAPPENING[name](scratch / name.replace(" ", "-"), seed)
    hung = not ended(terminal)
    reached = len(read_rewards(terminal.data))
    tell(f"{name}: went on to round {reached}; said: {' '.join(terminal.said) or 'nothing'}")
    said = " ".join(terminal.notices("info", "warning", "error"))
    unsaid = ", ".join(words for words in MUST_SAY.get(name, ()) if words not in said)
    again = played_again(terminal.events)
    return Outcome(name, reached, 2 * ROUNDS, terminal.said, again, hung, unsaid)


def ended(terminal: Terminal) -> bool:
    """Whether it ends by itself; otherwise it is ended."""
    try:
        terminal.finish(PATIENCE)
    except subprocess.TimeoutExpired:
        end(terminal)
        return False
    return True


def its_clock_jumps(folder: Path, seed: int) -> Terminal:
    """A day ahead after the first checkpoint, two back after the second."""
    room = folder.with_name("clock")
    room.mkdir()
    (room / "sitecustomize.py").write_text(CLOCK)
    jump = room / "jump"
    jump.write_text("0")
    path = os.pathsep.join([str(room), *filter(None, [os.environ.get("PYTHONPATH")])])
    terminal = Terminal(folder, seed, 2 * ROUNDS, environment={"PYTHONPATH": path, "SAPO_TEST_JUMP": str(jump)})
    terminal.wait_for("checkpoint", 1)
    jump.write_text("86400")
    terminal.wait_for("checkpoint", 2)
    jump.write_text("-86400")
    return terminal


def suspended(process: str) -> Callable[[Path, int], Terminal]:
    def fault(folder: Path, seed: int) -> Terminal:
        terminal = Terminal(folder, seed, 2 * ROUNDS)
        terminal.wait_for("checkpoint", 1)
        victim = terminal.processes().get(process)
        if victim is None:
            raise SystemExit(f"There is no {process} to suspend.")
        victim.suspend()
        time.sleep(SUSPENDED_SECONDS)
        victim.resume()
        return terminal

    return fault


def starved(folder: Path, seed: int) -> Terminal:
    """Until it has ended, suspend one of its processes after the other for some seconds."""
    terminal, draw = Terminal(folder, seed, 2 * ROUNDS), random.Random(seed)
    deadline = time.monotonic() + STARVED_SECONDS
    while terminal.process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(psutil.NoSuchProcess, IndexError):
            victim = draw.choice([*terminal.processes().values()])
            victim.suspend()
            time.sleep(draw.uniform(0.0, SUSPENDED_SECONDS))
            victim.resume()
        time.sleep(draw.uniform(0.0, 1.0))
    return terminal


def memory_runs_out(folder: Path, seed: int) -> Terminal:
    counters, within = folder.with_name("vmstat"), []
    if COUNTERS_CAN_BE_SET:
        counters.write_text(KERNEL_COUNTERS.read_text())
        within = ["unshare", "--mount", "sh", "-c", f"mount --bind '{counters}' {KERNEL_COUNTERS} && exec \"$@\"", "sh"]
    terminal = Terminal(folder, seed, 2 * ROUNDS, within=within)
    terminal.wait_for("checkpoint", 1)
    found = terminal.processes()
    if "engine" not in found:
        raise SystemExit("There is no engine to kill.")
    found["worker"].suspend()  # the kernel counts and kills at once, with no request to the engine in between
    if COUNTERS_CAN_BE_SET:
        kills = memory_kills(counters)
        counters.write_text(counters.read_text().replace(f"oom_kill {kills}\n", f"oom_kill {kills + 1}\n"))
    found["engine"].kill()
    found["worker"].resume()
    return terminal


def the_keyring_is_away(folder: Path, seed: int) -> Terminal:
    """In the swarm, where the node knows nobody and nobody knows it."""
    away = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
    return Terminal(folder, seed, 2 * ROUNDS, silo=False, environment=away)


HAPPENING: dict[str, Callable[[Path, int], Terminal]] = {
    "the worker is suspended": suspended("worker"),
    "the clock jumps": its_clock_jumps,
    "the engine is suspended": suspended("engine"),
    "the examiner is suspended": suspended("examiner"),
    "its processes are starved": starved,
    "the keyring is away": the_keyring_is_away,
    "memory runs out": memory_runs_out,
}
COUNTERS_CAN_BE_SET = sys.platform == "linux" and os.geteuid() == 0
MUST_SAY = {
    "memory runs out": ("because the computer ran out of memory", "that fits into memory")  # it continues with less
    if COUNTERS_CAN_BE_SET
    else ("perhaps because the computer ran out of memory",)  # and it continues as before
}


def read_only_disk(scratch: Path, seed: int) -> Outcome:
    """The kernel treats the file system as broken after the first checkpoint; it is checked before the next start."""
    image, place = scratch / "disk.img", scratch / "read-only"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(DISK_MEGABYTES * 4 << 20)
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
    mount = ["mount", "-o", "loop,errors=remount-ro", str(image), str(place)]
    subprocess.run(mount, check=True)
    terminal = Terminal(place / "node", seed, 1000)
    try:
        terminal.wait_for("checkpoint", 1)
        at = place.stat().st_dev
        device = Path(f"/sys/dev/block/{os.major(at)}:{os.minor(at)}").resolve().name
        Path(f"/sys/fs/ext4/{device}/trigger_fs_error").write_text("1")
        time.sleep(FULL_SECONDS)
        kept = terminal.checkpointed
        terminal.process.send_signal(signal.SIGTERM)  # it may wait for the disk
        hung = not ended(terminal)
    finally:
        end(terminal)
        subprocess.run(["umount", str(place)], check=True)
    subprocess.run(["e2fsck", "-fy", str(image)], check=False, capture_output=True)
    subprocess.run(mount, check=True)
    try:
        _, reached = play(place / "node", 1, seed)
    finally:
        subprocess.run(["umount", str(place)], check=True)
    tell(f"the disk is read-only: went on to round {reached}; said: {' '.join(terminal.said) or 'nothing'}")
    return Outcome("the disk is read-only", reached, kept + 1, terminal.said, hung=hung)


def full_disk(scratch: Path, seed: int) -> Outcome:
    """Filled up after the first checkpoint, emptied after a while."""
    place = scratch / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m", "tmpfs", str(place)], check=True)
    try:
        terminal = Terminal(place / "node", seed, 3 * ROUNDS)
        terminal.wait_for("checkpoint")
        filled = fill(place / "ballast")
        time.sleep(FULL_SECONDS)
        filled.unlink()
        terminal.finish()
        reached = len(read_rewards(place / "node"))
    finally:
        subprocess.run(["umount", str(place)], check=True)
    tell(f"the disk is full: went on to round {reached}; said: {' '.join(terminal.said) or 'nothing'}")
    return Outcome("the disk is full", reached, 3 * ROUNDS, terminal.said, played_again(terminal.events))


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
    silent = [
        outcome.fault for outcome in outcomes if (not outcome.said and outcome.fault not in SILENT) or outcome.unsaid
    ]
    hung = [outcome.fault for outcome in outcomes if outcome.hung]
    losing = ", ".join(outcome.fault for outcome in outcomes if outcome.lost)
    return [
        exactly(f"checkpointed rounds lost to {len(outcomes)} faults", lost, "rounds", 0, losing),
        exactly("faults not reported", len(silent), "faults", 0, ", ".join(silent)),
        exactly("nodes that hung", len(hung), "nodes", 0, ", ".join(hung)),
    ]


if __name__ == "__main__":
    main()
