"""A guest with manners: sees to it that a node keeps to what the user of its computer allows.

Every two seconds it looks at the computer and at the node: the orders are told who is there, for worker/governor.py to
decide by; memory and disk are kept within their caps. Processor time is bounded ten times a second.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time

from sapo_desktop.core.sentences import Size, sentence
from sapo_desktop.system.desktop.awake import Awake
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.presence.watch import Watch
from sapo_desktop.system.processes import effort, own_memory
from sapo_desktop.worker.assembly import Assembled
from sapo_desktop.worker.hosts.hosting import Host
from sapo_desktop.worker.hosts.librarian import models_folder
from sapo_desktop.worker.store.tidy import bytes_in
from sapo_desktop.worker.throttle import TICK_SECONDS, Throttle
from sapo_desktop.worker.usage import Meter, Taken

log = logging.getLogger("sapo_desktop.worker")

LOOK_SECONDS = 2.0
"""Between looks; no event tells of it all on every system."""
DISK_SECONDS = 300.0
"""Between looks at what is on disk."""


class Guest:
    """Sees to it that a node keeps to what its user allows: looks at the computer and at itself, again and again."""

    def __init__(self, assembled: Assembled, folder: DataFolder) -> None:
        self._assembled = assembled
        self._node, self._side = assembled.node, assembled.side
        self._places = folder.root
        self._watch = Watch(lambda: pids_of(assembled))
        lasting = self._node.keeper.lasting
        self.meter = Meter(self._take, lasting.took, lasting.joules)
        self._awake, self._told_asleep = Awake(), False
        self._unknown = self._full = ""
        self._counted: tuple[float, float] | None = None
        """When the disk was looked at, and the cap then."""

    async def begin(self) -> None:
        """Look once, before the first decision."""
        self._node.orders.here = await asyncio.to_thread(self._watch.look, self._node.settings)
        await self._side.bar(not self._node.orders.decision.network)

    async def run(self) -> None:
        """Look until cancelled."""
        try:
            while True:
                await self._look()
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            self.meter.keep()
            self._awake.follow(False)
            self._watch.close()

    async def keep_to_share(self) -> None:
        """Keep the processor time of all processes within what was decided, until cancelled."""
        gate = self._node.gate
        throttle = Throttle(lambda: spent_by(self._assembled), gate.hold, time.monotonic)
        while True:
            if not gate.is_open:
                gate.hold(False)
            await gate.wait()
            throttle.look(gate.cores)
            await asyncio.sleep(TICK_SECONDS)

    async def _look(self) -> None:
        node = self._node
        here = await asyncio.to_thread(self._watch.look, node.settings)
        if here.idle_unknown and str(here.idle_unknown) != self._unknown:
            text = sentence("{reason} Settings that depend on it do nothing.", reason=here.idle_unknown)
            node.show.notice("warning", text)
        self._unknown = str(here.idle_unknown)
        node.orders.see(here)
        await self._side.bar(not node.orders.decision.network)
        self.meter.look(node.settings)
        self._keep_awake(node.settings.keep_awake and node.gate.is_open and not here.on_battery)
        await self._bound_memory()
        await self._bound_disk()

    def _keep_awake(self, wanted: bool) -> None:
        if not self._awake.follow(wanted) and not self._told_asleep:
            self._told_asleep = True
            text = sentence("Nothing here can keep the computer awake: it may fall asleep by itself.")
            self._node.show.notice("warning", text)

    async def _bound_memory(self) -> None:
        """Give memory back after a long pause, and where the node holds more than it may."""
        node, held = self._node, self.meter.now.memory
        minutes, most = node.settings.memory_back_after, int(node.settings.memory_most * 1e9)
        if not node.engine.running:
            return
        if minutes and node.gate.asleep_for >= 60 * minutes:
            log.info("Paused for %d min: the memory is given back.", minutes)
            await node.put_away()
        elif most and held > most:
            await node.shrink(held, most)

    async def _bound_disk(self) -> None:
        """Count what is on disk now and then, and delete what can be spared above the cap."""
        node, now = self._node, time.monotonic()
        cap, places = node.settings.disk_gigabytes, [self._places, models_folder(node.settings)]
        if self._counted is not None and now - self._counted[0] < DISK_SECONDS and self._counted[1] == cap:
            return
        self._counted = now, cap
        most = int(cap * 1e9)
        self.meter.disk = await (node.keeper.tidy(most, places) if most else asyncio.to_thread(bytes_in, places))
        full = f"{cap}" if most and self.meter.disk > most else ""
        if full and full != self._full:
            held, most_size = Size(bytes=self.meter.disk), Size(bytes=most)
            node.show.notice(
                "warning",
                sentence(
                    "This node and the models take {held} of disk, disk_gigabytes allows {most}, and nothing more can "
                    "be spared: raise it, or remove a model (sapo-desktop models).",
                    held=held,
                    most=most_size,
                ),
            )
        self._full = full

    def _take(self) -> Taken:
        member = self._side.network
        sent, received = (member.upload.passed, member.download.passed) if member else (0, 0)
        return Taken(spent_by(self._assembled), memory_of(self._assembled), sent, received)


def hosts_of(assembled: Assembled) -> list[Host]:
    """Every process that computes for a node."""
    node = assembled.node
    return [*node.engine.hosts, node.examiner.host, *assembled.side.hosts]


def memory_of(assembled: Assembled) -> int:
    """Bytes that the worker and all hosts hold for themselves."""
    return sum(map(own_memory, (os.getpid(), *pids_of(assembled))))


def pids_of(assembled: Assembled) -> list[int]:
    return [host.pid for host in hosts_of(assembled) if host.pid is not None]


def spent_by(assembled: Assembled) -> dict[int, float]:
    """Seconds of processor time of the worker and of each host."""
    return {pid: effort(pid).cpu for pid in (os.getpid(), *pids_of(assembled))}
