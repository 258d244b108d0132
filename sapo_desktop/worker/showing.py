"""What a node shows: events to its clients, and the same texts to the log.

How they are displayed is up to the clients; an event that nobody reads costs nothing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

from sapo_desktop.core.errors import HostError
from sapo_desktop.core.records import Group, Phase, Question
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.learning.round import Examiner
from sapo_desktop.worker.control.messages.events import Answered, CheckpointsChanged, Event, PhaseChanged, Progressed
from sapo_desktop.worker.control.messages.facts import Level, Notice
from sapo_desktop.worker.orders import Gate
from sapo_desktop.worker.store.checkpoints import Damaged

log = logging.getLogger(__name__)

Notify = Callable[[Level, Text], None]
"""Shows a sentence to people: `Showing.notice`, for code that needs nothing else of it."""
_LOG_LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


class Showing:
    """Reports the state of the current round, and what a person should know or may like to see.

    Args:
        round: the current round, or the next one.
    """

    def __init__(self, publish: Callable[[Event], None], examiner: Examiner, round: int) -> None:
        self.publish = publish
        self.round = round
        self.phase: Phase = "waiting"
        self._examiner = examiner

    def notice(self, level: Level, text: Text) -> None:
        """Show it to the clients, and log it."""
        log.log(_LOG_LEVELS[level], "%s", text)
        self.publish(Notice(level=level, text=text, time=time.time()))

    def damaged(self, checkpoints: Sequence[Damaged]) -> None:
        """For each checkpoint that did not verify, say where it was moved."""
        for one in checkpoints:
            self.notice(
                "warning",
                sentence(
                    "Checkpoint {number} was damaged ({reason}) and moved to {path}. The node continues from the "
                    "newest intact one.",
                    number=str(one.number),
                    reason=one.reason,
                    path=str(one.moved_to),
                ),
            )
        if checkpoints:
            self.publish(CheckpointsChanged())

    def enter(self, phase: Phase) -> None:
        self.phase = phase
        self.publish(PhaseChanged(round=self.round, phase=phase))

    def progress(self, phase: Phase, done: int, total: int) -> None:
        self.publish(Progressed(round=self.round, phase=phase, done=done, total=total))

    def answers(self, groups: Sequence[Group]) -> None:
        """The best answer to each question, as something to watch."""
        for group in groups:
            best = max(range(len(group.marks)), key=lambda place: group.marks[place].partial)
            self._answer(self.round, group.question, group.completions[best].text, group.marks[best].solved)

    async def ended(self, question: Question, text: str) -> None:
        """Score and show an answer while others are still being written; it is scored again with them."""
        number = self.round
        try:
            ((mark,),) = await self._examiner.mark([question], [[text]], strict=True)
        except HostError:
            return  # a host that fails is handled where its work is needed
        self._answer(number, question, text, mark.solved)

    def _answer(self, number: int, question: Question, text: str, solved: bool) -> None:
        self.publish(Answered(round=number, task=question.task, question=question.text, completion=text, solved=solved))


class RoundWatcher:
    """Shows a round and makes it wait at its phases while the node is paused (`Watcher` of learning/round.py).

    Args:
        training: called when the round may begin its step.
    """

    def __init__(self, showing: Showing, gate: Gate, training: Callable[[], None]) -> None:
        self._show = showing
        self._gate = gate
        self._training = training
        self._marking: asyncio.Task[None] | None = None
        self.progress, self.answered, self.clock = showing.progress, showing.answers, gate.clock

    def leave(self) -> None:
        """The round ended or was discarded: an answer that is still being scored is not shown. Otherwise scoring
        would restart an examiner that has been closed."""
        if self._marking is not None:
            self._marking.cancel()

    async def phase(self, phase: Phase) -> None:
        await self._gate.wait()
        if phase == "train":
            self._training()
        self._show.enter(phase)

    def ended(self, question: Question, text: str) -> None:
        """Show this answer, unless the previous one is still being scored."""
        if self._marking is None or self._marking.done():
            self._marking = asyncio.get_running_loop().create_task(self._show.ended(question, text))
