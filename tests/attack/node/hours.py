"""Does anything grow in hours of a relay and four sharing nodes? Watches memory, queues, logs and their contents.

    python -m tests.attack.node.hours                                 two hours
    python -m tests.attack.node.hours --minutes 20 --samples FILE     shorter; FILE keeps every sample as it is taken
    python -m tests.attack.node.hours --read FILE                     the figures of such a file once more
    python -m tests.attack.node.hours --quick                         one node, a minute

Real processes with the starter, at default settings except for the processor (a tenth of one thread each). Every half a
minute this measures all processes of each program from outside, by role (worker, engine, examiner, relay), and asks
each program for its status. Drift is the median slope of all pairs of samples (Theil and Sen) over the samples that
count; its interval comes from resampled blocks of what is left of them. Samples count once groups expire as fast as
they come: they are kept for 70 minutes. Ended early (SIGTERM, Ctrl-C), it says what it has. Logs are searched for this
computer's home folders and data folders, its user and its host.
"""

import asyncio
import contextlib
import getpass
import re
import shutil
import signal
import socket
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
import psutil

from sapo_desktop.core.errors import NotRunning, SapoError
from sapo_desktop.swarm.addresses.address import Address
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.system.logs import MAX_LOG_BYTES
from sapo_desktop.system.processes import own_memory
from sapo_desktop.worker.control.client import Client, connect
from sapo_desktop.worker.control.messages.replies import RelayStatus, StartingStatus, Status
from sapo_desktop.worker.control.messages.requests import GetStatus
from tests.attack.peers.swarm import Program, settings, start_relay
from tests.bench.figure import Figure, arguments, at_most, exactly, show, tell
from tests.bench.processes import family, role

MINUTES, NODES, EVERY = 120.0, 4, 30.0
SHARE = 10
"""Percent of one thread that a node uses."""
SETTLED = limits.SLOT_SECONDS * (limits.NEWEST_SLOT - limits.OLDEST_SLOT)
"""Seconds after which as many groups expire as arrive."""
READY_SECONDS = 3600.0
"""Seconds; a start takes long on a busy computer."""
LEAST_PART = 0.4
"""Share of a shorter run that counts."""
MOST_DRIFT = 5.0
BLOCK, RESAMPLED = 8, 400


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One sample, of all programs together unless stated otherwise."""

    seconds: float
    rounds: int
    memory: dict[str, int]
    """Bytes by role, over its processes; `processes` counts them all."""
    queues: dict[str, float]
    """Lengths of queues, by name."""
    logs: dict[str, int]
    """Bytes by program and file."""


class Trend(msgspec.Struct, frozen=True, kw_only=True):
    """The growth of a series from its first sample to its last, in percent of the fit's start."""

    percent: float
    low: float
    high: float
    begin: float

    @property
    def interval(self) -> str:
        return f"95% interval {self.low:+.1f} to {self.high:+.1f}"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--samples", type=Path, help="a file that gets every sample as it is taken")
    parser.add_argument("--read", type=Path, help="such a file, to be read in place of a new run")
    given = parser.parse_args()
    if given.read:
        lines = given.read.read_bytes().splitlines()
        found = list(figures([msgspec.json.decode(line, type=Sample) for line in lines]))
    else:
        minutes, nodes, every = (1.0, 1, 3.0) if given.quick else (given.minutes, NODES, EVERY)
        with tempfile.TemporaryDirectory(prefix="sapo-hours-") as folder:
            found = asyncio.run(play(Path(folder), nodes, 60 * minutes, every, given.seed, given.samples))
    show(found, given)


async def play(
    folder: Path, nodes: int, seconds: float, every: float, seed: int, keep: Path | None = None
) -> list[Figure]:
    """Run them, look, end them; then read their logs."""
    ending = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, ending.set)
    relay, address = await start_relay(folder / "relay", "127.0.0.1:0", within=READY_SECONDS)
    programs = {"relay": relay}
    samples: list[Sample] = []
    ended = ""
    try:
        for number in range(1, nodes + 1):
            programs[f"node {number}"] = _start_node(folder, number, address, seed + number)
        clients = {name: await _attached(program) for name, program in programs.items()}
        began = due = time.monotonic()
        while time.monotonic() - began < seconds and not ending.is_set():
            try:
                samples.append(await look(programs, clients, time.monotonic() - began))
            except SapoError as error:
                ended = str(error)
                break
            if keep:
                with keep.open("ab") as file:
                    file.write(msgspec.json.encode(samples[-1]) + b"\n")
            tell(f"{samples[-1].seconds:.0f} s: {samples[-1].rounds} rounds, {samples[-1].memory}")
            due += every
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ending.wait(), max(0.0, due - time.monotonic()))
        for client in clients.values():
            await client.close()
    finally:
        for program in programs.values():
            program.kill()
    return list(figures(samples, leaks=_leaks_of(folder, programs), ended=ended))


def _start_node(folder: Path, number: int, address: Address, seed: int) -> Program:
    """Its tasks were compared before, as at any start but the first."""
    data = folder / f"node-{number}"
    (data / "cache").mkdir(parents=True)
    shutil.copy(folder / "relay" / "cache" / "task-ids.json", data / "cache")
    words = ["run", "--share", "--peer", str(address), "--seed", str(seed)]
    # At normal priority: next to other programs it would finish no round.
    return Program([*words, *settings("threads=1", f"processor_percent={SHARE}", "low_priority=off", "mix=4/4")], data)


async def _attached(program: Program) -> Client:
    """A client of the program, once it works."""
    client = None
    async with asyncio.timeout(READY_SECONDS):
        while True:
            with contextlib.suppress(NotRunning):
                client = client or await connect(program.data, events=False)
                if not isinstance(await client.call(GetStatus()), StartingStatus):
                    return client
            if program.process.poll() is not None:
                raise RuntimeError(f"It ended: {''.join(program.errors[-3:])}")
            await asyncio.sleep(1.0)


async def look(programs: dict[str, Program], clients: dict[str, Client], seconds: float) -> Sample:
    """One sample of all of them. Raises SapoError: one has ended."""
    memory: dict[str, int] = defaultdict(int)
    queues: dict[str, float] = defaultdict(float)
    logs: dict[str, int] = {}
    rounds = 0
    for name, program in programs.items():
        kind = name.partition(" ")[0]
        for process in family(program.process.pid):
            with contextlib.suppress(psutil.Error):  # it ended in between
                memory[role(process.cmdline())] += own_memory(process.pid)
                queues[f"{kind}: descriptors"] += process.num_fds()
                queues[f"{kind}: threads"] += process.num_threads()
                queues[f"{kind}: processes"] += 1
        status = await clients[name].call(GetStatus())
        assert isinstance(status, Status | RelayStatus)
        rounds += status.round if isinstance(status, Status) else 0
        queues[f"{kind}: groups held"] += status.swarm.pool
        queues[f"{kind}: bytes that wait on links"] += sum(link.waiting for link in status.swarm.links)
        queues[f"{kind}: own groups not offered yet"] += sum(link.unsent for link in status.swarm.links)
        queues[f"{kind}: links"] += len(status.swarm.links)
        for log in sorted((program.data / "logs").iterdir()):
            logs[f"{name}: {log.name}"] = log.stat().st_size
    memory["all"] = sum(memory.values())
    return Sample(seconds=seconds, rounds=rounds, memory=dict(memory), queues=dict(queues), logs=logs)


# -- what came of it -----------------------------------------------------------------------------------------------


def figures(samples: Sequence[Sample], *, leaks: list[str] | None = None, ended: str = "") -> Iterator[Figure]:
    """`leaks`: lines of logs with a path or a name; None if the logs are gone. `ended`: the output of a program that
    ended by itself."""
    if not samples:
        yield Figure("samples", 0, "samples", "some", False)
        return
    end = samples[-1].seconds
    counted = [sample for sample in samples if sample.seconds >= min(SETTLED, (1 - LEAST_PART) * end)]
    minutes = (counted[-1].seconds - counted[0].seconds) / 60
    about = f"{end / 60:.0f} minutes, {samples[-1].rounds} rounds; the last {minutes:.0f} minutes count"
    yield Figure("minutes played", end / 60, "minutes", note=about)
    yield exactly("programs that ended unexpectedly", float(bool(ended)), "programs", 0, ended)
    for name in samples[-1].memory:
        yield _drift(f"drift of memory, {name}", trend([sample.memory.get(name, 0) for sample in counted]))
    yield _queues(counted)
    largest = max((size for sample in samples for size in sample.logs.values()), default=0)
    note = f"{sum(samples[-1].logs.values()) / 1e3:.0f} kB of {len(samples[-1].logs)} logs in all"
    yield at_most("largest log", largest / 1e3, "kB", 1.1 * MAX_LOG_BYTES / 1e3, note)
    if leaks is not None:
        yield exactly("log lines with a path or name", len(leaks), "lines", 0, "; ".join(leaks[:3]))


def _drift(name: str, fit: Trend | None) -> Figure:
    if fit is None:
        return Figure(name, 0.0, "%", note="too few samples")
    note = f"{fit.interval}; from {fit.begin / 1e6:.0f} MB"
    return Figure(name, fit.percent, "%", f"<{MOST_DRIFT:.0f}", fit.percent < MOST_DRIFT, note)


def _queues(counted: Sequence[Sample]) -> Figure:
    """The series that certainly grow, by more than memory may."""
    fits = {name: trend([sample.queues.get(name, 0.0) for sample in counted]) for name in counted[-1].queues}
    growing = {name: fit for name, fit in fits.items() if fit is not None and fit.low > MOST_DRIFT}
    notes = [f"{name} {fit.percent:+.0f}% ({fit.interval})" for name, fit in growing.items()]
    notes.append("at the end: " + ", ".join(f"{name} {value:.0f}" for name, value in counted[-1].queues.items()))
    return exactly("queues that grow", len(growing), "queues", 0, "; ".join(notes))


def trend(values: Sequence[float]) -> Trend | None:
    """Theil and Sen's line through samples at equal times, in percent of its start (at least 1), with a
    95% interval from blocks of its residuals, resampled; None for fewer than two blocks."""
    if len(values) < 2 * BLOCK:
        return None
    rng = np.random.default_rng(1)
    series, times = np.asarray(values, dtype=float), np.arange(len(values), dtype=float)
    first, second = np.triu_indices(len(values), 1)
    apart = times[second] - times[first]

    def slope(of: np.ndarray) -> float:
        return float(np.median((of[second] - of[first]) / apart))

    steep = slope(series)
    begin = float(np.median(series - steep * times))
    line = begin + steep * times
    residuals = series - line
    starts = rng.integers(0, len(values) - BLOCK + 1, size=(RESAMPLED, -(-len(values) // BLOCK)))
    drawn = residuals[starts[:, :, None] + np.arange(BLOCK)].reshape(RESAMPLED, -1)[:, : len(values)]
    slopes = [slope(line + one) for one in drawn]
    scale = 100 * float(times[-1]) / max(1.0, begin)
    low, high = np.quantile(slopes, (0.025, 0.975))
    return Trend(percent=steep * scale, low=float(low) * scale, high=float(high) * scale, begin=begin)


def _leaks_of(folder: Path, programs: dict[str, Program]) -> list[str]:
    found = []
    for name, program in programs.items():
        for log in sorted((program.data / "logs").iterdir()):
            text = log.read_text(encoding="utf-8", errors="replace")
            found += [f"{name}: {log.name}: {line}" for line in leaks(text, [Path.home(), folder])]
    return found


def leaks(text: str, folders: Iterable[Path], *, user: str | None = None, host: str | None = None) -> list[str]:
    """Lines with one of the folders, a home folder, the user's name or the computer's. None: this one's."""
    names = [user or getpass.getuser(), host or socket.gethostname()]
    forms = [re.escape(str(folder)) for folder in folders]
    forms += [rf"\b{re.escape(name)}\b" for name in names]
    forms.append(r"(?:/home|/Users|[A-Z]:\\Users)[/\\]")
    looked_for = re.compile("|".join(forms))
    return [line for line in text.splitlines() if looked_for.search(line)]


if __name__ == "__main__":
    main()
