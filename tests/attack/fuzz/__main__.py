"""Sends malformed inputs to every reader: does it raise only its own errors, and does memory stay flat?

    python -m tests.attack.fuzz --quick             a second a target
    python -m tests.attack.fuzz --minutes 10        ten minutes of processor time per target
    python -m tests.attack.fuzz --inputs 1000000 --only frames,session
    python -m tests.attack.fuzz --minutes 1 --total 10000000     then the three fastest again, up to this total

Coverage-guided (atheris, Linux with Python 3.11 to 3.13), a process for each target of `files.py` and `wire.py`.
It begins with real messages and files and with the inputs in corpus/ that once caused a fault
(`test_corpus.py` tries these at every build). Any error that is not the target's own is a crash, and so is more than a
second of processor time. `--keep` adds new crashes to the corpus.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import psutil

from tests.attack.fuzz.files import FILES
from tests.attack.fuzz.target import CORPUS, Target, attempt, known
from tests.attack.fuzz.wire import WIRE
from tests.bench.figure import Figure, arguments, at_most, exactly, show, tell

QUICK_SECONDS, SECONDS = 1.0, 60.0
MOST_SECONDS = 1.0
"""Seconds of processor time for one input."""
HANGS_AFTER = 60
"""Seconds after which a process that is stuck in one input is ended."""
MOST_GROWTH = 16.0
"""Allowed growth in MiB between a third of a target's time and its end; the fuzzer's own memory is part of it."""
FASTEST = 3
MOST_SHOWN = 20
MEMORY = Path("/dev/shm")
"""A folder in which syncing a file costs nothing."""
MOST_MEMORY = 4 << 30
"""Bytes of address space."""
REPORT = "SAPO_FUZZ_REPORT"
"""The variable that names the file for a child's result."""
TARGETS: dict[str, Target] = {**WIRE, **FILES}


class Outcome(msgspec.Struct, kw_only=True):
    """The result of one target."""

    target: str
    inputs: int = 0
    seconds: float = 0.0
    """Seconds of processor time, so that other programs do not count."""
    grown: float = 0.0
    """MiB."""
    slowest: float = 0.0
    """Processor seconds of the slowest input."""
    crashes: dict[str, str] = {}
    """Place and message of a crash -> the input in hex."""


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--minutes", type=float, help="of processor time, for each target")
    parser.add_argument("--inputs", type=int, help="for each target, instead of a time")
    parser.add_argument("--total", type=int, default=0, help="inputs in all, at least")
    parser.add_argument("--only", default=",".join(TARGETS), help="targets, separated by commas")
    parser.add_argument("--keep", action="store_true", help="add inputs that got through to the corpus")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        raise SystemExit("atheris is missing: it is among the tools of slow tests, for Linux and Python 3.11 to 3.13.")
    if given.child:
        fuzz(given.child, given.inputs or 0, float(given.minutes or 0) * 60, given.seed)
        return
    seconds = given.minutes * 60 if given.minutes else QUICK_SECONDS if given.quick else SECONDS
    outcomes = [child(name, given.inputs or 0, seconds, given.seed) for name in given.only.split(",")]
    outcomes = up_to(given.total, outcomes, given.seed + 1)
    for outcome in outcomes:
        if given.keep:
            keep(outcome)
    show(figures(outcomes), given)


def child(name: str, inputs: int, seconds: float, seed: int) -> Outcome:
    """Fuzz one target in its own process."""
    command = [sys.executable, "-m", "tests.attack.fuzz", "--child", name, "--seed", str(seed)]
    command += ["--inputs", str(inputs)] if inputs else ["--minutes", str(seconds / 60)]
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        report = Path(folder) / "report"
        done = subprocess.run(
            command,
            cwd=folder,
            check=False,
            capture_output=True,
            env=os.environ | {REPORT: str(report), "PYTHONPATH": os.pathsep.join([str(Path.cwd()), *sys.path[1:]])},
        )
        lines = report.read_bytes().splitlines() if report.exists() else []
    outcome = msgspec.json.decode(lines[-1], type=Outcome) if lines else Outcome(target=name)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        outcome.crashes[f"the process ended with {done.returncode}: {' / '.join(said[-3:])}"] = ""
    tell(
        f"{name}: {outcome.inputs:,} inputs, {outcome.inputs / max(outcome.seconds, 1e-9):,.0f}/CPU-s, "
        f"{outcome.grown:+.1f} MiB, slowest {outcome.slowest:.2f} s, {len(outcome.crashes)} crashes"
    )
    for what, data in outcome.crashes.items():
        tell(f"  {what}  {data[:200]}")
    return outcome


def up_to(total: int, outcomes: list[Outcome], seed: int) -> list[Outcome]:
    """Let the fastest targets take the missing inputs, with another seed, and count both runs as one."""
    missing = total - sum(one.inputs for one in outcomes)
    fastest = sorted(outcomes, key=lambda one: one.inputs / max(one.seconds, 1e-9), reverse=True)[:FASTEST]
    if missing <= 0 or not all(one.inputs for one in fastest):
        return outcomes
    again = {one.target: child(one.target, -(-missing // len(fastest)), 0.0, seed) for one in fastest}
    return [both(one, again[one.target]) if one.target in again else one for one in outcomes]


def both(one: Outcome, other: Outcome) -> Outcome:
    """The combined result of two runs of a target."""
    return Outcome(
        target=one.target,
        inputs=one.inputs + other.inputs,
        seconds=one.seconds + other.seconds,
        grown=max(one.grown, other.grown),
        slowest=max(one.slowest, other.slowest),
        crashes=one.crashes | other.crashes,
    )


def fuzz(name: str, inputs: int, seconds: float, seed: int) -> None:
    """In the child: run for so many inputs or seconds, and write the result to a file."""
    import resource  # Linux alone gets here

    import atheris

    _, highest = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, highest))  # each input gets its own alarm
    target = TARGETS[name]
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        seeds = Path(folder) / "seeds"
        seeds.mkdir()
        for place, data in enumerate([*target.seeds(), *known(name)]):
            (seeds / str(place)).write_bytes(data)
        words = Path(folder) / "words"
        words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words or (b"\0",)))
        for function in functions(target.traced):
            atheris.instrument_func(function)
        room = Path(folder) / "room"
        room.mkdir()
        take = target.open(room)
        for data in target.seeds():
            attempt(take, target.refused, data)  # some import their libraries with the first input
        watch = Watch(Outcome(target=name), target, take, inputs, seconds, Path(os.environ[REPORT]))
        options = [f"-seed={seed}", f"-max_len={target.longest}", f"-timeout={HANGS_AFTER}", "-rss_limit_mb=0"]
        options += [f"-dict={words}", "-verbosity=0", "-print_final_stats=0", "-handle_segv=1"]
        atheris.Setup([sys.argv[0], *options, str(seeds)], watch.one)
        atheris.Fuzz()


class Watch:
    """Takes inputs one by one, and ends the process after the last."""

    def __init__(
        self, outcome: Outcome, target: Target, take: Callable[[bytes], None], inputs: int, seconds: float, report: Path
    ) -> None:
        self._outcome = outcome
        self._refused = target.refused
        self._take = take
        self._inputs = inputs
        self._seconds = seconds
        self._report = report
        self._process = psutil.Process()
        self._spent = time.process_time()
        self._warm = 0

    def one(self, data: bytes) -> None:
        """Run one input and record its result."""
        began = time.process_time()
        try:
            attempt(self._take, self._refused, data)
        except BaseException as error:  # noqa: BLE001 - a crash is what we look for
            self._crashed(where(error), data)
        took = time.process_time() - began
        if took > MOST_SECONDS:
            self._crashed(f"more than {MOST_SECONDS:g} s", data)
        outcome = self._outcome
        outcome.slowest = max(outcome.slowest, took)
        outcome.inputs += 1
        outcome.seconds = time.process_time() - self._spent
        share = outcome.inputs / self._inputs if self._inputs else outcome.seconds / self._seconds
        if not self._warm and share > 1 / 3:
            self._warm = self._process.memory_info().rss
        if share >= 1:
            outcome.grown = (self._process.memory_info().rss - self._warm) / 2**20
            self._tell()
            os._exit(0)  # the fuzzer would continue, and offers no callback at its end

    def _crashed(self, what: str, data: bytes) -> None:
        if what not in self._outcome.crashes and len(self._outcome.crashes) < MOST_SHOWN:
            self._outcome.crashes[what] = data.hex()
            self._tell()  # the next input may end the process

    def _tell(self) -> None:
        with self._report.open("ab") as file:
            file.write(msgspec.json.encode(self._outcome) + b"\n")


def functions(packages: Sequence[str]) -> Iterator[types.FunctionType]:
    """The functions and methods of these packages' loaded modules."""
    for name, module in sorted(sys.modules.items()):
        if not name.startswith(tuple(packages)):
            continue
        for thing in vars(module).copy().values():
            for one in (thing, *(vars(thing).values() if isinstance(thing, type) else ())):
                function = one.fget if isinstance(one, property) else getattr(one, "__func__", one)
                if isinstance(function, types.FunctionType) and function.__module__ == name:
                    yield function


def where(error: BaseException) -> str:
    """The last place in the product, or anywhere, and the error there: equal for inputs with the same fault."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "sapo_desktop" in frame.filename] or frames
    place = f"{Path(ours[-1].filename).name}, {ours[-1].name}" if ours else "nowhere"
    return f"{type(error).__name__} in {place}"


def keep(outcome: Outcome) -> None:
    """Add new crashes to the corpus."""
    CORPUS.mkdir(exist_ok=True)
    before = known(outcome.target)
    with (CORPUS / f"{outcome.target}.txt").open("a", encoding="ascii") as file:
        for what, data in outcome.crashes.items():
            if data and bytes.fromhex(data) not in before:
                file.write(f"{data} {what}\n")


def figures(outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    for one in outcomes:
        rate = one.inputs / max(one.seconds, 1e-9)
        said = "; ".join(one.crashes)
        yield Figure(f"{one.target}: inputs", one.inputs, "inputs", note=f"{one.seconds:.0f} CPU-s")
        yield Figure(f"{one.target}: speed", rate, "inputs/CPU-s")
        yield Figure(f"{one.target}: crashes", len(one.crashes), "kinds", note=said)
        yield Figure(f"{one.target}: memory", one.grown, "MiB more")
        yield Figure(f"{one.target}: slowest", one.slowest, "CPU-s")
    total, crashes = sum(one.inputs for one in outcomes), sum(len(one.crashes) for one in outcomes)
    grown, slowest = max(one.grown for one in outcomes), max(one.slowest for one in outcomes)
    name = f"kinds of crashes, {total:,} inputs to {len(outcomes)} targets"
    yield exactly(name, crashes, "kinds", 0)
    yield at_most("largest growth of memory", grown, "MiB", MOST_GROWTH)
    yield at_most("slowest input", slowest, "CPU-s", MOST_SECONDS)


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    main()
