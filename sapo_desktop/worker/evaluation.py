"""Held-out scores: the same questions each time, answered greedily, marked by our own examiner.

`score` is the share solved. The validation set comes from a local secret (guard, best checkpoint), the test
set is public (eval, figures). Left out: deciding anything; that is the guard's.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sapo_desktop.core.records import Completion, EvalReport, Group, Mark, Question, Sampling
from sapo_desktop.core.statistics import wilson
from sapo_desktop.tasks.heldout import SetName
from sapo_desktop.worker.engine import Engine, Progress
from sapo_desktop.worker.examiner import Examiner
from sapo_desktop.worker.round import task_marks


@dataclass(frozen=True)
class HeldOutSet:
    """A fixed list of questions and the name by which two scores are known to be comparable."""

    which: SetName
    questions: list[Question]

    @property
    def fingerprint(self) -> str:
        """Changes whenever a question of the set does."""
        return hashlib.sha256(b"".join(question.hash for question in self.questions)).hexdigest()[:16]


@dataclass(frozen=True)
class Subject:
    """What is evaluated: a checkpoint's folder (None: the base; `live`: the adapter as it is) under its
    name."""

    checkpoint: str
    round: int
    folder: Path | None
    live: bool = False


class Evaluator:
    """Scores any state of the adapter on a held-out set."""

    def __init__(self, engine: Engine, examiner: Examiner, validation_secret: bytes) -> None:
        self._engine = engine
        self._examiner = examiner
        self._secret = validation_secret
        self._sets: dict[SetName, HeldOutSet] = {}

    async def held_out(self, which: SetName) -> HeldOutSet:
        """The questions of a held-out set, made once."""
        if which not in self._sets:
            secret = self._secret if which == "validation" else b""
            self._sets[which] = HeldOutSet(which, await self._examiner.held_out(which, secret))
        return self._sets[which]

    async def evaluate(self, subject: Subject, which: SetName, max_tokens: int, progress: Progress) -> EvalReport:
        """Answer and mark the whole set. The live adapter is left as it was."""
        started = time.perf_counter()
        held_out = await self.held_out(which)
        answered = await self._engine.generate_with(
            subject.folder,
            [question.text for question in held_out.questions],
            Sampling(greedy=True, max_tokens=max_tokens),
            progress,
            live=subject.live,
        )
        completions = [row[0] for row in answered.completions]
        marks = await self._examiner.mark(held_out.questions, [[c.text] for c in completions], strict=True)
        return _report(held_out, subject, completions, [row[0] for row in marks], time.perf_counter() - started)


def _report(
    held_out: HeldOutSet,
    subject: Subject,
    completions: Sequence[Completion],
    marks: Sequence[Mark],
    seconds: float,
) -> EvalReport:
    groups = [
        Group(question=question, completions=[completion], marks=[mark])
        for question, completion, mark in zip(held_out.questions, completions, marks, strict=True)
    ]
    solved = [mark.solved for mark in marks]
    interval = wilson(sum(solved), len(solved))
    return EvalReport(
        checkpoint=subject.checkpoint,
        round=subject.round,
        which=held_out.which,
        score=sum(solved) / max(len(solved), 1),
        partial=sum(mark.partial for mark in marks) / max(len(marks), 1),
        questions=len(solved),
        low=interval.low,
        high=interval.high,
        tasks=task_marks(groups),
        solved=solved,
        seconds=seconds,
    )
