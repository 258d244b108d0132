"""Whether a node is a guest with manners: caps held, pauses real, the user's own programs hardly slower.

    python -m tests.bench.node.guest                  30 minutes
    python -m tests.bench.node.guest --minutes 3      shorter, coarser
    python -m tests.bench.node.guest --quick          two turns of seconds

Node and window run on a screen of their own (Xvfb) with 1 thread, 1.5 GB, and 50 KB/s. In turns a program that keeps
all cores busy (it compresses, as a compiler or a video would) runs alone, beside the node, and beside a loop at idle
priority with as many threads as the node. Traffic is measured between nodes of this process.
"""

import asyncio
import contextlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

from sapo_desktop.swarm.protocol.envelope import Answer
from sapo_desktop.system.processes import own_memory
from sapo_desktop.worker.control.client import Client, connect
from sapo_desktop.worker.control.messages.requests import Pause, Resume
from tests.attack.peers.swarm import settings
from tests.bench.figure import Figure, arguments, at_most, show, tell
from tests.bench.processes import cpu_of, family
from tests.display import a_display
from tests.swarm.peers import group
from tests.swarm.sockets.nodes import nodes, until

THREADS, GIGABYTES, KILOBYTES = 1, 1.5, 50
NEAR, POINTS = 1.05, 5.0
"""Goals: how far above a cap is still within it; points by which a program may be slower than beside the loop."""
PEERS, GROUPS, TRAFFIC_SECONDS, TRAFFIC_QUICK = 40, 60, 30.0, 5.0
STILL_SECONDS, BACK_SECONDS = 1.0, 2.0
WORK = """
import sys, time, zlib
data, done, end = bytes(range(256)) * 256, 0, time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    zlib.compress(data, 9)
    done += 1
print(done)
"""
SPIN = "import os\nos.nice(19)\nwhile True: pass"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    given = parser.parse_args()
    minutes = 0.25 if given.quick else given.minutes
    with tempfile.TemporaryDirectory() as scratch, a_display(tray=True) as screen:
        found = asyncio.run(beside(Path(scratch) / "node", 60 * minutes, given.seed, screen))
    found += asyncio.run(traffic(TRAFFIC_QUICK if given.quick else TRAFFIC_SECONDS))
    show(found, given)


# -- beside a program in the foreground ----------------------------------------------------------------------------


async def beside(data: Path, seconds: float, seed: int, screen: dict[str, str]) -> list[Figure]:
    """A node at work, paused and resumed in turns."""
    slot = min(15.0, seconds / 9)
    with node(data, seed, screen) as worker, window(data, screen):
        client = await connect(data, events=False)
        async with client:
            rates: dict[str, list[float]] = {"alone": [], "node": [], "loop": []}
            cores, memory, still, back = [], [], [], []
            end = time.monotonic() + seconds
            while time.monotonic() < end or len(back) < 2:
                still.append(await still_after(client, worker))
                rates["alone"].append(await foreground(slot))
                with spinning():
                    rates["loop"].append(await foreground(slot))
                back.append(await back_after(client, worker))
                began, before = time.monotonic(), cpu(worker)
                rates["node"].append(await foreground(slot))
                cores.append((cpu(worker) - before) / (time.monotonic() - began))
                began, before = time.monotonic(), cpu(worker)
                await asyncio.sleep(slot)  # nobody in its way: this is where it would take more than it may
                cores.append((cpu(worker) - before) / (time.monotonic() - began))
                memory.append(sum(own_memory(process.pid) for process in family(worker)))
                tell(
                    f"{len(back)}: {rates['node'][-1] / rates['alone'][-1]:.2f} of its speed beside the node, "
                    f"{rates['loop'][-1] / rates['alone'][-1]:.2f} beside the loop; {cores[-1]:.2f} cores"
                )
    slower = {
        kind: 100 * (1 - statistics.median(a / b for a, b in zip(rates[kind], rates["alone"], strict=True)))
        for kind in ("node", "loop")
    }
    more, turns = slower["node"] - slower["loop"], f"{len(back)} turns of {slot:.0f} s, {os.cpu_count()} cores"
    return [
        at_most("cores in use", max(cores), "cores", THREADS * NEAR, f"cap {THREADS}; {turns}"),
        at_most("memory of all processes", max(memory) / 1e9, "GB", GIGABYTES * NEAR, f"cap {GIGABYTES}"),
        at_most("from pause to no processor time", max(still), "s", STILL_SECONDS, f"largest of {len(still)}"),
        at_most("from resume to processor time", max(back), "s", BACK_SECONDS, f"largest of {len(back)}"),
        Figure("a program beside the node", slower["node"], "% slower", note=turns),
        Figure("a program beside an idle-priority loop", slower["loop"], "% slower"),
        at_most("node against loop", more, "points slower", POINTS, turns),
    ]


@contextlib.contextmanager
def node(data: Path, seed: int, screen: dict[str, str]) -> Iterator[int]:
    """A node that plays rounds within its caps; gives the worker's process id once the first round is done."""
    caps = settings(f"threads={THREADS}", f"memory_most={GIGABYTES}")
    caps += settings(f"upload_kilobytes={KILOBYTES}", f"download_kilobytes={KILOBYTES}")
    line = [sys.executable, "-m", "sapo_desktop", "run", "--silo", "--json", "--seed", str(seed), "--data", str(data)]
    line += [*caps, *settings("when_window_closes=continue")]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=screen)
    assert process.stdout is not None
    try:
        for text in process.stdout:
            if json.loads(text)["event"] == "round":
                break
        status = subprocess.run(
            [sys.executable, "-m", "sapo_desktop", "status", "--json", "--data", str(data)],
            capture_output=True,
            text=True,
            check=True,
        )
        tell("the node plays rounds")
        yield int(json.loads(status.stdout.splitlines()[-1])["pid"])
    finally:
        process.terminate()
        process.communicate()


@contextlib.contextmanager
def window(data: Path, screen: dict[str, str]) -> Iterator[None]:
    """The node's window, in the tray."""
    shown = subprocess.Popen(
        [sys.executable, "-m", "sapo_desktop", "--tray", "--data", str(data)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=screen,
    )
    try:
        yield
    finally:
        shown.kill()
        shown.wait()


@contextlib.contextmanager
def spinning() -> Iterator[None]:
    # In our own session: by itself in one, its priority would count against nothing (autogroup).
    loops = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(THREADS)]
    try:
        yield
    finally:
        for one in loops:
            one.kill()
            one.wait()


async def foreground(seconds: float) -> float:
    """Pieces of work a second that programs on all cores get done together."""
    line = [sys.executable, "-c", WORK, str(seconds)]
    running = [
        await asyncio.create_subprocess_exec(*line, stdout=asyncio.subprocess.PIPE) for _ in range(os.cpu_count() or 1)
    ]
    printed = await asyncio.gather(*(one.communicate() for one in running))
    return sum(int(out) for out, _ in printed) / seconds


def cpu(worker: int, *, hosts_only: bool = False) -> float:
    """Seconds of processor time of the node's processes so far."""
    return cpu_of(family(worker)[hosts_only:])


async def still_after(client: Client, worker: int) -> float:
    """Seconds from a pause until the hosts take no processor time any more."""
    began = time.monotonic()
    await client.call(Pause())
    last, since = cpu(worker, hosts_only=True), time.monotonic()
    while time.monotonic() - began < 3:
        await asyncio.sleep(0.05)
        if (now := cpu(worker, hosts_only=True)) > last:
            last, since = now, time.monotonic()
    return since - began


async def back_after(client: Client, worker: int) -> float:
    """Seconds from the end of a pause until the hosts compute."""
    began, before = time.monotonic(), cpu(worker, hosts_only=True)
    await client.call(Resume())
    while cpu(worker, hosts_only=True) <= before and time.monotonic() - began < 30:
        await asyncio.sleep(0.02)
    return time.monotonic() - began


# -- traffic -------------------------------------------------------------------------------------------------------


async def traffic(seconds: float) -> list[Figure]:
    """KB a second from a node to all its peers, who want more of it than it may send in the time."""
    free = await rate(0, seconds)
    note = f"cap {KILOBYTES} KB/s, {free:.0f} KB/s without one; {PEERS} peers, {seconds:.0f} s each"
    return [at_most("sent to peers", await rate(KILOBYTES, seconds), "KB/s", KILOBYTES * NEAR, note)]


async def rate(kilobytes: float, seconds: float) -> float:
    """What is sent once it has groups to give, in KB a second."""
    text = b64encode(random.Random(1).randbytes(2250)).decode()  # nothing that could be packed
    answers = [Answer(text=text, tokens=3)] * 5
    async with nodes(1 + PEERS) as (first, *others):
        for other in others:
            other.network.dial(first.address())
        await until(lambda: all(other.network.download.passed for other in others))
        upload = first.network.upload
        upload.rate = 1000 * kilobytes
        slot = int(time.time() // 600)
        for index in range(GROUPS):
            first.network.publish(group(first.signer, slot=slot, index=index, answers=answers))
        began, before = time.monotonic(), upload.passed
        await asyncio.sleep(seconds)
        return (upload.passed - before) / (time.monotonic() - began) / 1000


if __name__ == "__main__":
    main()
