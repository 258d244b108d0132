"""What clients ask of the model: questions of their own and of tasks, answered, told while they are written, marked."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import SystemRandom

from sapo_desktop.core.errors import TaskError, UsageError
from sapo_desktop.core.records import Completion, Question, Sampling
from sapo_desktop.core.sentences import sentence
from sapo_desktop.tasks.catalogue import Catalogue
from sapo_desktop.tasks.grammars import FORMS
from sapo_desktop.tasks.service import QuestionRef
from sapo_desktop.tasks.worked.examples import free_question
from sapo_desktop.worker.control.messages.asking import (
    Ask,
    Asked,
    AskProgressed,
    QuestionSet,
    SetQuestion,
    Tried,
    TryTask,
)
from sapo_desktop.worker.control.messages.events import Event
from sapo_desktop.worker.node import Node

TELL_SECONDS = 0.2
"""Between two events about one answer."""


class Asking:
    """Answers them. `now`: any monotonic clock, in seconds."""

    def __init__(
        self,
        node: Node,
        catalogue: Catalogue,
        publish: Callable[[Event], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._node = node
        self._catalogue = catalogue
        self._publish = publish
        self._now = now
        self._random = SystemRandom()

    async def ask(self, request: Ask) -> Asked:
        if not request.question.strip():
            raise UsageError(sentence("Ask a question: the text is empty."))
        started = self._now()
        question = free_question(request.question)
        completion = await self._answer(question, request.checkpoint, request.greedy, request.stream)
        return Asked(text=completion.text, tokens=len(completion.tokens), seconds=self._now() - started)

    async def try_task(self, request: TryTask) -> Tried:
        async with self._node.gate.awake():
            question = await self._question(request.task, request.seed)
            text = request.answer
            if text is None:
                text = (await self._answer(question, request.checkpoint, True, request.stream)).text
            return await self._marked(question, text)

    async def set_question(self, request: SetQuestion) -> QuestionSet:
        async with self._node.gate.awake():
            question = await self._question(request.task, request.seed)
        family, _ = self._catalogue.find(question.task)
        return QuestionSet(
            task=question.task, seed=question.seed, question=question.text, example=FORMS[family.grammar]
        )

    async def _question(self, task: str, seed: int | None) -> Question:
        """The question of that seed, or of one that is drawn."""
        seed = self._random.getrandbits(63) if seed is None else seed
        question = (await self._node.examiner.set_questions([QuestionRef(task=task, seed=seed)]))[0]
        if question is None:
            raise TaskError("{task} has no question for seed {seed}; try another one.", task=task, seed=str(seed))
        return question

    async def _answer(self, question: Question, name: str, greedy: bool, stream: int) -> Completion:
        node = self._node
        live = name == "last"
        checkpoint = None if live else await node.find_checkpoint(name)
        sampling = drawn_sampling(node, self._random, greedy=greedy)
        async with node.awake():
            answered = await node.engine.generate_with(
                checkpoint.folder if checkpoint else None,
                await node.prompts([question]),
                sampling,
                live=live,
                urgent=True,
                spoken=_Told(stream, self._publish, self._now) if stream else None,
            )
        completion = answered.completions[0][0]
        if completion.had_no_room:
            loaded = node.engine.loaded
            raise UsageError(
                "The question has {tokens} tokens and leaves no room for an answer: this model reads {context} at "
                "once. Shorten it, or choose a model that reads more.",
                tokens=len(answered.prompt_tokens[0]),
                context=loaded.context if loaded else 0,
            )
        return completion

    async def _marked(self, question: Question, text: str) -> Tried:
        examiner = self._node.examiner
        mark = (await examiner.mark([question], [[text]], strict=True))[0][0]
        return Tried(
            task=question.task,
            seed=question.seed,
            question=question.text,
            completion=text,
            mark=mark,
            truth=await examiner.truth(question.task, question.seed),
        )


def drawn_sampling(node: Node, random: SystemRandom, *, greedy: bool = False) -> Sampling:
    """As in training, with a seed that nobody knows."""
    return Sampling(
        greedy=greedy,
        temperature=node.settings.temperature,
        max_tokens=node.max_tokens,
        seed=random.getrandbits(31),
    )


class _Told:
    """Tells of one answer while it is written, no more often than anybody can read."""

    def __init__(self, stream: int, publish: Callable[[Event], None], now: Callable[[], float]) -> None:
        self._stream = stream
        self._publish = publish
        self._now = now
        self._next = now()

    def __call__(self, text: str, tokens: int) -> None:
        now = self._now()
        if now >= self._next:
            self._next = now + TELL_SECONDS
            self._publish(AskProgressed(stream=self._stream, text=text, tokens=tokens))
