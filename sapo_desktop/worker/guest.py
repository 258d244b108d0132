"""A guest with manners: sees to it that a node keeps to what the user of its computer allows.

Every two seconds it looks at the computer and at the node: the orders are told who is there, for worker/governor.py to
decide by; memory and disk are kept within their caps, and links are made anew after a sleep. What the node takes is
shown beside each cap, and its energy added up (Meter).

Processor time is bounded ten times a second (Throttle): a number of threads is a promise about the next round; this one
holds at once, on every system, and for all processes of the node together. Who took more than it may is suspended until
time has made up for it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sapo_desktop.core.errors import SapoError
from sapo_desktop.core.sentences import Size, Text, sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.system.desktop.awake import Awake
from sapo_desktop.system.desktop.ceiling import Ceiling, limit_of
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.hardware import card_memory_of
from sapo_desktop.system.presence.energy import Energy
from sapo_desktop.system.presence.watch import Presence, Watch
from sapo_desktop.system.processes import Processors, effort, own_memory, processors
from sapo_desktop.worker.assembly import Assembled
from sapo_desktop.worker.control.messages.facts import Level, Usage
from sapo_desktop.worker.hosts.librarian import models_folder
from sapo_desktop.worker.hosts.patience import others_share
from sapo_desktop.worker.store.checkpoints import Checkpoint
from sapo_desktop.worker.store.history import DAY
from sapo_desktop.worker.store.keeper import bytes_in

log = logging.getLogger("sapo_desktop.worker")

LOOK_SECONDS = 2.0
"""Between looks; no event tells of it all on every system."""
ASLEEP_SECONDS = 20.0
"""More than that in the wait for the next look, and the computer slept: its links are dead, whatever their sockets say.
A clock that was put forward looks the same, and costs a new link."""
DISK_SECONDS = 300.0
"""Between looks at what is on disk."""
KEEP_SECONDS = 60.0
"""Between writes of what was added up."""
OTHERS_SECONDS = 10.0
"""Over which the share of other programs is measured: less would be a moment's burst."""
_OTHERS_STEP = 0.1
"""A share that has changed by less is not said anew."""
TICK_SECONDS = 0.1
"""Between looks, while something may compute."""
SLACK_SECONDS = 0.2
"""Of processor time that may be taken ahead, for each core."""


class Taken(NamedTuple):
    """As of one look."""

    cpu: Mapping[int, float]
    """Seconds of processor time of each process since it began."""
    memory: int
    sent: int
    """Bytes to peers so far."""
    received: int
    card_memory: int = 0


class Meter:
    """Looks, again and again.

    Args:
        take: a look at the node.
        keep: told joules that are to be added to what is kept.
        kept: joules that are kept already.
    """

    def __init__(
        self,
        take: Callable[[], Taken],
        keep: Callable[[int], None],
        kept: int,
        clock: Callable[[], float] = time.monotonic,
        energy: Energy | None = None,
    ) -> None:
        self._take, self._keep, self._clock = take, keep, clock
        self._energy = energy or Energy()
        self._before = take()
        self._time = self._kept_at = clock()
        self._unkept = 0.0
        self.cpu = 0.0
        """Seconds of processor time that the node has used since the first look."""
        self.now = Usage(joules=kept)
        self.disk = 0
        """Bytes, as they were counted last."""
        self.written = 0
        """Bytes of checkpoints in a day, as they were counted last."""

    def look(self, settings: Settings) -> Usage:
        """What was taken since the last look."""
        now, taken, before = self._clock(), self._take(), self._before
        passed = max(1e-3, now - self._time)
        cpu = sum(max(0.0, spent - before.cpu.get(pid, spent)) for pid, spent in taken.cpu.items())
        self.cpu += cpu
        joules = self._energy.look(cpu, CORE_WATTS, list(taken.cpu))
        self._before, self._time = taken, now
        self._unkept += joules
        self.now = Usage(
            cores=cpu / passed,
            memory=taken.memory,
            sent=max(0, taken.sent - before.sent) / passed,
            received=max(0, taken.received - before.received) / passed,
            disk=self.disk,
            card_memory=taken.card_memory,
            written=self.written,
            watts=joules / passed,
            joules=self.now.joules + joules,
            measured=self._energy.measured,
        )
        if now - self._kept_at >= KEEP_SECONDS:
            self.keep()
        return self.now

    def keep(self) -> None:
        """Have what was added up written."""
        whole, self._kept_at = int(self._unkept), self._clock()
        if whole:
            self._unkept -= whole
            self._keep(whole)


class Others:
    """Whether other programs have the processors that the node would compute on: then it waits its turn.

    Args:
        cpu: seconds of processor time that the node has used so far.
        look: what the computer's processors did so far.
    """

    def __init__(
        self,
        cpu: float,
        clock: Callable[[], float] = time.monotonic,
        look: Callable[[], Processors] = processors,
    ) -> None:
        self._clock, self._look = clock, look
        self._before = clock(), look(), cpu
        self._share: float | None = None

    def look(self, cpu: float) -> Text:
        """What is to be said of it; empty where nothing is. `cpu`: as above."""
        began, before, used = self._before
        if self._clock() - began >= OTHERS_SECONDS:
            now = self._look()
            found = others_share(before, now, cpu - used)
            self._before = self._clock(), now, cpu
            if found is None or self._share is None or abs(found - self._share) >= _OTHERS_STEP:
                self._share = found
        if self._share is None:
            return ""
        return sentence(
            "Other programs use {share}% of the processor, so this takes longer.", share=round(100 * self._share)
        )


class Throttle:
    """A bucket of processor time.

    Args:
        spent: seconds of processor time that each process of the node (by its id) has used since it began.
        hold: suspends what computes, or lets it go on.
        clock: monotonic seconds.
    """

    def __init__(
        self, spent: Callable[[], Mapping[int, float]], hold: Callable[[bool], None], clock: Callable[[], float]
    ) -> None:
        self._spent, self._hold, self._clock = spent, hold, clock
        self._seen = dict(spent())
        self._time = clock()
        self._left = 0.0

    def look(self, cores: float) -> None:
        """Count what was used since the last look; at most `cores` seconds of it a second are free."""
        now, seen = self._clock(), dict(self._spent())
        passed = now - self._time
        used = sum(max(0.0, spent - self._seen.get(pid, spent)) for pid, spent in seen.items())
        self._time, self._seen = now, seen
        self._left = min(SLACK_SECONDS * cores, self._left + passed * cores - used)
        self._hold(self._left < 0)


MEMORY_BACK_MINUTES = 15
"""Of a pause, after which its memory is given back, too: loading again takes seconds."""
CORE_WATTS = 10.0
"""Of a computing core, where the processor does not tell its energy: what laptops and desktops of today take."""


class Guest:
    """Sees to it that a node keeps to what its user allows: looks at the computer and at itself, again and again.

    Args:
        ceiling: the worker's, which outlives the node.
        renew: has the node put together anew, once its round in hand is done.
        renew_at_once: the same, and that round is left out.
        wanted: the settings that are kept; some hold only for the node that takes this one's place.
        at_rate: has what is downloaded beside the swarm come at so many KB a second.
        wall: Unix seconds, which go on while the computer sleeps.
    """

    def __init__(
        self,
        assembled: Assembled,
        folder: DataFolder,
        ceiling: Ceiling,
        renew: Callable[[], None],
        renew_at_once: Callable[[], None],
        wanted: Callable[[], Settings],
        at_rate: Callable[[int], None],
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._assembled = assembled
        self._ceiling, self._renew, self._renew_at_once = ceiling, renew, renew_at_once
        self._wanted, self._at_rate = wanted, at_rate
        self._wall = wall
        self._node, self._side = assembled.node, assembled.side
        self._places = folder.root
        self._watch = Watch(lambda: pids_of(assembled))
        lasting = self._node.keeper.lasting
        self._card_memory = 0
        """Bytes, as of the last look."""
        self.meter = Meter(self._take, lasting.took, lasting.joules)
        self._others = Others(self.meter.cpu)
        self._awake, self._told_asleep = Awake(), False
        self._told: dict[str, str] = {}
        """What was said last of what may go on for long."""
        self._counted: tuple[float, float] | None = None
        """When the disk was looked at, and the cap then."""
        self._newest: Checkpoint | None = None
        """Up to which it is known what checkpoints wrote."""

    async def begin(self) -> None:
        """Look once, before the first decision."""
        self._node.orders.here = await asyncio.to_thread(self._see, self._node.settings)
        await self._keep_to_rates()

    async def run(self) -> None:
        """Look until cancelled."""
        try:
            while True:
                await self._look()
                await self._until_next_look()
        finally:
            self.meter.keep()
            self._awake.follow(False)
            self._watch.close()

    async def before_sleep(self) -> None:
        """Have everything written that is not on disk yet: the computer is about to sleep."""
        self.meter.keep()
        self._node.keeper.lasting.keep()
        await self._node.keep_now()

    async def keep_to_share(self) -> None:
        """Keep the processor time of all processes within what was decided, until cancelled."""
        gate = self._node.gate
        while True:
            gate.hold(False)
            await gate.wait()
            # Anew: what was computed meanwhile for who asked is no debt of the rounds.
            throttle = Throttle(lambda: spent_by(self._assembled), gate.hold, time.monotonic)
            while gate.is_open:
                throttle.look(gate.cores)
                await asyncio.sleep(TICK_SECONDS)

    async def _until_next_look(self) -> None:
        """The wait alone is measured: a look may take long by itself, as where a model is put away."""
        before = self._wall()
        await asyncio.sleep(LOOK_SECONDS)
        if self._wall() - before > ASLEEP_SECONDS:
            self._side.dial_anew()

    async def _look(self) -> None:
        node = self._node
        here = await asyncio.to_thread(self._see, node.settings)
        text = sentence("{reason} Settings that depend on it have no effect.", reason=here.idle_unknown)
        self._tell_once("idle", here.idle_unknown, "warning", text)
        self.meter.look(node.settings)
        node.orders.see(here, self._others.look(self.meter.cpu))
        await self._keep_to_rates()
        self._keep_awake(node.settings.keep_awake and node.gate.is_open and not here.on_battery)
        await self._bound_memory()
        await self._bound_disk()

    async def _keep_to_rates(self) -> None:
        """Have what was decided of the network hold: when somebody comes back, within the time of a look."""
        decision = self._node.orders.decision
        self._at_rate(decision.download)
        await self._side.obey(decision)

    def _see(self, settings: Settings) -> Presence:
        """What may take its time, for a thread."""
        pids = pids_of(self._assembled)
        self._card_memory = card_memory_of(pids) if pids and self._node.engine.on_card else 0
        return self._watch.look(settings)

    def _keep_awake(self, wanted: bool) -> None:
        if not self._awake.follow(wanted) and not self._told_asleep:
            self._told_asleep = True
            text = sentence(
                "The app cannot keep this computer awake, so it may go to sleep, unless its power settings "
                "prevent that."
            )
            self._node.show.notice("warning", text)

    async def _bound_memory(self) -> None:
        """Give memory back after a long pause, and where the node holds more than it may."""
        node, held = self._node, self.meter.now.memory
        most = int(node.settings.memory_most * 1e9)
        if await asyncio.to_thread(self._ceiling.follow, most):
            self._renew()
        text = sentence("{reason} So memory_most is watched here, not enforced.", reason=self._ceiling.refused)
        self._tell_once("ceiling", self._ceiling.refused, "info", text)
        long_ago = node.gate.asleep_for >= 60 * MEMORY_BACK_MINUTES
        if long_ago and any(host.pid is not None for host in node.hosts):
            log.info("Paused for %d min: the memory is given back.", MEMORY_BACK_MINUTES)
            await node.put_away()
        elif not node.engine.running:
            return
        elif most and held > most:
            text = sentence(
                "This node uses {held} of memory, but memory_most allows {most}.",
                held=Size(bytes=held),
                most=Size(bytes=most),
            )
            await node.shrink(text)
        else:
            await self._bound_card_memory()

    async def _bound_card_memory(self) -> None:
        """Within the time of a look of a lowered cap, not after the round in hand, and where PyTorch's own limit does
        not hold: it knows nothing of what llama.cpp takes, and little of what CUDA does."""
        node, held, wanted = self._node, self.meter.now.card_memory, self._wanted().card_memory_most
        most, unchanged = int(wanted * 1e9), wanted == node.settings.card_memory_most
        # PyTorch keeps what it once had, up to its own limit, whatever CUDA and llama.cpp take beside that: a little
        # above the cap may be how it stays, and a model loaded anew at each look would end in a node that gives up.
        if not most or held <= (limit_of(most) if unchanged else most):
            return
        text = sentence(
            "This node uses {held} of the graphics card's memory, but card_memory_most allows {most}.",
            held=Size(bytes=held),
            most=Size(bytes=most),
        )
        if unchanged:
            await node.shrink(text)
        else:  # a node that is put together by it is to come anyway, and is fitted to it
            node.show.notice("info", sentence("{reason} The current round is skipped.", reason=text))
            self._renew_at_once()

    async def _bound_disk(self) -> None:
        """Count what is on disk now and then, and delete what can be spared above the cap."""
        node, now = self._node, time.monotonic()
        cap, places = node.settings.disk_gigabytes, [self._places, models_folder(node.settings)]
        due = self._counted is None or now - self._counted[0] >= DISK_SECONDS
        if due or node.keeper.newest is not self._newest:
            self._newest = node.keeper.newest
            since = self._wall() - DAY
            written = await node.keeper.patiently(node.keeper.history.checkpoints_written, since)
            self.meter.written = sum(one.bytes for one in written)
        if not due and self._counted is not None and self._counted[1] == cap:
            return
        self._counted = now, cap
        most = int(cap * 1e9)
        tidied = most > 0 and await self._tidied(most, places)
        if not tidied:
            self.meter.disk = await asyncio.to_thread(bytes_in, places)
        text = sentence(
            "This node and the models take {held} of disk, but disk_gigabytes allows {most}, and nothing "
            "more can be deleted. Raise it, or remove a model.",
            in_terminal="sapo-desktop models",
            held=Size(bytes=self.meter.disk),
            most=Size(bytes=most),
        )
        self._tell_once("full", str(cap) if tidied and self.meter.disk > most else "", "warning", text)

    async def _tidied(self, most: int, places: Sequence[Path]) -> bool:
        """Delete what can be spared; False where the disk, which may be full, does not let it: the next count tries
        again."""
        try:
            self.meter.disk = await self._node.keeper.tidy(most, places)
        except SapoError as error:
            text = sentence(
                "{reason} Not enough could be deleted for disk_gigabytes. The node tries again in 5 minutes.",
                reason=error.text,
            )
            self._tell_once("tidy", error.text, "warning", text)
            return False
        self._told.pop("tidy", None)
        return True

    def _tell_once(self, about: str, reason: Text, level: Level, text: Text) -> None:
        """Say `text` where `reason`, which is empty where all is well, is another one than at the look before."""
        if reason and str(reason) != self._told.get(about):
            self._node.show.notice(level, text)
        self._told[about] = str(reason)

    def _take(self) -> Taken:
        member = self._side.network
        sent, received = (member.upload.passed, member.download.passed) if member else (0, 0)
        return Taken(spent_by(self._assembled), memory_of(self._assembled), sent, received, self._card_memory)


def memory_of(assembled: Assembled) -> int:
    """Bytes that the worker and all hosts hold for themselves."""
    return sum(map(own_memory, (os.getpid(), *pids_of(assembled))))


def pids_of(assembled: Assembled) -> list[int]:
    """Of every process that computes for a node."""
    return [host.pid for host in (*assembled.node.hosts, *assembled.side.hosts) if host.pid is not None]


def spent_by(assembled: Assembled) -> dict[int, float]:
    """Seconds of processor time of the worker and of each host."""
    return {pid: effort(pid).cpu for pid in (os.getpid(), *pids_of(assembled))}
