"""Foreign groups: made again, marked by us, cut to shape."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

import pytest

from sapo_desktop.core.records import Mark, Question, Verdict
from sapo_desktop.core.resources import resource
from sapo_desktop.engines.protocols import Encoded
from sapo_desktop.swarm.envelope import Answer, GroupBody, open_envelope
from sapo_desktop.swarm.pool import Path, Pool
from sapo_desktop.swarm.refusals import Reason, Refusals
from sapo_desktop.swarm.signing import Signer
from sapo_desktop.tasks.catalogue import load_catalogue
from sapo_desktop.tasks.questions import question_hash, question_seed
from sapo_desktop.tasks.service import QuestionRef
from sapo_desktop.tasks.split import held_out_side
from sapo_desktop.worker.foreign import Foreign, Intake
from tests.swarm.peers import ALICE, NETWORK, group, group_body

GCD = b"g" * 32
TASKS = {GCD: "gcd/easy"}
CATALOGUE = load_catalogue(resource("tasks.toml"))
BOB = Signer(b"b" * 32)


class Examiner:
    """Asks for greatest common divisors; the right answer is the one in the tags."""

    slow: str | None = None

    async def set_questions(self, items: Sequence[QuestionRef]) -> list[Question | None]:
        return [question(item.seed) for item in items]

    async def mark(
        self, questions: Sequence[Question], texts: Sequence[Sequence[str]], *, strict: bool
    ) -> list[list[Mark]]:
        return [[self._mark(one, text) for text in row] for one, row in zip(questions, texts, strict=True)]

    def _mark(self, one: Question, text: str) -> Mark:
        solved = text.endswith(f"<answer>{truth(one.seed)}</answer>")
        verdict: Verdict = "timeout" if text == self.slow else "solved" if solved else "wrong"
        return Mark(solved=solved, partial=float(solved), reward=float(solved), answer=None, verdict=verdict)


def question(seed: int) -> Question:
    text = f"Find the Greatest Common Divisor (GCD) of these numbers: {seed % 97 + 2}, {seed % 89 + 2}."
    return Question(task="gcd/easy", seed=seed, text=text, hash=question_hash(text))


def truth(seed: int) -> int:
    return math.gcd(seed % 97 + 2, seed % 89 + 2)


class Encoder:
    """One id a character; text with `<q>` in it spells a special token."""

    async def encode(self, questions: Sequence[str], texts: Sequence[str]) -> Encoded:
        return Encoded(
            tokens=[None if "<q>" in text else [*map(ord, text), 0] for text in texts],
            prompts=[[len(question)] for question in questions],
        )


def asked(index: int) -> Question:
    return question(question_seed(network=NETWORK, key=ALICE.key, slot=group_body().slot, task=GCD, index=index))


def indices(held_out: bool) -> list[int]:
    return [index for index in range(64) if held_out_side("gcd", asked(index).text) == held_out]


INDEX = indices(held_out=False)[0]
RIGHT = f"steps <answer>{truth(asked(INDEX).seed)}</answer>"


def taken(
    *answers: str, refusals: Refusals | None = None, limit: int = 8, slow: str | None = None, **changes: object
) -> list[Foreign]:
    fields: dict[str, object] = {"task": GCD, "index": INDEX, "question": asked(INDEX).hash}
    fields |= {"answers": [Answer(text=text) for text in answers]} | changes
    pool = Pool(BOB.key)
    opened = open_envelope(group(ALICE, **fields), GroupBody, NETWORK)
    entry = pool.add(opened, Path(ALICE.key, ALICE.key, b""), 0.0)
    examiner = Examiner()
    examiner.slow = slow
    intake = Intake(examiner, Encoder(), CATALOGUE, TASKS, NETWORK, refusals or Refusals(), {"gcd/easy": 200.0})
    return asyncio.run(intake.take([entry], limit, strict=True))


def reasons(*answers: str, **changes: object) -> dict[Reason, int]:
    refusals = Refusals()
    assert taken(*answers, refusals=refusals, **changes) == []  # type: ignore[arg-type]
    return dict(refusals)


def test_question_and_marks_are_ours() -> None:
    (foreign,) = taken(RIGHT, "I guess <answer>0</answer>")
    assert foreign.group.question == asked(INDEX)
    assert [mark.solved for mark in foreign.group.marks] == [True, False]
    assert (foreign.group.origin, foreign.group.author) == ("peer", ALICE.key.hex())
    assert foreign.prompt == [len(asked(INDEX).text)]
    completion = foreign.group.completions[0]
    assert completion.tokens == [*map(ord, RIGHT), 0] and completion.logprobs == []


def test_a_group_is_cut_to_as_many_answers_as_our_own_have() -> None:
    (foreign,) = taken(*[RIGHT] * 12, limit=8)
    assert len(foreign.group.completions) == 8


def test_a_human_answer_is_marked_so() -> None:
    (foreign,) = taken(answers=[Answer(text=RIGHT, kind="human"), Answer(text=RIGHT)])
    assert foreign.group.origin == "human"
    assert [completion.kind for completion in foreign.group.completions] == ["human", "model"]


def test_a_human_answer_that_is_not_fit_leaves_a_models_group() -> None:
    (foreign,) = taken(answers=[Answer(text=f"{RIGHT} and more", kind="human"), Answer(text=RIGHT)])
    assert (foreign.group.origin, len(foreign.group.completions)) == ("peer", 1)


@pytest.mark.parametrize(
    "text",
    [
        "no answer at all",
        f"{RIGHT} and more",
        f"{RIGHT}{RIGHT}",
        f"<answer>1</answer> no: {RIGHT}",
        "steps <answer>12",
        "steps </answer>12<answer>",
        "x" * 401 + RIGHT,
        f"<q>{RIGHT}",
    ],
    ids=["none", "more", "twice", "another before", "open", "turned", "long", "special token"],
)
def test_text_that_no_own_answer_could_be_is_not_trained_on(text: str) -> None:
    assert reasons(text) == {Reason.UNFIT: 1}
    (foreign,) = taken(text, RIGHT)
    assert [completion.text for completion in foreign.group.completions] == [RIGHT]


def test_reasoning_up_to_twice_our_own_is_welcome() -> None:
    assert len(taken("x" * 380 + RIGHT)) == 1


def test_another_librarys_question_is_unverifiable() -> None:
    assert reasons(RIGHT, question=b"8 others") == {Reason.OTHER_QUESTION: 1}


def test_held_out_questions_never_train() -> None:
    index = indices(held_out=True)[0]
    assert reasons(RIGHT, index=index, question=asked(index).hash) == {Reason.HELD_OUT: 1}


def test_unknown_tasks_are_ignored() -> None:
    assert reasons(RIGHT, task=b"u" * 32) == {Reason.UNKNOWN_TASK: 1}


def test_text_that_keeps_the_examiner_busy_is_unverifiable() -> None:
    assert reasons(RIGHT, "<answer>slow</answer>", slow="<answer>slow</answer>") == {Reason.TIMED_OUT: 1}
