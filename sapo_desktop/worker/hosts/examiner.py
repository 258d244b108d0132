"""The worker's side of the examiner host: questions and scores, whatever answers do to the process.

An answer that makes the examiner hang or die must cost one score, not the round. The host is restarted and the answers
of that call are scored one by one, so that only the culprit gets `timeout`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from sapo_desktop.core.errors import HostDied, HostTimeout, TaskError
from sapo_desktop.core.link.requests import ReplyType, Request
from sapo_desktop.core.records import Mark, Prompt, Question
from sapo_desktop.learning.questions import Place, training_questions
from sapo_desktop.tasks.catalogue import family_of
from sapo_desktop.tasks.heldout import SetName
from sapo_desktop.tasks.identity import read_ids, read_previous_ids, write_ids
from sapo_desktop.tasks.limits import Limits
from sapo_desktop.tasks.questions import FIRST_OWN_INDEX, SILO_NETWORK, question_seed, silo_key
from sapo_desktop.tasks.service import (
    AnswersToMark,
    GetExamples,
    GetLimits,
    HeldOut,
    MarkAnswers,
    QuestionRef,
    SetQuestions,
    TaskIds,
    Truth,
)
from sapo_desktop.tasks.worked.examples import FamilyExamples, shown_with
from sapo_desktop.worker.hosts.hosting import Host

log = logging.getLogger(__name__)

CALL_SECONDS = 120.0
EXTERNAL_SECONDS = 20.0
"""Like CALL_SECONDS, if a stranger chose the question: a hang must not delay a round by minutes."""
MARK_SECONDS = 2.0
"""Per answer, in addition to the examiner's own limit of a second."""
_MOST_TRIES = 1000
"""A task whose questions are all held out is an error in the catalogue, not a reason for an endless search."""


@dataclass(frozen=True)
class KeptIds:
    """The stored task ids, and the key under which they are valid (tasks/identity.py)."""

    path: Path
    key: str
    unkept: Collection[str] = ()
    """Families whose ids are computed at every start: own tasks, which are quick and change with a file."""

    def read(self) -> dict[str, bytes]:
        """The stored ids; none if they are unreadable, since they can be computed again."""
        try:
            return read_ids(self.path, self.key)
        except TaskError as error:
            log.warning("%s They are computed again.", error)
            return {}

    def previous(self, ids: Mapping[str, bytes]) -> dict[str, bytes]:
        """The ids that `ids`, all of the catalogue, recently replaced."""
        try:
            return read_previous_ids(self.path, ids, time.time())
        except TaskError as error:
            log.warning("%s Groups under them are not accepted.", error)
            return {}

    def write(self, ids: Mapping[str, bytes]) -> None:
        """Store them if possible."""
        try:
            kept = {task: value for task, value in ids.items() if family_of(task) not in self.unkept}
            write_ids(self.path, self.key, kept, time.time())
        except TaskError as error:
            log.warning("%s They are computed again at every start.", error)


class Examiner:
    """Makes questions and scores answers through a process that may be killed at any time.

    Args:
        patience: seconds for the questions of a call, or for scores in addition to a time per answer.
    """

    def __init__(self, host: Host, kept_ids: KeptIds, patience: float = CALL_SECONDS) -> None:
        self.host = host
        self._patience = patience
        self._kept = kept_ids
        self._task_ids = kept_ids.read()
        self._examples: dict[str, FamilyExamples] = {}
        self._restarting = asyncio.Lock()

    async def training_questions(self, seed: int, slot: int, tasks: Sequence[str]) -> list[Question]:
        """The questions of a silo round, one per entry of `tasks`; never from the held-out side of the split."""
        ids = await self.task_ids(sorted(set(tasks)))
        key = silo_key(seed)
        next_index = dict.fromkeys(tasks, FIRST_OWN_INDEX)

        def following(asked: Sequence[str]) -> list[Place]:
            places = []
            for task in asked:
                index, next_index[task] = next_index[task], next_index[task] + 1
                seed = question_seed(network=SILO_NETWORK, key=key, slot=slot, task=ids[task], index=index)
                places.append(Place(seed))
            return places

        return await training_questions(self, tasks, following, _MOST_TRIES)

    async def set_questions(self, items: Sequence[QuestionRef]) -> list[Question | None]:
        """As many as requested; None for a seed without a question."""
        return (await self._asked(SetQuestions(items=list(items)), self._patience)).questions

    async def mark(
        self, questions: Sequence[Question], texts: Sequence[Sequence[str]], *, strict: bool
    ) -> list[list[Mark]]:
        """Score every text of every question; rows keep their order and length."""
        items = [
            AnswersToMark(task=question.task, seed=question.seed, texts=list(row))
            for question, row in zip(questions, texts, strict=True)
        ]
        count = sum(len(row) for row in texts)
        try:
            return await self._mark(items, strict, count)
        except (HostTimeout, HostDied):
            return [[await self._mark_alone(item, text, strict) for text in item.texts] for item in items]

    async def held_out(self, which: SetName, secret: bytes) -> list[Question]:
        return (await self._asked(HeldOut(which=which, secret=secret))).questions

    async def limits(self) -> Limits:
        """The restrictions on the examiner's process on this system."""
        return (await self._asked(GetLimits())).limits

    async def prompts(self, questions: Sequence[Question], shots: int) -> list[Prompt]:
        """The prompt for each question: `shots` worked examples of its family, then the question."""
        families = {family_of(question.task) for question in questions} if shots else set()
        if missing := sorted(families - self._examples.keys()):
            self._examples |= (await self._asked(GetExamples(families=missing))).by_family
        return [
            Prompt(
                question=question.text,
                shown=shown_with(question, self._examples[family_of(question.task)], shots) if shots else (),
            )
            for question in questions
        ]

    async def truth(self, task: str, seed: int) -> str:
        return (await self._asked(Truth(task=task, seed=seed))).text

    async def task_ids(self, tasks: Sequence[str]) -> dict[str, bytes]:
        """Task ids (32 bytes), requested once: each needs 200 entries."""
        unknown = [task for task in tasks if task not in self._task_ids]
        if unknown:
            self._task_ids |= (await self._asked(TaskIds(tasks=unknown))).ids
            self._kept.write(self._task_ids)
        return self._task_ids

    def learn_ids(self, ids: Mapping[str, bytes]) -> None:
        """Use task ids that another examiner of this catalogue computed."""
        self._task_ids = {**self._task_ids, **ids}
        self._kept.write(self._task_ids)

    @property
    def known_ids(self) -> Mapping[str, bytes]:
        """The task ids that are already known."""
        return self._task_ids

    async def _mark(self, items: list[AnswersToMark], strict: bool, count: int) -> list[list[Mark]]:
        request = MarkAnswers(items=items, reward="strict" if strict else "partial")
        return (await self._call(request, self._patience + MARK_SECONDS * count)).marks

    async def _mark_alone(self, item: AnswersToMark, text: str, strict: bool) -> Mark:
        alone = msgspec.structs.replace(item, texts=[text])
        try:
            return (await self._mark([alone], strict, 1))[0][0]
        except (HostTimeout, HostDied):
            return Mark(solved=False, partial=0.0, reward=0.0, answer=None, verdict="timeout")

    async def _asked(self, request: Request[ReplyType], seconds: float = CALL_SECONDS) -> ReplyType:
        """A request without hostile text: if the host died of something else, one retry is enough."""
        try:
            return await self._call(request, seconds)
        except (HostTimeout, HostDied):
            return await self._call(request, seconds)

    async def _call(self, request: Request[ReplyType], timeout: float) -> ReplyType:
        async with self._restarting:
            if self.host.pid is None:
                await self.host.restart()
        return await self.host.call(request, timeout)
