"""What the node does about a host that died: less memory asked for, back to the newest checkpoint, in time giving up.

The examiner deals with its own deaths (worker/hosts/examiner.py); what arrives here means that the engine's state is
gone or in doubt.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from sapo_desktop.core.errors import HostDied, HostError, NotWritten, OutOfMemory, TooBig
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.why import Failed, given_up
from sapo_desktop.learning import asking, guard
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.heldout import Standing
from sapo_desktop.worker.hosts.deaths import Deaths
from sapo_desktop.worker.store.checkpoints import Checkpoint

if TYPE_CHECKING:
    from sapo_desktop.worker.node import Node

_MOST_FAILURES = 5
"""Host failures in a row, without a finished round between them, before the node gives up."""
_LONGEST_BACK_OFF = 30.0
_FEWEST_TOKENS = 16
LOOK_AGAIN_SECONDS = 60.0
"""After which what ends by itself may have ended."""
_LONGEST_LOOK_AGAIN = 600.0
"""For memory, each look at which starts the engine's process."""


class Recovery:
    """Brings a node's engine back, each time a little more slowly."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._failures = 0
        self._waits_for = ""
        """What a person was told of, until a round is finished."""
        self._seconds = LOOK_AGAIN_SECONDS
        self._deaths = Deaths()

    def succeeded(self) -> None:
        """A round was finished: failures before it no longer count."""
        self._failures, self._waits_for = 0, ""

    async def after(self, error: HostError | NotWritten) -> None:
        """Bring the engine back to the newest checkpoint; back off when that keeps happening, then give up
        until someone resumes. Where only a file could not be written, or others hold the memory, wait for room."""
        node = self._node
        while True:
            if isinstance(error, NotWritten):
                await self._wait(error)
                return
            self._failures += 1
            short_of_memory = self._is_short_of_memory(error)
            if short_of_memory:  # ends by itself: less can be asked a few times only
                gives_up = not await self._relieve(error)
            else:
                gives_up = self._failures >= _MOST_FAILURES
            if gives_up and isinstance(error, TooBig):
                node.is_put_away = True
                await node.engine.stop()
                await self._wait(error)
                return
            if gives_up:
                node.orders.fail(Failed(text=error.text, failures=self._failures))
                node.show.notice("error", given_up(error.text, self._failures))
                await node.gate.wait()
                self._failures = 0
            else:
                node.show.notice("warning", sentence("{reason} Going on from the last checkpoint.", reason=error.text))
                if not short_of_memory:  # what asks for less need not wait
                    await asyncio.sleep(min(_LONGEST_BACK_OFF, 2.0 ** (self._failures - 1) - 1))
            try:
                async with node.concluding:
                    await self.back_to_newest()
                return
            except (HostError, NotWritten) as another:
                error = another

    async def _wait(self, error: NotWritten | TooBig) -> None:
        """Compute nothing for a while: what is in the way ends by itself."""
        memory = isinstance(error, TooBig)
        waits_for = "memory" if memory else str(error)  # how much memory is free is told with another number each time
        again = waits_for == self._waits_for
        self._node.wait_for(error.text, told=again)
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

    def ask_less(self) -> bool:
        """From the next load on ask less of the memory at once; False where nothing is left to give."""
        return self._fewer_at_once() or self._shorter_answers()

    async def back_to_newest(self) -> None:
        """Start the engine again at the newest checkpoint that verifies. The caller holds `node.concluding`."""
        node = self._node
        node.is_put_away = True
        newest = await node.keeper.back_to_newest()
        node.show.damaged(newest.damaged)
        node.go_back(self._counters(newest.checkpoint))
        await node.engine.restart(newest.checkpoint.folder if newest.checkpoint else None)
        node.is_put_away = False

    def _counters(self, checkpoint: Checkpoint | None) -> Counters:
        """Those of the checkpoint, or of the beginning; run and micro-batch stay as they are."""
        now = self._node.counters
        if checkpoint is None:
            return msgspec.structs.replace(
                now,
                round=0,
                guard=guard.GuardState(),
                standing=Standing(),
                asking=asking.Asking(),
                solve_rates={},
            )
        return msgspec.structs.replace(checkpoint.counters, run=now.run, micro_batch=now.micro_batch)

    async def _relieve(self, error: HostError) -> bool:
        """Ask less of the memory; False where nothing is left to give.

        Fewer answers at once first, then shorter ones, then a smaller model. An engine that says OutOfMemory has tried
        one answer at a time already; one that the system killed had no chance to.
        """
        if (
            self.ask_less()
            if isinstance(error, HostDied)
            else not isinstance(error, TooBig) and self._shorter_answers()
        ):
            return True
        node = self._node
        # Only before the first checkpoint: what is learned belongs to its model.
        if node.keeper.newest is not None:
            return False
        return await node.take_smaller_model(error.text)

    def _fewer_at_once(self) -> bool:
        node = self._node
        plan = node.engine.plan
        micro_batch = plan.trainer.micro_batch if node.engine.trains else 1
        if micro_batch <= 1 and plan.batch <= 1:
            return False
        if plan.batch > 1:
            plan.bound(batch=plan.batch // 2)
            node.show.notice(
                "info", sentence("At most {count} answers are given at once, as memory allows.", count=plan.batch)
            )
        if micro_batch > 1:
            node.remember_micro_batch(micro_batch // 2)
        return True

    def _shorter_answers(self) -> bool:
        node = self._node
        tokens = node.max_tokens // 2
        if tokens < _FEWEST_TOKENS:
            return False
        node.shorten_answers(tokens)
        node.show.notice(
            "warning",
            sentence("Not enough memory for one answer at a time: answers are cut at {count} tokens.", count=tokens),
        )
        return True
