"""Power loss at any instant: does a node find its newest checkpoint, and can it read everything else?

    python -m tests.attack.node.power                    every instant; needs Linux and strace
    python -m tests.attack.node.power --quick            a hundred of them, and no node is started again
    python -m tests.attack.node.power --quick --unsynced     as if nothing were synced: the cuts must then do harm

Settings are changed, and a node plays two rounds with the starter, in silo. strace records every write, sync and rename
in its folder, in order. The recording is replayed on a disk that promises only what was synced (`disk`). After every
change the power is cut five times: once with all unsynced data kept, once with all of it gone, and three times at
random. The result is opened as a node opens it. A whole node continues from a few of these folders, drawn at random. At
the end the replayed folder must equal the real one, so the recording is complete.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.files.reading import read_json
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.worker.governor import Wishes
from sapo_desktop.worker.store.checkpoints import CheckpointStore
from sapo_desktop.worker.store.history import History
from tests.attack.node.disk import Cut, Disk, Op
from tests.attack.node.faults import ROUNDS, play
from tests.bench.figure import Figure, arguments, exactly, show, tell

CUTS: tuple[Cut, ...] = ("kept", "dropped", "chance", "chance", "chance")
QUICK_INSTANTS = 100
STARTS = 3
"""Folders that a whole node continues from."""
LABEL = "after-the-cut"
LONGEST_STRING = 64 << 20
"""Bytes of one write that strace shows."""
CALLS = (
    *("open", "openat", "creat", "mkdir", "mkdirat", "rename", "renameat", "renameat2"),
    *("unlink", "unlinkat", "rmdir", "write", "pwrite64", "ftruncate", "fsync", "fdatasync"),
    *("writev", "pwritev", "pwritev2", "truncate", "fallocate", "copy_file_range", "sendfile", "link", "linkat"),
)
"""Calls of the last line change files too; if a node begins to use one, this script must learn it."""
ANNOUNCED = re.compile(rb'"event":"checkpoint","number":(\d+)')
_CALL = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\d+)(?:<(.*)>)?", re.DOTALL)
_CUT_OFF = re.compile(r"(\d+) +(\w+\(.*) <unfinished \.\.\.>$", re.DOTALL)
_GONE_ON = re.compile(r"(\d+) +<\.\.\. \w+ resumed>(.*)", re.DOTALL)
_HEX = re.compile(r"(?:\\x[0-9a-f]{2})+")


@dataclass
class Recording:
    """The recording of a folder."""

    ops: list[Op] = field(default_factory=list)
    promised: list[int] = field(default_factory=list)
    """The newest announced checkpoint after each change."""


@dataclass
class Toll:
    """The cost of the cuts."""

    cuts: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    """Checkpointed rounds."""
    unreadable: Counter[str] = field(default_factory=Counter)
    """Unreadable files, and files that were reported as damaged."""


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--trace", type=Path, help="where strace's lines are kept")
    parser.add_argument("--unsynced", action="store_true", help="leave out every sync")
    given = parser.parse_args()
    if sys.platform != "linux" or shutil.which("strace") is None:
        raise SystemExit("This takes Linux, and strace: apt install strace.")
    with tempfile.TemporaryDirectory() as scratch:
        folder, trace = Path(scratch).resolve() / "node", given.trace or Path(scratch) / "trace"
        record(folder, trace, given.seed)
        recording = parse(trace, folder)
        if given.unsynced:
            recording = unsynced(recording)
        tell(f"{len(recording.ops)} changes and syncs")
        toll, draw = Toll(), Random(given.seed)
        whole = cut_everywhere(recording, Path(scratch), toll, draw, QUICK_INSTANTS if given.quick else None)
        differing = differences(whole, folder)
        starts = 0 if given.quick else STARTS
        said = [start_from(recording, Path(scratch), draw, given.seed, toll) for _ in range(starts)]
    show(figures(recording, toll, differing, said), given)


def record(folder: Path, trace: Path, seed: int) -> None:
    """Run a node under strace."""
    program, data = [sys.executable, "-m", "sapo_desktop"], ["--data", str(folder)]
    commands = [
        [*program, "settings", "set", "questions=4", "low_priority=off", "curriculum=off", *data],
        [*program, "run", "--silo", "--json", "--seed", str(seed), "--rounds", str(ROUNDS), *data],
        [*program, "settings", "set", f"label={LABEL}", *data],
    ]
    # -xx: bytes that strace would quote otherwise; -y: the files behind descriptors.
    line = ["strace", "-f", "--seccomp-bpf", "-y", "-xx", "-s", str(LONGEST_STRING), "-e", f"trace={','.join(CALLS)}"]
    shell = " && ".join(" ".join(f"'{word}'" for word in command) for command in commands)
    done = subprocess.run([*line, "-o", str(trace), "sh", "-c", shell], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"The node did not play: {done.stderr[-2000:]}")


def unsynced(recording: Recording) -> Recording:
    """The same without any sync."""
    pairs = zip(recording.ops, recording.promised, strict=True)
    ops, promised = zip(*(pair for pair in pairs if pair[0].kind != "sync"), strict=True)
    return Recording(list(ops), list(promised))


# -- what strace saw ---------------------------------------------------------------------------------------------------


def parse(trace: Path, folder: Path) -> Recording:
    """The changes in this folder, in the order in which they were done.

    Raises:
        SystemExit: a call is not understood.
    """
    recording, seen = Recording(), _Seen(folder)
    promised = 0
    for name, words, result, opened in calls(trace):
        if name == "write" and (announced := ANNOUNCED.search(_bytes(words[1]))):
            promised = max(promised, int(announced[1]))
        for op in seen.ops(name, words, result, opened):
            recording.ops.append(op)
            recording.promised.append(promised)
    return recording


def calls(trace: Path) -> Iterator[tuple[str, list[str], int, str]]:
    """Calls that succeeded: name, arguments, result, and the file behind that where it is one."""
    begun: dict[str, str] = {}
    with trace.open(encoding="ascii", errors="replace") as lines:
        for line in lines:
            text = line.rstrip("\n")
            if found := _CUT_OFF.match(text):
                begun[found[1]] = found[2]
                continue
            if found := _GONE_ON.match(text):
                text = f"{found[1]} {begun.pop(found[1])}{found[2]}"
            if (found := _CALL.match(text)) and int(found[4]) >= 0:
                yield found[2], found[3].split(", "), int(found[4]), _text(found[5] or "")


class _Seen:
    """Turns calls into changes of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._disk = Disk()
        """To know existing files, and those of a folder whose beginning strace did not see."""
        self._place: dict[str, int] = {}
        """The position of the next plain write, by file; each is written by one descriptor, from its start."""
        self._appended: set[str] = set()
        """Files that several processes only append to."""

    def ops(self, name: str, words: list[str], result: int, opened: str) -> Iterator[Op]:
        for op in self._ops(name, words, result, opened):
            self._disk.take(op)
            yield op

    def _ops(self, name: str, words: list[str], result: int, opened: str) -> Iterator[Op]:
        if name in ("open", "openat", "creat"):
            yield from self._opened(self._inside(opened), next((w for w in words if w.startswith("O_")), "O_TRUNC"))
        elif name in ("mkdir", "mkdirat"):
            path = self._named(words[:-1])[0]
            if path not in ("", "."):  # the folder itself is there from the beginning
                yield Op("folder", path)
        elif name in ("rename", "renameat", "renameat2"):
            source, target = self._named(words)
            if bool(source) != bool(target):
                raise SystemExit(f"{source or target} crossed the border of the folder: that is not understood.")
            if source and target:
                self._place[target] = self._place.pop(source, 0)
                yield Op("rename", source, to=target)
        elif name in ("unlink", "unlinkat", "rmdir"):
            if path := self._named(words)[0]:
                yield Op("remove", path)
        elif path := self._inside(_descriptor(words[0])):
            yield from self._written(name, path, words, result)

    def _opened(self, path: str, flags: str) -> Iterator[Op]:
        if not path or flags.startswith("O_RDONLY"):
            return
        if not self._disk.holds(path):
            yield Op("file", path)
        elif "O_TRUNC" in flags:
            yield Op("truncate", path)
        self._place[path] = 0
        if "O_APPEND" in flags:
            self._appended.add(path)

    def _written(self, name: str, path: str, words: list[str], result: int) -> Iterator[Op]:
        if name in ("fsync", "fdatasync"):
            yield Op("sync", path)
        elif name == "ftruncate":
            yield Op("truncate", path, at=int(words[1]))
        elif name == "pwrite64":
            yield Op("write", path, at=int(words[3]), data=_bytes(words[1])[:result])
        elif name == "write":
            at = self._disk.length(path) if path in self._appended else self._place[path]
            self._place[path] = at + result
            yield Op("write", path, at=at, data=_bytes(words[1])[:result])
        else:
            raise SystemExit(f"{path} was changed by {name}: that is not understood.")

    def _named(self, words: list[str]) -> list[str]:
        """The paths among the words, with a folder's descriptor before its name; empty if outside."""
        found, folder = [], ""
        for word in words:
            if word.startswith('"'):
                found.append(self._inside(str(Path(folder, _text(word)))))
                folder = ""
            elif "<" in word:
                folder = _descriptor(word)
        return found

    def _inside(self, path: str) -> str:
        pure = Path(path)
        return str(pure.relative_to(self._folder)) if path and pure.is_relative_to(self._folder) else ""


def _descriptor(word: str) -> str:
    """The file that strace names behind a descriptor."""
    return _text(word.partition("<")[2].removesuffix(">"))


def _bytes(word: str) -> bytes:
    if word.endswith("..."):
        raise SystemExit("strace cut a write off: raise LONGEST_STRING.")
    return bytes.fromhex(word.strip('"').replace("\\x", ""))


def _text(word: str) -> str:
    plain = word.strip('"')
    return _HEX.sub(lambda found: bytes.fromhex(found[0].replace("\\x", "")).decode(), plain)


# -- the cuts ----------------------------------------------------------------------------------------------------------


def cut_everywhere(recording: Recording, scratch: Path, toll: Toll, draw: Random, most: int | None) -> Path:
    """Cut the power after each change, or after some of them; returns a folder with all changes."""
    instants = range(1, len(recording.ops) + 1)
    chosen = set(instants if most is None else draw.sample(instants, min(most, len(instants))))
    disk, left = Disk(), scratch / "left"
    for number, op in enumerate(recording.ops, 1):
        disk.take(op)
        if number not in chosen:
            continue
        for cut in CUTS:
            disk.leave(left, cut, draw)
            toll.cuts[cut] += 1
            judge(left, recording.promised[number - 1], f"{cut} after {op.kind} of {op.path}", toll)
            shutil.rmtree(left)
    disk.leave(left, "kept", draw)
    return left


def judge(left: Path, promised: int, when: str, toll: Toll) -> None:
    """Open the remaining files as a node does."""
    try:
        folder = DataFolder.open(left)
        said = settings_file.read(folder.settings, 0.0).said
        if folder.wishes.exists():
            read_json(folder.wishes, Wishes)
        newest = CheckpointStore(folder.checkpoints).newest_valid()
        history = History.for_node(folder.history)
        reached = newest.checkpoint.number if newest.checkpoint else 0
        history.reconcile(reached, reached or None)
        rounds = len(history.last_rounds(reached + 1))
        history.close()
    except (SapoError, OSError, ValueError) as error:
        toll.unreadable[f"{type(error).__name__}: {error}"] += 1
        tell(f"{when}: {error}")
        return
    if said or history.said or newest.damaged or rounds < reached:
        what = "; ".join(filter(None, [str(said), str(history.said), *(str(one.reason) for one in newest.damaged)]))
        toll.unreadable[what or f"{reached - rounds} rounds without a row"] += 1
        tell(f"{when}: {what}, {rounds} rows for {reached} rounds")
    if reached < promised:
        toll.lost += promised - reached
        tell(f"{when}: checkpoint {promised} was announced, {reached} is there")


def start_from(recording: Recording, scratch: Path, draw: Random, seed: int, toll: Toll) -> list[str]:
    """Let a whole node continue after a cut at a random instant; returns its output."""
    instant, left = draw.randrange(len(recording.ops)), scratch / "started"
    disk = Disk()
    for op in recording.ops[: instant + 1]:
        disk.take(op)
    disk.leave(left, "chance", draw)
    toll.cuts["started"] += 1
    said, reached = play(left, 1, seed)
    expected = recording.promised[instant] + 1
    tell(f"cut after change {instant + 1}: went on to round {reached}; said: {' '.join(said) or 'nothing'}")
    toll.lost += max(0, expected - reached)
    shutil.rmtree(left)
    return said


def differences(one: Path, other: Path) -> list[str]:
    """Files that are missing in one folder, or differ."""
    found = []
    for path in {p.relative_to(root) for root in (one, other) for p in root.rglob("*")}:
        pair = one / path, other / path
        if not all(p.exists() for p in pair) or (pair[0].is_file() and pair[0].read_bytes() != pair[1].read_bytes()):
            found.append(str(path))
    return sorted(found)


def figures(recording: Recording, toll: Toll, differing: list[str], said: list[list[str]]) -> list[Figure]:
    name = "files differing from the folder"
    cuts = f"{len(recording.ops)} changes and syncs; " + ", ".join(f"{n} {name}" for name, n in toll.cuts.items())
    bad = "; ".join(f"{count} x {what}" for what, count in toll.unreadable.most_common(3))
    return [
        exactly(name, len(differing), "files", 0, ", ".join(differing[:5])),
        Figure("power cuts", toll.cuts.total(), "cuts", note=cuts),
        exactly("checkpointed rounds lost", toll.lost, "rounds", 0),
        exactly("folders with something unreadable", toll.unreadable.total(), "folders", 0, bad),
        exactly("nodes that complained", sum(map(bool, said)), f"of {len(said)}", 0),
    ]


if __name__ == "__main__":
    main()
