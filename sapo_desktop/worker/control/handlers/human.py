"""A person's answer: a question is posed, its answer is scored, joined by the model's own answers, shared and learned
from.

The person sees where the text will go before giving it, and nothing beyond that is done: a question posed as local is
never shared. A posed question exists only in memory, for ten to twenty minutes, and can be answered once; otherwise
nothing remains of it. Left out: its weight (learning/external.py) and when it is trained on (worker/status.py).
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import SystemRandom

from sapo_desktop.core.errors import HostError, UsageError
from sapo_desktop.core.extraction import CLOSE, OPEN
from sapo_desktop.core.link.handlers import Handlers
from sapo_desktop.core.records import Completion, Group, Mark, Question
from sapo_desktop.core.sentences import Text, joined, sentence
from sapo_desktop.engines.protocols import Encoded
from sapo_desktop.learning.plan import draw_task
from sapo_desktop.learning.questions import Place, training_questions
from sapo_desktop.learning.round import EncodedGroup
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol.envelope import may_be_shared
from sapo_desktop.tasks.catalogue import Catalogue, TaskKey, family_of
from sapo_desktop.tasks.charset import belongs
from sapo_desktop.tasks.grammars import FORMS
from sapo_desktop.worker.control.handlers.asking import drawn_sampling
from sapo_desktop.worker.control.messages.replies import HumanMarked, PosedQuestion
from sapo_desktop.worker.control.messages.requests import AskForQuestion, GiveAnswer
from sapo_desktop.worker.membership.external import SHORTEST_REASONING, as_marked
from sapo_desktop.worker.membership.member import Member
from sapo_desktop.worker.membership.side import SwarmSide
from sapo_desktop.worker.node import Node

log = logging.getLogger(__name__)

MOST_POSED = 4
"""Questions that wait for an answer; with one more, the oldest is dropped."""
_SECONDS = 2.0 * limits.SLOT_SECONDS
"""How long a question that is not shared can be answered."""


@dataclass(frozen=True)
class _Posed:
    """A waiting question. `member`: the publisher of the answer; None if it is not shared."""

    question: Question
    member: Member | None
    until: float


class HumanAnswers:
    """Poses questions to people and takes their answers. `now`: any monotonic clock, in seconds."""

    def __init__(
        self, node: Node, side: SwarmSide, catalogue: Catalogue, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._node = node
        self._side = side
        self._catalogue = catalogue
        self._now = now
        self._posed: dict[str, _Posed] = {}
        self._random = SystemRandom()
        self.handlers = handlers = Handlers()
        handlers.on(AskForQuestion).by(self.pose)
        handlers.on(GiveAnswer).by(self.give)

    async def pose(self, request: AskForQuestion) -> PosedQuestion:
        """A new question. Raises TaskError if there is no such task, or no question of it now."""
        task = self._task(request.task)
        family = self._catalogue.family(family_of(task))
        member, where = self._destination(task)
        async with self._node.gate.awake():
            question = await (
                self._private(task) if member is None else member.question_for_person(task, self._node.keeper.call)
            )
        seconds = _SECONDS if member is None else member.seconds_left(question)
        return PosedQuestion(
            id=self._keep(_Posed(question, member, self._now() + seconds)),
            task=task,
            title=family.title,
            question=question.text,
            form=FORMS[family.grammar],
            shared=member is not None,
            where=where,
            seconds=seconds,
        )

    async def give(self, request: GiveAnswer) -> HumanMarked:
        """Take the answer to a posed question. Raises UsageError if the text or the question is not acceptable."""
        posed = self._waiting(request.id)
        question = posed.question
        family = self._catalogue.family(family_of(question.task))
        text = written(request.answer, request.reasoning, family.grammar)
        del self._posed[request.id]  # from here on it counts as answered, whatever happens
        async with self._node.awake():
            drawn = await self._model_answers(question)
            marks = await self._marks(question, [text, *(completion.text for completion in drawn)])
            encoded = await self._encoded(question, as_marked(text, marks[0], family))
            completions = [_human(text, encoded), *drawn]
            truth = await self._node.examiner.truth(question.task, question.seed)
        group = Group(question=question, completions=completions, marks=marks, origin="human")
        learned = (
            encoded is not None
            and self._node.engine.trains
            and self._node.status.human_groups.add(EncodedGroup(group, encoded.prompts[0]))
        )
        shared = posed.member is not None and await posed.member.share([group]) > 0
        return HumanMarked(
            task=question.task,
            question=question.text,
            completion=text,
            mark=marks[0],
            truth=truth,
            model_solved=sum(mark.solved for mark in marks[1:]),
            model_answers=len(drawn),
            shared=shared,
            learned=learned,
            note=_note(posed, shared=shared, learned=learned),
        )

    def _task(self, name: str | None) -> TaskKey:
        """The task of that name; for a family, one of its levels in training, otherwise its first."""
        node = self._node
        if name is not None and "/" in name:
            self._catalogue.find(name)
            return name
        if name is not None and name not in node.levels:
            return f"{name}/{self._catalogue.family(name).levels[0].name}"
        return draw_task(node.settings, node.counters, node.levels, self._random, name)

    def _destination(self, task: TaskKey) -> tuple[Member | None, Text]:
        """Who would publish an answer to this task, and the sentence that says so."""
        member = self._side.member
        why: Text
        if member is None:
            why = self._side.reason
        elif not member.sharing:
            why = sentence("Sharing needs your consent.", in_terminal="sapo-desktop run --share")
        elif not member.is_shared(task):
            why = sentence("Answers to this task are not shared.")
        else:
            return member, sentence(
                "Your answer is published with {count} of the model's, under this node's key {key}, in the "
                "public domain (CC0). Anyone may keep it and pass it on, and it cannot be withdrawn.",
                count=self._answers - 1,
                key=member.key.hex()[:16],
            )
        return None, sentence(
            "Your answer stays on this computer, where the model learns from it. {reason}", reason=why
        )

    @property
    def _answers(self) -> int:
        """Answers in the group, including the person's."""
        return min(self._node.settings.answers, limits.MAX_ANSWERS)

    async def _private(self, task: TaskKey) -> Question:
        """A training question that nobody else gets."""
        examiner, draw = self._node.examiner, self._random.getrandbits
        (question,) = await training_questions(examiner, [task], lambda asked: [Place(draw(63)) for _ in asked])
        return question

    def _keep(self, posed: _Posed) -> str:
        self._forget_late()
        while len(self._posed) >= MOST_POSED:
            del self._posed[next(iter(self._posed))]
        name = secrets.token_hex(8)
        self._posed[name] = posed
        return name

    def _waiting(self, name: str) -> _Posed:
        self._forget_late()
        if name not in self._posed:
            raise UsageError(sentence("This question was answered already, or its time is up. Ask for another one."))
        return self._posed[name]

    def _forget_late(self) -> None:
        self._posed = {name: posed for name, posed in self._posed.items() if posed.until > self._now()}

    async def _encoded(self, question: Question, text: str | None) -> Encoded | None:
        """The ids to train on. None if there is no text, if it contains a special token or is longer than the
        model's own answers may be, or if the engine fails."""
        if text is None:
            return None
        try:
            encoded = await self._node.engine.encode(await self._node.prompts([question]), [text])
        except HostError as error:
            log.warning("A person's answer could not be encoded: %s", error)
            return None
        tokens = encoded.tokens[0]
        return encoded if tokens and self._node.yardstick().holds(encoded.prompts[0], tokens) else None

    async def _model_answers(self, question: Question) -> Sequence[Completion]:
        """The model's own answers; none if the engine fails, since a group of one is valid."""
        sampling = drawn_sampling(self._node, self._random)
        try:
            prompts = await self._node.prompts([question])
            generated = await self._node.engine.generate(prompts, self._answers - 1, sampling)
        except HostError as error:
            log.warning("No answers of the model to add to a person's: %s", error)
            return []
        return [one for one in generated.completions[0] if not one.had_no_room]

    async def _marks(self, question: Question, texts: Sequence[str]) -> list[Mark]:
        strict = self._node.settings.reward != "partial"
        return (await self._node.examiner.mark([question], [texts], strict=strict))[0]


def written(answer: str, reasoning: str, grammar: str) -> str:
    """The text as it is published: the reasoning, if any, then one answer span, and nothing after it.

    Raises:
        UsageError: it is empty, too long, contains characters that cannot be shared, or more than one span.
    """
    if len(answer) + len(reasoning) > limits.MAX_ANSWER:
        raise UsageError(
            "An answer including its reasoning may have at most {most} characters.", most=limits.MAX_ANSWER
        )
    answer, reasoning = answer.strip(), reasoning.strip()
    if not answer:
        raise UsageError(sentence("The answer is empty. Write one."))
    text = answer if OPEN in answer or CLOSE in answer else f"{OPEN}{answer}{CLOSE}"
    text = f"{reasoning}\n{text}" if reasoning else text
    if text.count(OPEN) != 1 or text.count(CLOSE) != 1 or not text.endswith(CLOSE):
        raise UsageError("Give one answer at the end, without {opening} and {closing}.", opening=OPEN, closing=CLOSE)
    if text.find(OPEN) > SHORTEST_REASONING:
        raise UsageError(
            "Reasoning may have at most {most} characters, so that every node accepts it.", most=SHORTEST_REASONING - 1
        )
    if not may_be_shared(text) or not belongs(text, grammar):
        raise UsageError(
            "An answer may contain only letters, digits and arithmetic symbols, in at most {most} bytes. "
            "Enter it again without others.",
            most=limits.MAX_ANSWER,
        )
    return text


def _human(text: str, encoded: Encoded | None) -> Completion:
    tokens = encoded.tokens[0] if encoded else None
    return Completion(tokens=tokens or [], logprobs=[], text=text, finish="stop", kind="human")


def _note(posed: _Posed, *, shared: bool, learned: bool) -> Text:
    notes: list[Text] = []
    if posed.member is not None and not shared:
        notes.append(
            sentence(
                "It was not shared: this node left the swarm, or you withdrew consent, or one of the model's "
                "answers to the same question cannot be shared."
            )
        )
    if not learned:
        notes.append(
            sentence(
                "The model does not learn from it. Either no answer to this question can be read in it, or "
                "it is longer than the model's answers may be, or too many others wait for a round, or this "
                "node does not train."
            )
        )
    return joined(notes) if notes else ""
