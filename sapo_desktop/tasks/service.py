"""The examiner as a host service: its requests and replies.

worker/hosts/host.py calls `create()` in the examiner's process. Tasks are named locally (`gcd/easy`), questions by
(task, seed); no request contains a right answer or a scoring rule. Limits apply to the process from the first request
on, when the host has started its threads. Left out: killing and restarting it, which the parent does.
"""

from __future__ import annotations

import msgspec

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.link import service
from sapo_desktop.core.link.requests import Message, Request
from sapo_desktop.core.records import Mark, Question
from sapo_desktop.core.resources import resource
from sapo_desktop.tasks.catalogue import TaskKey, load_catalogue
from sapo_desktop.tasks.examiner import (
    Examiner,
    RewardRule,
    library_version,
    load_library,
    require_fixed_hashing,
)
from sapo_desktop.tasks.heldout import SetName, held_out_set
from sapo_desktop.tasks.limits import Limits, apply_limits
from sapo_desktop.tasks.own.folder import handed_over
from sapo_desktop.tasks.worked.examples import FamilyExamples, worked_examples


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the parts of messages."""


class QuestionRef(Part, frozen=True):
    task: TaskKey
    seed: int


class AnswersToMark(Part, frozen=True):
    """Completions to one question."""

    task: TaskKey
    seed: int
    texts: list[str]


class QuestionsSet(Message, frozen=True):
    """As many as requested; None for a seed without a question (some generators fail on a few)."""

    questions: list[Question | None]


class Marked(Message, frozen=True):
    """One row per question, one score per text, in the given order."""

    marks: list[list[Mark]]


class LimitsAre(Message, frozen=True):
    limits: Limits


class TaskIdsAre(Message, frozen=True):
    ids: dict[TaskKey, bytes]


class HeldOutQuestions(Message, frozen=True):
    questions: list[Question]


class Examples(Message, frozen=True):
    by_family: dict[str, FamilyExamples]


class TruthIs(Message, frozen=True):
    text: str


class SetQuestions(Request[QuestionsSet], frozen=True, kw_only=True):
    items: list[QuestionRef]


class MarkAnswers(Request[Marked], frozen=True, kw_only=True):
    items: list[AnswersToMark]
    reward: RewardRule = "strict"


class GetLimits(Request[LimitsAre], frozen=True, kw_only=True):
    """Which limits apply to the examiner."""


class TaskIds(Request[TaskIdsAre], frozen=True, kw_only=True):
    """The ids of these tasks; the first time, each needs 200 questions."""

    tasks: list[TaskKey]


class HeldOut(Request[HeldOutQuestions], frozen=True, kw_only=True):
    which: SetName
    secret: bytes = b""
    """32 bytes for `validation`."""


class GetExamples(Request[Examples], frozen=True, kw_only=True):
    """Worked examples of these families."""

    families: list[str]


class Truth(Request[TruthIs], frozen=True, kw_only=True):
    task: TaskKey
    seed: int


ExaminerRequest = SetQuestions | MarkAnswers | GetLimits | TaskIds | HeldOut | GetExamples | Truth


class Service(service.Service[ExaminerRequest]):
    """Handles requests with an examiner. `limits`: those of a process that also does other work; None: they are
    applied to the process at the first request."""

    def __init__(self, examiner: Examiner, limits: Limits | None = None) -> None:
        super().__init__()
        self.versions["reasoning_gym"] = library_version()
        self._examiner = examiner
        self._limits = limits

    def handle(self, request: ExaminerRequest, progress: service.Progress) -> Message:
        """Handle a request. Raises TaskError for unknown tasks, never because of an answer's content."""
        if self._limits is None:
            self._limits = apply_limits()
        match request:
            case SetQuestions(items=items):
                return QuestionsSet(questions=[self._question(item) for item in items])
            case MarkAnswers(items=answered, reward=rule):
                mark = self._examiner.mark
                return Marked(
                    marks=[[mark(item.task, item.seed, text, rule) for text in item.texts] for item in answered]
                )
            case GetLimits():
                return LimitsAre(limits=self._limits)
            case TaskIds(tasks=tasks):
                return TaskIdsAre(ids={task: self._examiner.task_id(task) for task in tasks})
            case HeldOut(which=which, secret=secret):
                ask, catalogue = self._examiner.question, self._examiner.catalogue
                return HeldOutQuestions(questions=held_out_set(which, secret, catalogue, ask))
            case GetExamples(families=families):
                find = self._examiner.catalogue.family
                return Examples(by_family={name: worked_examples(self._examiner, find(name)) for name in families})
            case Truth(task=task, seed=seed):
                return TruthIs(text=self._examiner.truth(task, seed))

    def _question(self, item: QuestionRef) -> Question | None:
        # An unknown task is an error, a seed without a question is not.
        self._examiner.catalogue.find(item.task)
        try:
            return self._examiner.question(item.task, item.seed)
        except TaskError:
            return None


def create() -> Service:
    """The service for the catalogue passed to this process, otherwise the shipped one. Raises TaskError if it must not
    run."""
    require_fixed_hashing()
    load_library()
    return Service(Examiner(handed_over() or load_catalogue(resource("tasks.toml"))))
