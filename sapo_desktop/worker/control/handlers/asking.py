"""Clients' questions to the model, their own and those of tasks: answered, streamed and scored."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from random import SystemRandom

import msgspec

from sapo_desktop.core.errors import ContextFull, TaskError, UsageError
from sapo_desktop.core.link.handlers import Handlers
from sapo_desktop.core.records import Exchange, Generated, Prompt, Question, Sampling
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
from sapo_desktop.worker.hosts.engine import Spoken
from sapo_desktop.worker.node import Node

TELL_SECONDS = 0.2
"""Minimum interval of events about one answer."""


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
        self.handlers = handlers = Handlers()
        handlers.on(Ask).by(self.ask)
        handlers.on(TryTask).by(self.try_task)
        handlers.on(SetQuestion).by(self.set_question)

    async def ask(self, request: Ask) -> Asked:
        if not request.question.strip():
            raise UsageError(sentence("The question is empty. Enter one."))
        started = self._now()
        prompt = await self._prompt(free_question(request.question), request.turns)
        report = self._report(request.stream)
        answered = await self._answer(prompt, request.checkpoint, self._sampling(request.greedy), report)
        completion, loaded = answered.completions[0][0], self._node.engine.loaded
        return Asked(
            text=completion.text,
            tokens=len(completion.tokens),
            seconds=self._now() - started,
            prompt=answered.asked,
            prompt_tokens=len(answered.prompt_tokens[0]),
            context=loaded.context if loaded else 0,
        )

    async def answer_program(
        self, question: str, turns: Sequence[Exchange], system: str | None, sampling: Sampling, spoken: Spoken
    ) -> Generated:
        """Answer another program with the current model. `system`: its own system message, which replaces the usual
        one and the examples. Raises SapoError, including ContextFull."""
        if system is None:
            prompt = await self._prompt(free_question(question), turns)
        else:
            prompt = Prompt(question=question, turns=tuple(turns), system=system)
        return await self._answer(prompt, "last", sampling, spoken)

    async def try_task(self, request: TryTask) -> Tried:
        async with self._node.gate.awake():
            question = await self._question(request.task, request.seed)
            text = request.answer
            if text is None:
                prompt, report = await self._prompt(question), self._report(request.stream)
                answered = await self._answer(prompt, request.checkpoint, self._sampling(True), report)
                text = answered.completions[0][0].text
            return await self._marked(question, text)

    async def set_question(self, request: SetQuestion) -> QuestionSet:
        async with self._node.gate.awake():
            question = await self._question(request.task, request.seed)
        family, _ = self._catalogue.find(question.task)
        return QuestionSet(
            task=question.task, seed=question.seed, question=question.text, example=FORMS[family.grammar]
        )

    async def _question(self, task: str, seed: int | None) -> Question:
        """The question of that seed, or of a random one."""
        seed = self._random.getrandbits(63) if seed is None else seed
        question = (await self._node.examiner.set_questions([QuestionRef(task=task, seed=seed)]))[0]
        if question is None:
            raise TaskError("{task} has no question for seed {seed}. Try another one.", task=task, seed=str(seed))
        return question

    async def _prompt(self, question: Question, turns: Sequence[Exchange] = ()) -> Prompt:
        """The prompt as in training, after the earlier turns of a chat."""
        async with self._node.gate.awake():
            (prompt,) = await self._node.prompts([question])
        return msgspec.structs.replace(prompt, turns=tuple(turns))

    def _sampling(self, greedy: bool) -> Sampling:
        return drawn_sampling(self._node, self._random, greedy=greedy)

    def _report(self, stream: int) -> Spoken | None:
        return _Report(stream, self._publish, self._now) if stream else None

    async def _answer(self, prompt: Prompt, name: str, sampling: Sampling, spoken: Spoken | None) -> Generated:
        node = self._node
        live = name == "last"
        checkpoint = None if live else await node.find_checkpoint(name)
        async with node.awake():
            answered = await node.engine.generate_with(
                checkpoint.folder if checkpoint else None,
                [prompt],
                sampling,
                live=live,
                urgent=True,
                spoken=spoken,
            )
        if answered.completions[0][0].had_no_room:
            loaded = node.engine.loaded
            raise no_room(len(answered.prompt_tokens[0]), loaded.context if loaded else 0, chat=bool(prompt.turns))
        return answered

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


def no_room(tokens: int, context: int, *, chat: bool) -> ContextFull:
    """The error for a question or chat that fills the model's context."""
    if chat:
        return ContextFull(
            "This chat has {tokens} tokens by now and leaves no room for an answer: this model reads {context} at "
            "once. Start a new chat, or choose a model that reads more.",
            tokens=tokens,
            context=context,
        )
    return ContextFull(
        "The question has {tokens} tokens and leaves no room for an answer: this model has a context "
        "of {context}. Shorten it, or choose a model with a longer context.",
        tokens=tokens,
        context=context,
    )


def drawn_sampling(node: Node, random: SystemRandom, *, greedy: bool = False) -> Sampling:
    """Sampling as in training, with a random seed."""
    return Sampling(
        greedy=greedy,
        temperature=node.settings.temperature,
        max_tokens=node.max_tokens,
        seed=random.getrandbits(31),
    )


class _Report:
    """Reports one answer while it is written, at a readable rate."""

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
