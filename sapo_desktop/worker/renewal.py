"""When another node replaces the current one (docs/decisions/015)."""

from __future__ import annotations

import asyncio
from enum import IntEnum

from sapo_desktop.worker.orders import Gate
from sapo_desktop.worker.recovery import Recovery


class When(IntEnum):
    NEVER = 0
    AFTER_THE_ROUND = 1
    NOW = 2
    """The current round is dropped."""


class Renewal:
    """Collects requests for a new node until it is there."""

    def __init__(self) -> None:
        self._when = When.NEVER
        self._lasting = False
        """Whether something besides settings requires it: changed own tasks, or a limit on new processes."""
        self._changed = asyncio.Event()

    def ask(self, when: When) -> None:
        """Request it; undone if the settings are reverted (`settings_are`)."""
        self._when = max(self._when, when)
        self._changed.set()

    def ask_whatever_settings_say(self) -> None:
        self._lasting = True
        self.ask(When.AFTER_THE_ROUND)

    def settings_are(self, *, others: bool, at_once: bool) -> None:
        """`others`: settings that the node is built from and that differ. An earlier request is undone if the
        settings were reverted."""
        if others or self._lasting:
            self.ask(When.NOW if at_once else When.AFTER_THE_ROUND)
        else:
            self._when = When.NEVER

    def begins(self) -> None:
        """A node is being built for all requests so far."""
        self._lasting = False

    def done(self) -> None:
        """The node to be replaced has stopped computing."""
        self._when = When.NEVER

    async def until_due(self, recovery: Recovery, gate: Gate) -> None:
        """Return when another node is wanted and this one plays no round. A round that is paused, or a node that is
        wanted at once, drops the round."""
        await self._asked(When.AFTER_THE_ROUND)
        recovery.leave_off()
        waits = {asyncio.create_task(gate.wait_shut()), asyncio.create_task(self._asked(When.NOW))}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _asked(self, least: When) -> None:
        while self._when < least:
            self._changed.clear()  # no request can arrive between the check above and the wait
            await self._changed.wait()
