"""What a node was told to do, kept and made true: rounds to play, a pause, an end after the round in hand.

Every order changes the wishes and leads to a new decision (core/governor.py), which the gate makes true. The same
happens when the power supply changes and when a pause is over. The wishes are on disk, so a node that is started again
`as before` goes on with them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from sapo_desktop.core.durable import write_atomically
from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.governor import Decision, Situation, Wishes, decide
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.state import NodeState, Trigger, transition
from sapo_desktop.core.why import RoundsDone, Starting
from sapo_desktop.system.hardware import usable_cores
from sapo_desktop.worker.gate import Gate

_LONGEST_PAUSE = 10**8
_BEGINNINGS = {NodeState.STARTING: Trigger.READY, NodeState.IDLE: Trigger.START}


class Orders:
    """Keeps count of the rounds that were ordered, and all else that a user wished.

    Args:
        settings: those in force.
        finished: the last finished round.
        is_playing: whether a round is in hand.
        trains: whether a round ends with a step of the trainer.
        kept: the file of the wishes; None: they are not kept.
        clock: Unix time. A pause ends by it, since a computer may sleep meanwhile.
    """

    def __init__(
        self,
        gate: Gate,
        settings: Callable[[], Settings],
        finished: int,
        is_playing: Callable[[], bool],
        trains: Callable[[], bool],
        kept: Path | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._gate = gate
        self._settings = settings
        self._finished = finished
        self._is_playing = is_playing
        self._trains = trains
        self._kept = kept
        self._clock = clock
        self.on_battery = False
        """As it was seen last; `power` tells."""
        self._cores = usable_cores()
        self.wishes = Wishes()
        self.rounds_left: int | None = None
        """Rounds until the node is idle again; None: until told."""
        self.when_finished: Callable[[], None] | None = None
        """Called once the round that `finish` waits for is done."""

    # -- orders --------------------------------------------------------------------------------------------

    def start(self, rounds: int | None) -> None:
        """Begin training, or go on; `rounds` more, or until told. On battery too, until the plug comes and goes."""
        if rounds is not None and rounds < 1:
            raise UsageError(f"Rounds are counted from 1, not {rounds}.")
        self._check(_BEGINNINGS.get(self._gate.state, Trigger.RESUME))
        self.rounds_left = rounds
        self.when_finished = None
        if self._gate.state is NodeState.FAILED:
            self._gate.move(Trigger.RESUME, Starting(again=True))
        self._wish(Wishes(contribute=True, despite_battery=self.on_battery))

    def as_before(self) -> None:
        """Go on with what was wished when the node last ran; at its first start nothing was."""
        self._wish(self._read())

    def resume(self) -> None:
        self.start(self.rounds_left)

    def pause(self, seconds: float | None) -> None:
        """Stop computing now; with `seconds`, for that long."""
        if seconds is not None and not 0 < seconds < _LONGEST_PAUSE:
            raise UsageError("Pause for a time above zero, such as 15m or 1h.")
        self._check(Trigger.PAUSE)
        until = None if seconds is None else self._clock() + seconds
        self._wish(Wishes(contribute=True, paused=True, paused_until=until))

    def finish(self) -> None:
        """Finish the round in hand, then pause; a pause in the middle of one is lifted for that."""
        if self._gate.state is NodeState.PAUSED and not self._is_playing():
            return
        self._check(Trigger.FINISH)
        self._wish(Wishes(contribute=True, finish=True, despite_battery=self.on_battery))

    # -- what happens ----------------------------------------------------------------------------------------

    def power(self, on_battery: bool) -> None:
        """The computer was looked at: it runs on its battery, or not. Time has passed, too."""
        if self.on_battery and not on_battery and self.wishes.despite_battery:
            self.wishes = msgspec.structs.replace(self.wishes, despite_battery=False)
        self.on_battery = on_battery
        self.follow()

    def follow(self) -> None:
        """Take the decision anew and make it true, where a node plays rounds at all."""
        wishes = self.wishes
        if wishes.paused and wishes.paused_until is not None and wishes.paused_until <= self._clock():
            self._wish(msgspec.structs.replace(wishes, paused=False, paused_until=None))
            return
        if self._gate.state not in (NodeState.FAILED, NodeState.STOPPING, NodeState.STOPPED):
            self._gate.follow(self.decision, self.follow)

    @property
    def decision(self) -> Decision:
        """What holds now."""
        situation = Situation(
            wishes=self.wishes,
            round=self._finished + 1,
            trains=self._trains(),
            on_battery=self.on_battery,
            cores=self._cores,
        )
        return decide(situation, self._settings(), self._clock())

    @property
    def finished(self) -> int:
        """The last finished round."""
        return self._finished

    @property
    def is_last_round(self) -> bool:
        """Whether no round is to follow the one in hand."""
        return self._gate.state is NodeState.FINISHING or self.rounds_left == 1

    def done(self, number: int) -> None:
        """Round `number` counts: go on, pause or be idle, as was ordered."""
        self._finished = number
        finishing = self.wishes.finish
        if self.rounds_left is not None:
            self.rounds_left -= 1
        if self.rounds_left == 0:
            self.rounds_left = None
            self._gate.move(Trigger.ROUNDS_DONE, RoundsDone(round=number))
            self._wish(Wishes())
        elif finishing:
            self._wish(Wishes(contribute=True, paused=True, paused_after_round=number))
        else:
            self.follow()
        if finishing and self.when_finished is not None:
            self.when_finished()

    def back_to(self, number: int) -> None:
        """Round `number` is the last finished one again: those after it are still to be played."""
        if self.rounds_left is not None:
            self.rounds_left += self._finished - number
        self._finished = number
        self.follow()

    # -- the wishes ------------------------------------------------------------------------------------------

    def _check(self, trigger: Trigger) -> None:
        """Refuse an order that makes no sense now, before anything changes. Raises UsageError."""
        transition(self._gate.state, trigger)

    def _wish(self, wishes: Wishes) -> None:
        self.wishes = wishes
        if self._kept is not None:
            write_atomically(self._kept, msgspec.json.encode(wishes))
        self.follow()

    def _read(self) -> Wishes:
        """The wishes on disk; what cannot be read is nobody's wish."""
        try:
            kept = msgspec.json.decode(self._kept.read_bytes(), type=Wishes) if self._kept else Wishes()
        except (OSError, msgspec.DecodeError):
            return Wishes()
        # A round that was to be finished is over, and what was allowed on battery was for that run.
        if kept.finish:
            return Wishes(contribute=True, paused=True)
        return msgspec.structs.replace(kept, despite_battery=False)
