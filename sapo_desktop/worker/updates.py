"""Looks for a newer version once a day while the node may use the network, and tells of it. See hosts/updates.py."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from sapo_desktop.core.errors import InSilo, SapoError
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.updates.manifest import Standing
from sapo_desktop.worker.control.messages.events import Event
from sapo_desktop.worker.control.messages.facts import GetUpdates, Notice, UpdatesAre
from sapo_desktop.worker.hosts.updates import Looker

log = logging.getLogger("sapo_desktop.worker")

LOOK_SECONDS = 60.0
"""Between two thoughts of whether it is time."""
_STEP_SECONDS = 0.25
"""Within which a look ends where it may no longer be."""


class Updates:
    """Belongs to the worker, whatever node it has.

    Args:
        settings: those in force.
        allowed: whether the governor lets the node use the network: not on a metered link.
    """

    def __init__(
        self,
        looker: Looker,
        settings: Callable[[], Settings],
        allowed: Callable[[], bool],
        publish: Callable[[Event], None],
    ) -> None:
        self._looker, self._settings, self._allowed, self._publish = looker, settings, allowed, publish
        self._told: Standing | None = None
        self._looking = asyncio.Lock()

    async def run(self) -> None:
        """Look when it is time, until cancelled. What fails is said in the log and tried again on the next day."""
        while True:
            try:
                if self._allowed() and self._looker.is_due(self._settings()):
                    await self._look()
            except SapoError as error:
                log.warning("Looking for a newer version: %s", error)
            except Exception:
                log.exception("Looking for a newer version met a bug.")
            await asyncio.sleep(LOOK_SECONDS)

    def standing(self) -> Standing:
        """How this version stands; a memory that cannot be used is said in its place."""
        return self._looker.standing(self._settings())

    def follow(self) -> None:
        """The settings changed: what may be looked for may be another."""
        if (found := self.standing()) != self._told:
            self._told = found
            self._publish(UpdatesAre(standing=found))

    async def answer(self, request: GetUpdates) -> UpdatesAre:
        return UpdatesAre(standing=await self._look() if request.look else self.standing())

    async def _look(self) -> Standing:
        """Ask, and tell the clients. Where it may no longer be, as in silo, the asking ends at once."""
        async with self._looking:
            task = asyncio.create_task(self._looker.look(self._settings()))
            try:
                while not task.done():
                    await asyncio.wait({task}, timeout=_STEP_SECONDS)
                    if not task.done() and self._looker.off(self._settings()) is not None:
                        raise InSilo(sentence("The network was switched off meanwhile: nothing was looked for."))
                found = task.result()
            finally:
                task.cancel()
                await asyncio.wait({task})
            self._tell(found)
            return found

    def _tell(self, found: Standing) -> None:
        """Tell what is new; a version that is not safe is a notice too."""
        told, self._told = self._told, found
        self._publish(UpdatesAre(standing=found))
        if told is None or (told.state, told.version) != (found.state, found.version):
            log.info("%s", found.text)
            if found.state in ("urgent", "refused"):
                self._publish(Notice(level="warning", text=found.text, time=time.time()))
