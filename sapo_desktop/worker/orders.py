"""What a node was told to do: rounds to play, a pause, an end after the round in hand. The gate makes it true."""

from __future__ import annotations

from collections.abc import Callable

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.state import NodeState, Trigger
from sapo_desktop.worker.gate import Gate


class Orders:
    """Keeps count of the rounds that were ordered.

    Args:
        finished: the last finished round.
        is_playing: whether a round is in hand.
        trains: whether a round ends with a step of the trainer.
    """

    def __init__(self, gate: Gate, finished: int, is_playing: Callable[[], bool], trains: Callable[[], bool]) -> None:
        self._gate = gate
        self._finished = finished
        self._is_playing = is_playing
        self._trains = trains
        self.rounds_left: int | None = None
        """Rounds until the node is idle again; None: until told."""
        self.when_finished: Callable[[], None] | None = None
        """Called once the round that `finish` waits for is done."""

    def start(self, rounds: int | None) -> None:
        """Begin training, or go on; `rounds` more, or until told."""
        if rounds is not None and rounds < 1:
            raise UsageError(f"Rounds are counted from 1, not {rounds}.")
        self.rounds_left = rounds
        self.when_finished = None
        if self._gate.state is NodeState.FAILED:
            self._gate.move(Trigger.RESUME, "Starting again")
            self._gate.move(Trigger.READY, self.working)
            return
        trigger = Trigger.START if self._gate.state is NodeState.IDLE else Trigger.RESUME
        self._gate.move(trigger, self.working)

    def resume(self) -> None:
        self.start(self.rounds_left)

    def pause(self, seconds: float | None) -> None:
        """Stop computing now; with `seconds`, for that long."""
        self._gate.pause(seconds, self.resume)

    def finish(self) -> None:
        """Finish the round in hand, then pause; a pause in the middle of one is lifted for that."""
        if self._gate.state is NodeState.PAUSED and not self._is_playing():
            return
        self._gate.move(Trigger.FINISH, f"Finishing round {self._finished + 1}, then pausing")

    @property
    def is_last_round(self) -> bool:
        """Whether no round is to follow the one in hand."""
        return self._gate.state is NodeState.FINISHING or self.rounds_left == 1

    def done(self, number: int) -> None:
        """Round `number` counts: go on, pause or be idle, as was ordered."""
        self._finished = number
        finishing = self._gate.state is NodeState.FINISHING
        if self.rounds_left is not None:
            self.rounds_left -= 1
        if self.rounds_left == 0:
            self.rounds_left = None
            self._gate.move(Trigger.ROUNDS_DONE, f"{number} rounds done")
        elif finishing:
            self._gate.move(Trigger.ROUND_DONE, f"Paused after round {number}")
        elif self._gate.is_open:
            self._gate.explain(self.working)
        if finishing and self.when_finished is not None:
            self.when_finished()

    def back_to(self, number: int) -> None:
        """Round `number` is the last finished one again: those after it are still to be played."""
        if self.rounds_left is not None:
            self.rounds_left += self._finished - number
        self._finished = number

    @property
    def working(self) -> str:
        """What the node does while it works, for a person."""
        number = self._finished + 1
        return f"Training round {number}" if self._trains() else f"Answering round {number}; nothing is trained"
