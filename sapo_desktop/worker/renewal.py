"""When another node takes the place of the one that plays (docs/decisions/015)."""

from __future__ import annotations

import asyncio
from enum import IntEnum

from sapo_desktop.worker.orders import Gate
from sapo_desktop.worker.recovery import Recovery


class When(IntEnum):
    NEVER = 0
    AFTER_THE_ROUND = 1
    NOW = 2
    """The current round is left out."""


class Renewal:
    """What asks for another node, until it is there."""

    def __init__(self) -> None:
        self._when = When.NEVER
        self._lasting = False
        """Whether something besides settings asks: own tasks that came or went, or a limit on new processes."""
        self._changed = asyncio.Event()

    def ask(self, when: When) -> None:
        """Taken back where the settings are (`settings_are`)."""
        self._when = max(self._when, when)
        self._changed.set()

    def ask_whatever_settings_say(self) -> None:
        self._lasting = True
        self.ask(When.AFTER_THE_ROUND)

    def settings_are(self, *, others: bool, at_once: bool) -> None:
        """`others`: than the node holds, of those that it is put together by. What was asked before is taken back where
        the settings are."""
        if others or self._lasting:
            self.ask(When.NOW if at_once else When.AFTER_THE_ROUND)
        else:
            self._when = When.NEVER

    def begins(self) -> None:
        """A node is put together of all that was asked so far."""
        self._lasting = False

    def done(self) -> None:
        """The node that was to be replaced computes no more."""
        self._when = When.NEVER

    async def until_due(self, recovery: Recovery, gate: Gate) -> None:
        """Return where another node is wanted and this one computes no round. One that is paused in the middle of a
        round leaves it out, as does one that is wanted at once."""
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
            self._changed.clear()  # nothing can be asked between the look above and the wait
            await self._changed.wait()
