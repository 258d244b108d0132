"""The examiner behind its host, as the worker talks to it: real process, real limits."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.errors import TaskError
from sapo_desktop.tasks.catalogue import Catalogue
from sapo_desktop.tasks.own.family import parse_file
from sapo_desktop.tasks.own.folder import hand_over
from sapo_desktop.tasks.service import (
    AnswersToMark,
    GetLimits,
    HeldOut,
    MarkAnswers,
    QuestionRef,
    SetQuestions,
    TaskIds,
    Truth,
)
from sapo_desktop.worker.hosts.hosting import Host
from sapo_desktop.worker.hosts.protocol import KINDS, HostOptions

GCD = "gcd/easy"


async def ask(folder: Path, *requests: msgspec.Struct, env: Mapping[str, str] | None = None) -> list[Any]:
    """The replies to requests, one after the other, by one examiner; an error in place of a reply is given
    back."""

    async def run() -> list[Any]:
        host = await Host.start(HostOptions(kind=KINDS["examiner"], log=folder / "examiner.log", env=env or {}))
        replies: list[Any] = []
        try:
            for request in requests:
                try:
                    replies.append(await host.call(request, timeout=60))
                except TaskError as error:
                    replies.append(error)
        finally:
            await host.stop()
        return replies

    return await run()


async def test_questions_marks_truths_and_ids(tmp_path: Path) -> None:
    texts = ["<answer>2</answer>", "I think 2", "2", "", "__import__('os').system('touch touched')"]
    examiner, questions, truth, marked, partial, ids, unknown = await ask(
        tmp_path,
        GetLimits(),
        SetQuestions(items=[QuestionRef(task=GCD, seed=0), QuestionRef(task="lcm/easy", seed=2**63 - 1)]),
        Truth(task=GCD, seed=0),
        MarkAnswers(items=[AnswersToMark(task=GCD, seed=0, texts=texts)]),
        MarkAnswers(items=[AnswersToMark(task="prime_factorization/easy", seed=0, texts=["1"])], reward="partial"),
        TaskIds(tasks=[GCD]),
        SetQuestions(items=[QuestionRef(task="gcd/none", seed=0)]),
    )
    assert examiner.limits.hook == "held"
    assert [question.task for question in questions.questions] == [GCD, "lcm/easy"]
    assert "50, 58" in questions.questions[0].text
    assert truth.text == "2"
    assert [mark.verdict for mark in marked.marks[0]] == ["solved", "unparsed", "solved", "no_answer", "unparsed"]
    assert partial.marks[0][0].reward == partial.marks[0][0].partial == 0.01
    assert len(ids.ids[GCD]) == 32
    assert isinstance(unknown, TaskError)


async def test_own_tasks_that_are_handed_over(tmp_path: Path) -> None:
    rows = [f"Say {n} in words.,Word {n}" for n in range(100)]
    family = parse_file("words.csv", "\n".join(["question,answer", *rows]).encode(), ()).family
    handed_over = hand_over(Catalogue(families=(family,)), tmp_path / "catalogue.json")
    words = "words/easy"
    first = family.levels[0].rows[0].question
    number = first.split()[1]
    question, marked, ids, validation = await ask(
        tmp_path,
        SetQuestions(items=[QuestionRef(task=words, seed=99)]),
        MarkAnswers(items=[AnswersToMark(task=words, seed=99, texts=[f"word  {number}", "<answer>No</answer>", ""])]),
        TaskIds(tasks=[words]),
        HeldOut(which="validation", secret=bytes(32)),
        env=handed_over,
    )
    assert question.questions[0].text == first
    assert [mark.verdict for mark in marked.marks[0]] == ["solved", "wrong", "no_answer"]
    assert ids.ids[words] != bytes(32) and validation.questions


@pytest.mark.slow
async def test_held_out_sets_of_the_shipped_catalogue(tmp_path: Path) -> None:
    test, validation = await ask(tmp_path, HeldOut(which="test"), HeldOut(which="validation", secret=bytes(range(32))))
    assert len(test.questions) > 600
    assert len(validation.questions) > 150
    assert not {q.text for q in test.questions} & {q.text for q in validation.questions}
