"""Runs a node, and handles hosts that die: less memory, back to the newest checkpoint, finally giving up.

A host that dies is restarted, and training continues from the newest checkpoint; only a host that keeps dying ends the
work, with the reason. The examiner handles its own deaths (worker/hosts/examiner.py); errors that arrive here mean that
the engine's state is lost or uncertain.
"""

from __future__ import annotations

import asyncio

from sapo_desktop.core.errors import HostDied, HostError, NotWritten, OutOfMemory, TooBig
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.why import Failed, given_up
from sapo_desktop.worker.hosts.deaths import Deaths
from sapo_desktop.worker.node import Node

_MOST_FAILURES = 5
"""Consecutive host failures without a finished round in between, before the node gives up."""
_LONGEST_BACK_OFF = 30.0
LOOK_AGAIN_SECONDS = 60.0
"""Interval after which a temporary problem may be over."""
_LONGEST_LOOK_AGAIN = 600.0
"""For memory, because each check starts the engine's process."""


class Recovery:
    """Runs a node, and restarts its engine, with growing delays."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._leaving_off = False
        self._failures = 0
        self._waits_for = ""
        """The problem that a person was informed of, until a round is finished."""
        self._seconds = LOOK_AGAIN_SECONDS
        self._deaths = Deaths()

    def leave_off(self) -> None:
        """Let `run` return after the current round."""
        self._leaving_off = True

    async def run(self) -> None:
        """Play rounds until the task is cancelled or stopped."""
        while not self._leaving_off:
            try:
                if await self._node.play_round():
                    self._failures, self._waits_for = 0, ""
            except (HostError, NotWritten) as error:
                await self._after(error)

    async def _after(self, error: HostError | NotWritten) -> None:
        """Restart the engine at the newest checkpoint; wait longer each time, then give up until somebody resumes.
        If only a file could not be written, or others use the memory, wait for room."""
        node = self._node
        while True:
            if isinstance(error, NotWritten):
                await self._wait(error)
                return
            self._failures += 1
            short_of_memory = self._is_short_of_memory(error)
            if short_of_memory:  # temporary: less can only be requested a few times
                gives_up = not await self._relieve(error)
            else:
                gives_up = self._failures >= _MOST_FAILURES
            if gives_up and isinstance(error, TooBig):
                await node.end_engine()
                await self._wait(error)
                return
            if gives_up:
                node.orders.fail(Failed(text=error.text, failures=self._failures))
                node.show.notice("error", given_up(error.text, self._failures))
                await node.gate.wait()
                self._failures = 0
            else:
                node.show.notice(
                    "warning", sentence("{reason} The node continues from the last checkpoint.", reason=error.text)
                )
                if not short_of_memory:  # a retry with less need not wait
                    await asyncio.sleep(min(_LONGEST_BACK_OFF, 2.0 ** (self._failures - 1) - 1))
            try:
                await node.bring_back()
                return
            except (HostError, NotWritten) as another:
                error = another

    async def _wait(self, error: NotWritten | TooBig) -> None:
        """Compute nothing for a while: the problem ends by itself."""
        memory = isinstance(error, TooBig)
        waits_for = "memory" if memory else str(error)  # the amount of free memory differs each time
        again = waits_for == self._waits_for
        self._node.wait_for(error.text, known=again)
        self._failures, self._waits_for = 0, waits_for
        self._seconds = min(2 * self._seconds, _LONGEST_LOOK_AGAIN) if again and memory else LOOK_AGAIN_SECONDS
        try:
            await asyncio.sleep(self._seconds)
        finally:
            self._node.wait_for(None)

    def _is_short_of_memory(self, error: HostError) -> bool:
        if isinstance(error, HostDied):
            return self._deaths.were_for_memory(error, self._node.counters.round)
        return isinstance(error, OutOfMemory)

    async def _relieve(self, error: HostError) -> bool:
        """Request less memory; False if nothing is left to reduce.

        An engine that reports OutOfMemory has already tried one answer at a time; one that the system killed could not.
        """
        relief = self._node.relief
        if isinstance(error, HostDied):
            relieved = relief.ask_less()
        else:
            relieved = not isinstance(error, TooBig) and relief.shorter_answers()
        if relieved:
            return True
        # Only before the first checkpoint: what is learned belongs to its model.
        return self._node.keeper.newest is None and await relief.take_smaller_model(error.text)
