"""Keeps a node within the limits that the user of its computer set.

Every two seconds it checks the computer and the node. It passes the facts to the orders, for worker/governor.py to
decide; keeps memory and disk within their limits; and reconnects links after a sleep. It also measures what the node
uses, for display next to each limit, and adds up its energy (Meter).

Processor time is limited ten times a second (Throttle). A number of threads only affects the next round, while this
limit applies at once, on every system, and to all processes of the node together. Processes that exceed it are
suspended until the average is within it.
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
"""Interval of the checks; not every system has events for all of this."""
ASLEEP_SECONDS = 20.0
"""If the wait for the next check takes this much longer, the computer slept: its links are dead, whatever their
sockets say. A clock that was set forward looks the same, and only costs a new link."""
DISK_SECONDS = 300.0
"""Interval of the checks of the disk."""
KEEP_SECONDS = 60.0
"""Interval of the writes of totals."""
OTHERS_SECONDS = 10.0
"""Seconds over which other programs' share is measured, so that short bursts do not count."""
_OTHERS_STEP = 0.1
"""Smaller changes of the share are not reported."""
TICK_SECONDS = 0.1
"""Interval of the checks while something may compute."""
SLACK_SECONDS = 0.2
"""Processor time per core that may be used in advance."""


class Taken(NamedTuple):
    """The state at one check."""

    cpu: Mapping[int, float]
    """Seconds of processor time of each process since its start."""
    memory: int
    sent: int
    """Total bytes to peers."""
    received: int
    card_memory: int = 0


class Meter:
    """Repeated measurements.

    Args:
        take: measures the node.
        keep: called with joules to add to the stored total.
        kept: joules stored so far.
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
        """Seconds of processor time used since the first check."""
        self.now = Usage(joules=kept)
        self.disk = 0
        """Bytes at the last count."""
        self.written = 0
        """Bytes of checkpoints per day at the last count."""

    def look(self, settings: Settings) -> Usage:
        """What was used since the last check."""
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
        """Store the totals."""
        whole, self._kept_at = int(self._unkept), self._clock()
        if whole:
            self._unkept -= whole
            self._keep(whole)


class Others:
    """Whether other programs use the processors that the node would use.

    Args:
        cpu: seconds of processor time that the node has used so far.
        look: the computer's processor counters.
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
        """The sentence about it; empty if there is none. `cpu`: as above."""
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
    """A token bucket of processor time.

    Args:
        spent: seconds of processor time of each process of the node (by id) since its start.
        hold: suspends the computing processes, or resumes them.
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
        """Count what was used since the last check; at most `cores` seconds per second are free."""
        now, seen = self._clock(), dict(self._spent())
        passed = now - self._time
        used = sum(max(0.0, spent - self._seen.get(pid, spent)) for pid, spent in seen.items())
        self._time, self._seen = now, seen
        self._left = min(SLACK_SECONDS * cores, self._left + passed * cores - used)
        self._hold(self._left < 0)


MEMORY_BACK_MINUTES = 15
"""Minutes of a pause after which the memory is freed, too; loading again takes seconds."""
CORE_WATTS = 10.0
"""Watts per busy core if the processor does not report its energy: typical for today's laptops and desktops."""


class Guest:
    """Keeps the node within its user's limits by regularly checking the computer and the node.

    Args:
        ceiling: the worker's, which outlives the node.
        renew: rebuilds the node after the current round.
        renew_at_once: rebuilds it now, without that round.
        wanted: the stored settings; some apply only to the next node.
        at_rate: limits other downloads to so many KB per second.
        wall: Unix seconds, which continue while the computer sleeps.
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
        """Bytes at the last check."""
        self.meter = Meter(self._take, lasting.took, lasting.joules)
        self._others = Others(self.meter.cpu)
        self._awake, self._warned_asleep = Awake(), False
        self._reported: dict[str, str] = {}
        """The last reports about lasting conditions."""
        self._counted: tuple[float, float] | None = None
        """When the disk was checked, and the limit at that time."""
        self._newest: Checkpoint | None = None
        """The last checkpoint whose size was counted."""

    async def begin(self) -> None:
        """One check before the first decision."""
        self._node.orders.here = await asyncio.to_thread(self._see, self._node.settings)
        await self._keep_to_rates()

    async def run(self) -> None:
        """Check until cancelled."""
        try:
            while True:
                await self._look()
                await self._until_next_look()
        finally:
            self.meter.keep()
            self._awake.follow(False)
            self._watch.close()

    async def before_sleep(self) -> None:
        """Write everything that is not on disk yet, because the computer is about to sleep."""
        self.meter.keep()
        self._node.keeper.lasting.keep()
        await self._node.keep_now()

    async def keep_to_share(self) -> None:
        """Keep the processor time of all processes within the decided limit, until cancelled."""
        gate = self._node.gate
        while True:
            gate.hold(False)
            await gate.wait()
            # Restarted: what was computed for a request meanwhile does not count against the rounds.
            throttle = Throttle(lambda: spent_by(self._assembled), gate.hold, time.monotonic)
            while gate.is_open:
                throttle.look(gate.cores)
                await asyncio.sleep(TICK_SECONDS)

    async def _until_next_look(self) -> None:
        """Only the wait is measured, because a check may take long, for example when a model is unloaded."""
        before = self._wall()
        await asyncio.sleep(LOOK_SECONDS)
        if self._wall() - before > ASLEEP_SECONDS:
            self._side.dial_again()

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
        """Apply the decided network limits within one check, for example when somebody returns."""
        decision = self._node.orders.decision
        self._at_rate(decision.download)
        await self._side.obey(decision)

    def _see(self, settings: Settings) -> Presence:
        """The slow part of a check, for a thread."""
        pids = pids_of(self._assembled)
        self._card_memory = card_memory_of(pids) if pids and self._node.engine.on_card else 0
        return self._watch.look(settings)

    def _keep_awake(self, wanted: bool) -> None:
        if not self._awake.follow(wanted) and not self._warned_asleep:
            self._warned_asleep = True
            text = sentence(
                "The app cannot keep this computer awake, so it may go to sleep, unless its power settings "
                "prevent that."
            )
            self._node.show.notice("warning", text)

    async def _bound_memory(self) -> None:
        """Free memory after a long pause, and when the node exceeds its limit."""
        node, held = self._node, self.meter.now.memory
        most = int(node.settings.memory_most * 1e9)
        if await asyncio.to_thread(self._ceiling.follow, most):
            self._renew()
        text = sentence("{reason} So memory_most is watched here, not enforced.", reason=self._ceiling.refused)
        self._tell_once("ceiling", self._ceiling.refused, "info", text)
        long_ago = node.gate.asleep_for >= 60 * MEMORY_BACK_MINUTES
        if long_ago and any(host.pid is not None for host in node.hosts):
            log.info("Paused for %d min: the memory is freed.", MEMORY_BACK_MINUTES)
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
        """Applies a lower limit within one check instead of after the round, and covers what PyTorch's own limit
        does not: llama.cpp's memory, and most of CUDA's."""
        node, held, wanted = self._node, self.meter.now.card_memory, self._wanted().card_memory_most
        most, unchanged = int(wanted * 1e9), wanted == node.settings.card_memory_most
        # PyTorch keeps memory it once had, up to its own limit, whatever CUDA and llama.cpp use besides. A small excess
        # may therefore be permanent, and reloading at each check would end in a node that gives up.
        if not most or held <= (limit_of(most) if unchanged else most):
            return
        text = sentence(
            "This node uses {held} of the graphics card's memory, but card_memory_most allows {most}.",
            held=Size(bytes=held),
            most=Size(bytes=most),
        )
        if unchanged:
            await node.shrink(text)
        else:  # a setting that rebuilds the node, which is then fitted to it
            node.show.notice("info", sentence("{reason} The current round is skipped.", reason=text))
            self._renew_at_once()

    async def _bound_disk(self) -> None:
        """Occasionally count the disk use, and delete what can be spared above the limit."""
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
        """Delete what can be spared; False if the (possibly full) disk refuses: the next count tries again."""
        try:
            self.meter.disk = await self._node.keeper.tidy(most, places)
        except SapoError as error:
            text = sentence(
                "{reason} Not enough could be deleted for disk_gigabytes. The node tries again in 5 minutes.",
                reason=error.text,
            )
            self._tell_once("tidy", error.text, "warning", text)
            return False
        self._reported.pop("tidy", None)
        return True

    def _tell_once(self, about: str, reason: Text, level: Level, text: Text) -> None:
        """Report `text` if `reason`, which is empty if all is well, differs from the previous check."""
        if reason and str(reason) != self._reported.get(about):
            self._node.show.notice(level, text)
        self._reported[about] = str(reason)

    def _take(self) -> Taken:
        member = self._side.network
        sent, received = (member.upload.passed, member.download.passed) if member else (0, 0)
        return Taken(spent_by(self._assembled), memory_of(self._assembled), sent, received, self._card_memory)


def memory_of(assembled: Assembled) -> int:
    """Private bytes of the worker and all hosts."""
    return sum(map(own_memory, (os.getpid(), *pids_of(assembled))))


def pids_of(assembled: Assembled) -> list[int]:
    """The ids of all processes that compute for a node."""
    return [host.pid for host in (*assembled.node.hosts, *assembled.side.hosts) if host.pid is not None]


def spent_by(assembled: Assembled) -> dict[int, float]:
    """Seconds of processor time of the worker and of each host."""
    return {pid: effort(pid).cpu for pid in (os.getpid(), *pids_of(assembled))}
