"""Held-out scores: the same questions each time, answered greedily or sampled, scored by our own examiner.

`score` is the share solved. The validation set comes from a local secret (guard, best checkpoint), the test
set is public (eval, figures). This module decides nothing; the guard does.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.records import (
    EvalReport,
    Gain,
    Generated,
    Learned,
    Mark,
    Prompt,
    Question,
    Record,
    Sampling,
    TaskMark,
)
from sapo_desktop.core.statistics import mean_with_error, paired_difference, wilson
from sapo_desktop.core.task_list import LEVELS
from sapo_desktop.learning.round import Progress, unwatched
from sapo_desktop.tasks.catalogue import family_of, level_of
from sapo_desktop.tasks.heldout import SetName

_SEED = 20_260_101
_MOST_SHOWN = 1200
"""Maximum characters of a question with its answer that a person reads at a glance."""


@dataclass(frozen=True)
class HeldOutSet:
    """A fixed list of questions, with a name that shows whether two scores are comparable."""

    which: SetName
    questions: list[Question]

    def part(self, level: str, tasks: Sequence[str]) -> HeldOutSet:
        """The questions of one level and of these families, with or without a level; empty: of all.

        Raises UsageError: there are none.
        """
        names = {name for question in self.questions for name in (question.task, family_of(question.task))}
        for task in tasks:
            if task not in names:
                raise UsageError("There are no held-out questions of {task}.", task=task)
        found = [
            question
            for question in self.questions
            if level in ("", level_of(question.task))
            and (not tasks or question.task in tasks or family_of(question.task) in tasks)
        ]
        if not found:
            raise UsageError("No held-out question has the level {level}.", level=level)
        return HeldOutSet(self.which, found)

    @property
    def fingerprint(self) -> str:
        """A name that changes with any question of the set."""
        return hashlib.sha256(b"".join(question.hash for question in self.questions)).hexdigest()[:16]


@dataclass(frozen=True)
class Subject:
    """What is evaluated: a checkpoint's folder (None: the base; `live`: the adapter as it is) under its
    name."""

    checkpoint: str
    round: int
    folder: Path | None
    live: bool = False
    shots: int = 0
    """Worked examples shown before each question."""


class Result(Record, frozen=True, array_like=True):
    """Maximum tokens of one answer."""

    solved: bool
    partial: float


_UNSOLVED = Result(solved=False, partial=0.0)


class Standing(Record, frozen=True):
    """The newest greedy answer to every validation question, of which a part is asked again at a time. So a node
    is measured continuously at the price of an occasional score. Part of every checkpoint."""

    questions: str = ""
    """Identifies the set and how it is answered."""
    results: list[Result | None] = msgspec.field(default_factory=list)
    """Each question's result; None: not asked yet."""
    base: list[bool | None] = msgspec.field(default_factory=list)
    """Whether the untrained model solves each question; None: not asked yet."""
    part: int = 0
    """The part that is asked next."""

    def of(self, count: int) -> Standing:
        """These results for a set of so many questions; empty if the number differs."""
        unknown: list[None] = [None] * count
        results, base = (row if len(row) == count else [*unknown] for row in (self.results, self.base))
        return msgspec.structs.replace(self, results=results, base=base)


class Engine(Protocol):
    """Answers with any state of the adapter; worker/hosts/engine.py implements it with a process."""

    async def generate_with(
        self, checkpoint: Path | None, prompts: Sequence[Prompt], sampling: Sampling, progress: Progress, *, live: bool
    ) -> Generated: ...


class Examiner(Protocol):
    """Knows the sets and scores answers; worker/hosts/examiner.py implements it with a process."""

    async def held_out(self, which: SetName, secret: bytes) -> list[Question]: ...

    async def prompts(self, questions: Sequence[Question], shots: int) -> list[Prompt]: ...

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
        """The questions of a held-out set, created once."""
        if which not in self._sets:
            secret = self._secret if which == "validation" else b""
            self._sets[which] = HeldOutSet(which, await self._examiner.held_out(which, secret))
        return self._sets[which]

    async def of_reach(self, begin: str, families: Collection[str]) -> HeldOutSet:
        """The validation questions of the families in training, up to one level above `begin`, where training began.

        Questions far beyond that level, or of other families, would hide for long what is learned. An unknown `begin`
        leaves all levels in. Where nothing is left, all questions count.
        """
        whole = (await self.held_out("validation")).questions
        within = LEVELS[: LEVELS.index(begin) + 2] if begin in LEVELS else LEVELS
        trained = [question for question in whole if family_of(question.task) in families]
        found = [question for question in trained if level_of(question.task) in within]
        return HeldOutSet("validation", found or trained or whole)

    async def evaluate(
        self, subject: Subject, held_out: HeldOutSet, sampling: Sampling, progress: Progress, samples: int = 0
    ) -> EvalReport:
        """Answer and score the whole set, each question once greedily or `samples` times by `sampling`. The live
        adapter is left as it was."""
        began = time.perf_counter()
        # One seed for all, so that two checkpoints are compared with the same random numbers.
        sampling = msgspec.structs.replace(sampling, greedy=samples == 0, seed=_SEED)
        results, _, too_long = await self._results(subject, held_out.questions, sampling, progress, max(samples, 1))
        seconds = time.perf_counter() - began
        report = _report(held_out.which, held_out.questions, subject, results, samples, seconds)
        return msgspec.structs.replace(report, too_long=too_long)

    async def refresh(
        self,
        subject: Subject,
        held_out: HeldOutSet,
        standing: Standing,
        parts: int,
        sampling: Sampling,
        progress: Progress,
    ) -> tuple[EvalReport, Standing]:
        """Answer one of `parts` parts of these questions again, greedily: the score that the newest answers to all
        questions make, and how the set stands now. Questions that were never asked before are put to the untrained
        model too, so that score and gain are over the same ones; until all were asked they are over those that were.
        """
        began = time.perf_counter()
        count = len(held_out.questions)
        known = standing.of(count)
        asked = range(standing.part % parts, count, parts)
        sampling = msgspec.structs.replace(sampling, greedy=True, seed=_SEED)
        base = await self._base(subject, held_out, [place for place in asked if known.base[place] is None], sampling)
        solved_first = [base.get(place, solved) for place, solved in enumerate(known.base)]
        questions = [held_out.questions[place] for place in asked]
        fresh, texts, _ = await self._results(subject, questions, sampling, progress, 1)
        before = known.results
        new = [
            (question, text)
            for place, question, row, text in zip(asked, questions, fresh, texts, strict=True)
            if row[0].solved and not solved_first[place] and not (before[place] or _UNSOLVED).solved
        ]
        learned = await self._learned(new, subject, sampling)
        newest = dict(enumerate(before)) | {place: row[0] for place, row in zip(asked, fresh, strict=True)}
        results = [newest[place] for place in range(count)]
        after = msgspec.structs.replace(standing, results=results, base=solved_first, part=(standing.part + 1) % parts)
        report = _standing_report(held_out, subject, after, time.perf_counter() - began)
        return msgspec.structs.replace(report, learned=learned), after

    def base_report(self, subject: Subject, held_out: HeldOutSet, standing: Standing) -> EvalReport:
        """The score of the untrained model, whose answers to these questions are all known."""
        results = [Result(solved=bool(solved), partial=float(bool(solved))) for solved in standing.base]
        return _report(held_out.which, held_out.questions, subject, [[result] for result in results], 0, 0.0)

    async def _base(
        self, subject: Subject, held_out: HeldOutSet, places: Sequence[int], sampling: Sampling
    ) -> dict[int, bool]:
        """Whether the untrained model solves these questions of the set, by place."""
        if not places:
            return {}
        untrained = Subject("", 0, None, shots=subject.shots)
        questions = [held_out.questions[place] for place in places]
        rows, _, _ = await self._results(untrained, questions, sampling, unwatched, 1)
        return {place: row[0].solved for place, row in zip(places, rows, strict=True)}

    async def _learned(
        self, new: Sequence[tuple[Question, str]], subject: Subject, sampling: Sampling
    ) -> Learned | None:
        """The newly solved question to show: the shortest one with its answer. The untrained model's answer to it is
        generated again, since its answers are not kept."""
        short = [(question, text) for question, text in new if len(question.text) + len(text) <= _MOST_SHOWN]
        if not short:
            return None
        question, now = min(short, key=lambda one: (len(one[0].text) + len(one[1]), one[0].text))
        base = Subject("", 0, None, shots=subject.shots)
        results, texts, _ = await self._results(base, [question], sampling, unwatched, 1)
        if results[0][0].solved or len(texts[0]) > _MOST_SHOWN:
            return None
        return Learned(round=subject.round, task=question.task, question=question.text, before=texts[0], now=now)

    async def _results(
        self, subject: Subject, questions: Sequence[Question], sampling: Sampling, progress: Progress, answers: int
    ) -> tuple[list[list[Result]], list[str], int]:
        """Of each question the results of so many answers; all the texts; how many questions fill the context."""
        prompts = await self._examiner.prompts(questions, subject.shots)
        answered = await self._engine.generate_with(
            subject.folder,
            [prompt for prompt in prompts for _ in range(answers)],
            sampling,
            progress,
            live=subject.live,
        )
        texts = [row[0].text for row in answered.completions]
        rows = [texts[at : at + answers] for at in range(0, len(texts), answers)]
        marks = await self._examiner.mark(questions, rows, strict=True)
        results = [[Result(solved=mark.solved, partial=mark.partial) for mark in row] for row in marks]
        return results, texts, sum(row[0].had_no_room for row in answered.completions) // answers


def _standing_report(held_out: HeldOutSet, subject: Subject, standing: Standing, seconds: float) -> EvalReport:
    """Score and gain over the questions asked so far."""
    known = [place for place, result in enumerate(standing.results) if result is not None]
    questions = [held_out.questions[place] for place in known]
    rows = [[result] for result in standing.results if result is not None]
    report = _report(held_out.which, questions, subject, rows, 0, seconds)
    base = [bool(standing.base[place]) for place in known]
    found = paired_difference(report.solved, base)
    return msgspec.structs.replace(report, gain=Gain(value=found.value, low=found.low, high=found.high))


def _report(
    which: SetName,
    questions: Sequence[Question],
    subject: Subject,
    results: Sequence[Sequence[Result]],
    samples: int,
    seconds: float,
) -> EvalReport:
    by_task: dict[str, list[Result]] = {}
    for question, row in zip(questions, results, strict=True):
        by_task.setdefault(question.task, []).extend(row)
    marks = [_task_mark(task, found) for task, found in by_task.items()]
    every = _task_mark("", [result for row in results for result in row])
    solved = [result.solved for row in results for result in row]
    shares = [_task_mark("", row).solved for row in results]
    interval = mean_with_error(shares) if samples else wilson(sum(solved), len(solved))
    return EvalReport(
        checkpoint=subject.checkpoint,
        round=subject.round,
        which=which,
        score=every.solved,
        partial=every.partial,
        questions=len(results),
        low=interval.low,
        high=interval.high,
        tasks=marks,
        solved=solved,
        seconds=seconds,
        samples=samples,
    )


def _task_mark(task: str, results: Sequence[Result]) -> TaskMark:
    count = max(len(results), 1)
    solved = sum(result.solved for result in results) / count
    partial = sum(result.partial for result in results) / count
    return TaskMark(task=task, answers=len(results), solved=solved, partial=partial, reward=solved)
