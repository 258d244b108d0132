"""Held-out scores: the same questions each time, answered greedily or by chance, marked by our own examiner.

`score` is the share solved. The validation set comes from a local secret (guard, best checkpoint), the test
set is public (eval, figures). Left out: deciding anything; that is the guard's.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from sapo_desktop.core.records import Completion, EvalReport, Generated, Group, Mark, Question, Sampling
from sapo_desktop.core.statistics import mean_with_error, wilson
from sapo_desktop.learning.round import Progress, task_marks
from sapo_desktop.tasks.heldout import SetName

_SEED = 20_260_101


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


class Engine(Protocol):
    """Answers with any state of the adapter; worker/hosts/engine.py is the one with a process behind it."""

    async def generate_with(
        self, checkpoint: Path | None, questions: Sequence[str], sampling: Sampling, progress: Progress, *, live: bool
    ) -> Generated: ...


class Examiner(Protocol):
    """Knows the sets and marks answers; worker/hosts/examiner.py is the one with a process behind it."""

    async def held_out(self, which: SetName, secret: bytes) -> list[Question]: ...

    async def mark(
        self, questions: Sequence[Question], texts: Sequence[Sequence[str]], *, strict: bool
    ) -> list[list[Mark]]: ...


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

    async def evaluate(
        self, subject: Subject, which: SetName, sampling: Sampling, progress: Progress, samples: int = 0
    ) -> EvalReport:
        """Answer and mark the whole set, each question once greedily or `samples` times by `sampling`. The live
        adapter is left as it was."""
        started = time.perf_counter()
        held_out = await self.held_out(which)
        answers = max(samples, 1)
        answered = await self._engine.generate_with(
            subject.folder,
            [question.text for question in held_out.questions for _ in range(answers)],
            # One seed for all: two checkpoints are compared under the same chance.
            msgspec.structs.replace(sampling, greedy=samples == 0, seed=_SEED),
            progress,
            live=subject.live,
        )
        drawn = [row[0] for row in answered.completions]
        rows = [drawn[at : at + answers] for at in range(0, len(drawn), answers)]
        marks = await self._examiner.mark(held_out.questions, [[c.text for c in row] for row in rows], strict=True)
        return _report(held_out, subject, rows, marks, samples, time.perf_counter() - started)


def _report(
    held_out: HeldOutSet,
    subject: Subject,
    completions: Sequence[list[Completion]],
    marks: Sequence[list[Mark]],
    samples: int,
    seconds: float,
) -> EvalReport:
    groups = [
        Group(question=question, completions=row, marks=row_marks)
        for question, row, row_marks in zip(held_out.questions, completions, marks, strict=True)
    ]
    answers = [mark for row in marks for mark in row]
    solved = [mark.solved for mark in answers]
    by_question = [sum(mark.solved for mark in row) / max(len(row), 1) for row in marks]
    interval = mean_with_error(by_question) if samples else wilson(sum(solved), len(solved))
    return EvalReport(
        checkpoint=subject.checkpoint,
        round=subject.round,
        which=held_out.which,
        score=sum(solved) / max(len(solved), 1),
        partial=sum(mark.partial for mark in answers) / max(len(answers), 1),
        questions=len(marks),
        low=interval.low,
        high=interval.high,
        tasks=task_marks(groups),
        solved=solved,
        seconds=seconds,
        samples=samples,
    )
