"""Made-up replies for the Learning page: tasks and kept answers."""

import math
import random
import tomllib
from typing import Any

from sapo_desktop.core.resources import resource
from sapo_desktop.worker.control.messages.base import Exported, Ok
from sapo_desktop.worker.control.messages.events import Answered
from sapo_desktop.worker.control.messages.replies import OwnRow, ReadingChoice, TaskInfo, Tasks, TasksRead
from sapo_desktop.worker.control.messages.requests import ListTasks, ReadTasks, SetSettings
from sapo_desktop.worker.control.messages.rollouts import ExportRollouts, GetRollouts, Rollout, Rollouts
from tests.gui.stage import StageBridge

LAST_ROUND = 900
KEPT = 900
PEERS = ("7c41b09ee2" * 6 + "aa17", "e05d9a3312" * 6 + "09bc", "19ffab6640" * 6 + "5d21")


def stage(bridge: StageBridge) -> None:
    """Fill the bridge with what the page asks for."""
    bridge.replies |= {
        ListTasks: tasks(),
        ReadTasks: read,
        GetRollouts: page,
        SetSettings: Ok(text="Saved."),
        ExportRollouts: exported,
    }


def stage_nothing(bridge: StageBridge) -> None:
    """A node that has not played a round."""
    bridge.replies |= {
        ListTasks: tasks(fresh=True),
        GetRollouts: Rollouts(items=[], more=False),
        SetSettings: Ok(text="Saved."),
    }


def tasks(*, fresh: bool = False) -> Tasks:
    """The catalogue of this release, as a node with the curriculum tells of it."""
    draw = random.Random(4)
    items = []
    for family, entry in tomllib.loads(resource("tasks.toml").read_text(encoding="utf-8")).items():
        at = draw.choice([0, 0, 1, 1, 2]) if not fresh else 0
        for place, (level, config) in enumerate(entry["levels"].items()):
            training = place in (at - 1, at) and level != "paper"
            answers = draw.randint(80, 420) if training and not fresh else 0
            items.append(
                TaskInfo(
                    family=family,
                    title=entry["title"],
                    level=level,
                    task_id="",
                    config=config,
                    grammar=entry["grammar"],
                    example="",
                    solved=draw.uniform(0.1, 0.95) if answers else None,
                    answers=answers,
                    reward=draw.uniform(0.1, 0.95) if answers else None,
                    training=training,
                )
            )
    return Tasks(items=items)


def own_task(level: str = "easy", rows: int = 50) -> TaskInfo:
    """One level of a family that the node's owner added."""
    return TaskInfo(
        family="roman_numbers",
        title="Roman numbers",
        level=level,
        task_id="",
        config={"rows": rows, "sha256": "ab" * 32},
        grammar="integer",
        example="",
        solved=None,
        answers=0,
        own=True,
    )


def read(request: ReadTasks) -> TasksRead:
    """What a file would be."""
    first = [
        OwnRow(question=f"Which number is {roman} in Roman numerals?", answer=str(value))
        for value, roman in enumerate(("I", "II", "III"), 1)
    ]
    return TasksRead(text="150 questions.", first=first, replaces=request.path.endswith("again.csv"))


def read_once_chosen(request: ReadTasks) -> TasksRead:
    """What a file would be that can be read in two ways."""
    if request.answers:
        return read(request)
    labels = {"whole": "a whole number, like 42", "decimal-comma": "a number with a decimal comma, like -1,5"}
    choices = [
        ReadingChoice(value=value, label=label, first=[OwnRow(question="1,125", answer=answer)])
        for (value, label), answer in zip(labels.items(), ("1125", "1,125"), strict=True)
    ]
    text = "eighths.csv: its answers can be read in several ways. Choose the right one."
    return TasksRead(text=text, first=[], replaces=False, asked="answers", choices=choices)


def rollout(number: int) -> Rollout:
    """The answer of this id, the same each time."""
    draw = random.Random(number)
    origin = draw.choices(("own", "peer", "human"), weights=(12, 8, 1))[0]
    author = draw.choice(PEERS) if origin == "peer" else ""
    verdict = draw.choices(
        ("solved", "wrong", "partial", "unparsed", "no_answer", "timeout", "scorer_failed"),
        weights=(50, 25, 8, 6, 6, 1, 1),
    )[0]
    solved = verdict == "solved"
    first, second = draw.randint(12, 96), draw.randint(12, 96)
    answer = math.gcd(first, second) if solved else draw.randint(13, 40)
    return Rollout(
        id=number,
        round=max(1, LAST_ROUND - (KEPT - number) // 40),
        task=draw.choice(("gcd/easy", "gcd/middle", "gcd/hard")),
        seed=str(number),
        question=f"Find the greatest common divisor of {first} and {second}. Give the number alone as your answer.",
        origin=origin,
        author=author,
        completion=f"{first} = {second} + {abs(first - second)}, and so on.\n<answer>{answer}</answer>",
        solved=solved,
        partial=1.0 if solved else 0.4 if verdict == "partial" else 0.0,
        reward=float(solved),
        advantage=0.72 if solved else (-0.6 if not author else 0.0),
        verdict=verdict,
        kind="human" if origin == "human" else "model",
    )


def page(request: GetRollouts) -> Rollouts:
    """A page of them, under the request's filters."""
    begin = KEPT if request.before is None else request.before - 1
    passing = [one for one in map(rollout, range(begin, 0, -1)) if _passes(one, request)]
    return Rollouts(items=passing[: request.limit], more=len(passing) > request.limit)


def _passes(one: Rollout, request: GetRollouts) -> bool:
    return (
        (not request.task or one.task == request.task or one.task.startswith(f"{request.task}/"))
        and (not request.origin or one.origin == request.origin)
        and (not request.verdict or one.verdict == request.verdict)
        and request.search.lower() in f"{one.question} {one.completion}".lower()
    )


def exported(request: ExportRollouts) -> Exported:
    folder, _, name = request.to.rpartition("/")
    return Exported(folder=folder, files=[name])


def answered(number: int) -> Answered:
    """Own answers as they are scored."""
    one: Any = rollout(number)
    return Answered(round=901, task=one.task, question=one.question, completion=one.completion, solved=one.solved)
