"""Replies of a worker that answers questions, and a bridge that answers late."""

import random

from sapo_desktop.core.records import Mark
from sapo_desktop.worker.control.messages.asking import Ask, Asked, QuestionSet, SetQuestion, Tried, TryTask
from sapo_desktop.worker.control.messages.replies import Tasks
from sapo_desktop.worker.control.messages.requests import ListTasks
from sapo_desktop.worker.control.messages.serving import GetServer, ServerIs
from tests.builders import task_info
from tests.gui.stage import StageBridge

FAMILIES = {
    "basic_arithmetic": "Basic arithmetic",
    "binary_matrix": "Distances in a matrix",
    "calendar_arithmetic": "Calendar arithmetic",
    "count_bits": "Count the bits",
    "gcd": "Greatest common divisor",
    "letter_counting": "Count a letter",
    "propositional_logic": "What follows from it",
    "spell_backward": "Spell backward",
}
QUESTION = 'How many times does the letter "l" appear in the text: "free the witness personality"?'
BASE = "The word free has no l.\nThe word personality has one l.\nThere are 2 in all.\n<answer>2</answer>"
LAST = "free: 0\nthe: 0\nwitness: 0\npersonality: 1\n0 + 0 + 0 + 1 = 1\n<answer>1</answer>"


def tasks() -> Tasks:
    draw = random.Random(4)
    return Tasks(
        items=[
            task_info(
                family,
                level,
                title=title,
                solved=draw.uniform(0.1, 0.95) if level == "easy" else None,
                answers=320 if level == "easy" else 0,
                training=level == "easy",
            )
            for family, title in FAMILIES.items()
            for level in ("easy", "middle", "hard")
        ]
    )


def mark(solved: bool, answer: str | None = "1") -> Mark:
    share = 1.0 if solved else 0.0
    return Mark(
        solved=solved, partial=share, reward=share, answer=answer, verdict="solved" if solved else "wrong"
    )  # fmt: skip


def answer(request: Ask) -> Asked:
    text = BASE if request.checkpoint == "base" else LAST
    said = "".join(f"<q>{turn.question}<a>{turn.answer}<eos>" for turn in request.turns)
    return Asked(
        text=text,
        tokens=len(text) // 3,
        seconds=1.9 if request.checkpoint == "base" else 2.2,
        prompt=f"{said}<q>{request.question}<a>",
        prompt_tokens=40 * (1 + len(request.turns)),
        context=512,
    )


def marked(request: TryTask) -> Tried:
    return Tried(
        task=request.task,
        seed=request.seed or 0,
        question=QUESTION,
        completion=request.answer or "",
        mark=mark(request.answer == LAST, "1" if request.answer == LAST else "2"),
        truth="1",
    )


def question(request: SetQuestion) -> QuestionSet:
    return QuestionSet(task=request.task, seed=2**62 + 1, question=QUESTION, example="a whole number, like 42")


def stage(bridge: StageBridge) -> None:
    """A worker that answers at once."""
    server = ServerIs(url="http://127.0.0.1:8766/v1", key="sk-sapo-made-up", kept=True)
    bridge.replies |= {ListTasks: tasks(), SetQuestion: question, Ask: answer, TryTask: marked, GetServer: server}
