"""Questions that are too long for the model, found when a model is loaded and when tasks are added.

A question is too long if it leaves no room for the shortest answer. Rounds leave it out (learning/round.py); its owner
is informed here in advance.
"""

from __future__ import annotations

from sapo_desktop.core.records import Prompt
from sapo_desktop.core.sentences import Text, sentence
from sapo_desktop.engines.answering import LEAST_ROOM
from sapo_desktop.learning.asking import Levels
from sapo_desktop.tasks.catalogue import Catalogue, Family
from sapo_desktop.tasks.service import QuestionRef
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.hosts.examiner import Examiner

CHECKED = 2000
"""Maximum questions of a family to tokenize, longest first."""
AMPLE = 1024
"""Tokens of a context that is large enough for all questions of the product."""
_SEEDS = range(3)
"""Questions of each of the product's tasks to try with a small context."""


async def own_too_long(engine: Engine, family: Family) -> list[Text]:
    """The remark for the owner of this family; None if all of its questions fit."""
    if engine.loaded is None:
        return []
    context = engine.loaded.context
    questions = [row.question for level in family.levels for row in level.rows]
    lengths = {question: len(question.encode()) for question in questions}
    shortest = min(questions, key=lengths.__getitem__)
    (around,) = (await engine.encode([Prompt(question=shortest)], [])).prompts  # the template and a little more
    # No tokenizer makes more tokens than there are bytes.
    doubtful = [question for question in questions if lengths[question] + len(around) > context - LEAST_ROOM]
    doubtful = sorted(doubtful, key=lengths.__getitem__, reverse=True)[:CHECKED]
    if not doubtful:
        return []
    found = [
        len(prompt)
        for prompt in (await engine.encode([Prompt(question=question) for question in doubtful], [])).prompts
    ]
    count = sum(tokens > context - LEAST_ROOM for tokens in found)
    if not count:
        return []
    shown = sentence("at least {count}", count=count) if count == CHECKED else f"{count:,}"
    return [
        sentence(
            "{name}: {count} of {all} questions are too long for this model and are left out. Its "
            "context is {context} tokens, and the longest question has {longest}. Shorten them, or "
            "choose another model.",
            name=family.name,
            count=shown,
            all=len(questions),
            context=context,
            longest=max(found),
        )
    ]


async def too_long(engine: Engine, examiner: Examiner, catalogue: Catalogue, levels: Levels) -> list[Text]:
    """The remarks for a node whose model was loaded: on own families, and on the product's if the model's context is
    small. `levels`: those that are trained on."""
    said: list[Text] = []
    for name in levels:
        family = catalogue.family(name)
        if family.own:
            said += await own_too_long(engine, family)
    if engine.loaded is None or engine.loaded.context >= AMPLE:
        return said
    tasks = [f"{name}/{level}" for name in levels if not catalogue.family(name).own for level in levels[name]]
    asked = await examiner.set_questions([QuestionRef(task=task, seed=seed) for task in tasks for seed in _SEEDS])
    questions = [question for question in asked if question is not None]
    prompts = (await engine.encode([Prompt(question=question.text) for question in questions], [])).prompts
    most = engine.loaded.context - LEAST_ROOM
    found = {question.task for question, prompt in zip(questions, prompts, strict=True) if len(prompt) > most}
    if found:
        text = sentence(
            "This model has a context of {context} tokens. Questions of {count} of {all} tasks are "
            "longer and are left out: {tasks}. Choose other tasks, or another model.",
            context=engine.loaded.context,
            count=len(found),
            all=len(tasks),
            tasks=", ".join(task for task in tasks if task in found),
        )
        said.append(text)
    return said
