"""What a node without a process replies, and the rounds that it plays."""

import msgspec

from sapo_desktop.core.link.requests import Message
from sapo_desktop.core.records import EvalReport, Gain, Mark, RoundReport, TaskMark
from sapo_desktop.view.curves import COLUMNS
from sapo_desktop.worker.control.messages import replies
from sapo_desktop.worker.control.messages.asking import Ask, Asked, Tried, TryTask
from sapo_desktop.worker.control.messages.base import Ok
from sapo_desktop.worker.control.messages.facts import Examine, Facts
from sapo_desktop.worker.control.messages.requests import (
    AddTasks,
    AdmitPeer,
    GetComparisons,
    GetCurve,
    GetInvite,
    GetSources,
    GiveAnswer,
    JoinSwarm,
    ListCheckpoints,
    ListTasks,
    RefuseJoin,
    RemoveTasks,
)
from tests import builders
from tests.builders import round_report

FAMILIES = ("gcd", "lcm", "count_bits", "spell_backward", "basic_arithmetic", "base_conversion")
LINK = f"sapo://join?swarm={'5a' * 32}&peer=wss://a.example:8765&admission={'0f' * 72}"
HOSTILE = "48 = 1*36\x1b[2J\x1b]0;owned\x07 + 12\u202e [red]12[/red]\x00"


def scripted_round(number: int, solved: float = 0.25) -> RoundReport:
    """A round of eight groups, of every family one task."""
    tasks = [
        TaskMark(task=f"{family}/easy", answers=8, solved=solved, partial=solved, reward=solved) for family in FAMILIES
    ]
    return round_report(
        number,
        reward=solved,
        solved=solved,
        partial=solved + 0.05,
        local_groups=8,
        zero_advantage_groups=1,
        answer_tokens=2000,
        tasks=tasks,
        seconds=2.9,
        checkpoint=number,
    )


def eval_report(checkpoint: str, number: int, score: float, which: str = "validation") -> EvalReport:
    marks = [TaskMark(task="gcd/easy", answers=200, solved=score, partial=score + 0.06, reward=score)]
    about = {"round": number, "which": which, "questions": 200, "tasks": marks, "seconds": 1.5}
    return builders.eval_report(checkpoint, score, partial=score + 0.06, low=score - 0.05, high=score + 0.05, **about)


def _checkpoints() -> list[replies.CheckpointInfo]:
    base = replies.CheckpointInfo(number=0, round=0, created=0.0, bytes=0, validation=0.21, best=False, last=False)
    last = msgspec.structs.replace(
        base, number=12, round=12, created=1_700_000_000.0, bytes=3_600_000, validation=0.27, best=True, last=True
    )
    return [base, last]


def _tasks() -> list[replies.TaskInfo]:
    return [
        builders.task_info(
            family,
            level,
            title=f"Title of {family}",
            config={"min_numbers": 2, "max_value": 100},
            example="Find the greatest common divisor of 48 and 36.",
            solved=0.5,
            answers=320,
        )
        for family in FAMILIES
        for level in ("easy", "middle", "hard")
    ]


def posed(task: str, shared: bool) -> replies.PosedQuestion:
    return replies.PosedQuestion(
        id="0123456789abcdef",
        task=task,
        title="Title of gcd",
        question=f"Find the greatest common divisor of 48 and 36.\n{HOSTILE}",
        form="a whole number, like 42",
        shared=shared,
        where="Your answer is published under this node's key." if shared else "Your answer stays on this computer.",
        seconds=900.0,
    )


def human_marked(request: GiveAnswer, shared: bool) -> replies.HumanMarked:
    solved = request.answer.strip() == "12"
    return replies.HumanMarked(
        task="gcd/easy",
        question="Find the greatest common divisor of 48 and 36.",
        completion=f"<answer>{request.answer.strip()}</answer>",
        mark=Mark(
            solved=solved,
            partial=float(solved),
            reward=float(solved),
            answer=request.answer.strip(),
            verdict="solved" if solved else "wrong",
        ),
        truth="12",
        model_solved=2,
        model_answers=7,
        shared=shared,
        learned=True,
        note="",
    )


def tried(request: TryTask) -> Tried:
    return Tried(
        task=request.task,
        seed=request.seed if request.seed is not None else 7,
        question="Find the greatest common divisor of 48 and 36.",
        completion=request.answer if request.answer is not None else HOSTILE,
        mark=Mark(
            solved=(solved := request.answer == "12"),
            partial=0.0,
            reward=0.0,
            answer=request.answer,
            verdict="solved" if solved else "wrong",
        ),
        truth="12",
    )


def _comparisons() -> replies.Comparisons:
    ours, other = (
        replies.Compared(hash=name, name=name, base=base, now=now)
        for name, base, now in (("smollm2-135m", 0.03, 0.22), ("starter", None, 0.4))
    )
    gain = Gain(value=-0.18, low=-0.26, high=-0.1)
    one = replies.Comparison(questions=120, which="test", ours=ours, other=other, difference=gain)
    return replies.Comparisons([one])


FIXED: dict[type, Message] = {
    GetComparisons: _comparisons(),
    GetCurve: replies.Curve(**{name: [] for name in COLUMNS}),  # type: ignore[arg-type]
    GetSources: replies.Sources(
        items=[
            replies.Source(task="gcd/easy", origin="own", author="", groups=30, answers=240, weight=30.0),
            replies.Source(task="lcm/easy", origin="peer", author="ab" * 32, groups=9, answers=72, weight=10.0),
        ]
    ),
    ListCheckpoints: replies.Checkpoints(items=_checkpoints()),
    Ask: Asked(text=HOSTILE, tokens=12, seconds=0.2),
    ListTasks: replies.Tasks(items=_tasks(), left_out=["bad.csv: It is bad."]),
    AddTasks: Ok(text="Done."),
    RemoveTasks: Ok(text="Done."),
    RefuseJoin: Ok(text="Refused."),
    AdmitPeer: replies.InviteIs(link=LINK),
    GetInvite: replies.InviteIs(link=LINK),
    JoinSwarm: Ok(text="This node will join the private swarm."),
    Examine: Facts(values={"torch": "2.13.0", "device": "cpu"}),
}
"""What it always says to some requests."""
