"""How long a person waits for an answer in Try it while the node trains with all it may take.

    python -m tests.bench.node.asking             20 questions while rounds are played, then 20 beside eight loops
    python -m tests.bench.node.asking --quick     4 of each

Before the loops begin it waits until the node has given way to other programs (`low_priority`, two minutes after its
start; not with --quick). Wall time from the request to its first words and to its whole answer, over the control
channel, as the window asks.
"""

import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from sapo_desktop.worker.control.client import Client, connect_or_start
from sapo_desktop.worker.control.messages.asking import Ask, AskProgressed
from sapo_desktop.worker.control.messages.events import RoundFinished
from sapo_desktop.worker.control.messages.requests import Quit, StartRounds
from tests.bench.figure import arguments, at_most, show, tell
from tests.bench.node.busy import loops

QUESTION = "What is 7 + 5 - 3?"
FIRST_SECONDS, WHOLE_SECONDS = 0.5, 2.0
LOOPS = 8
HASTE_SECONDS = 120.0
"""After which a host that was loaded gives way (worker/hosts/protocol.py)."""
PAUSE_SECONDS = 1.3
"""Between two questions: it falls into every phase of a round."""


class Waited(NamedTuple):
    """Seconds of one question."""

    first: float
    whole: float


def main() -> None:
    given = arguments(__doc__).parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        alone, busy = asyncio.run(play(Path(folder) / "node", 4 if given.quick else 20, gives_way=not given.quick))
    for where, waited in (("", alone), (f", next to {LOOPS} loops", busy)):
        for name, values, most in (
            ("first words", [one.first for one in waited], FIRST_SECONDS),
            ("whole answer", [one.whole for one in waited], WHOLE_SECONDS),
        ):
            note = f"{min(values):.2f} to {max(values):.2f} in {len(values)}, on {os.cpu_count()} cores"
            show([at_most(f"{name}{where}", statistics.median(values), "s", most, note)], given)


async def play(data: Path, count: int, *, gives_way: bool) -> tuple[list[Waited], list[Waited]]:
    """Ask a node that plays rounds, and then again on a computer that has much else to do."""
    data.mkdir()
    client = (await connect_or_start(data, {})).client
    events = Events(client)
    try:
        await client.call(StartRounds())
        await events.round.wait()
        alone = [await ask(client, events, number) for number in range(count)]
        tell(f"{events.rounds} rounds meanwhile")
        if gives_way:
            await asyncio.sleep(HASTE_SECONDS)
        with loops(LOOPS):
            busy = [await ask(client, events, count + number) for number in range(count)]
        return alone, busy
    finally:
        events.task.cancel()
        await client.call(Quit())
        await client.close()


class Events:
    """What the node tells: rounds, and the first words of an answer."""

    def __init__(self, client: Client) -> None:
        self.round = asyncio.Event()
        self.rounds = 0
        self.first: dict[int, float] = {}
        self.task = asyncio.create_task(self._follow(client))

    async def _follow(self, client: Client) -> None:
        async for event in client.events():
            if isinstance(event, RoundFinished):
                self.rounds += 1
                self.round.set()
            elif isinstance(event, AskProgressed):
                self.first.setdefault(event.stream, time.perf_counter())


async def ask(client: Client, events: Events, number: int) -> Waited:
    """One question, to the model as it came and as it is now in turns."""
    await asyncio.sleep(PAUSE_SECONDS)
    began = time.perf_counter()
    await client.call(Ask(question=QUESTION, checkpoint="last" if number % 2 else "base", stream=number + 1))
    over = time.perf_counter()
    return Waited(events.first.get(number + 1, over) - began, over - began)


if __name__ == "__main__":
    main()
