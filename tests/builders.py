"""Builders of records for tests: default values, except for what a test changes."""

from collections.abc import Iterable, Sequence

import msgspec

from sapo_desktop.core import schedule
from sapo_desktop.core.records import (
    Completion,
    EvalReport,
    Group,
    Mark,
    Origin,
    Prompt,
    Question,
    RoundReport,
    StepReport,
)
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import Ready
from sapo_desktop.engines.protocols import Loaded
from sapo_desktop.system.hardware import Hardware
from sapo_desktop.worker.control.messages.replies import Status, TaskInfo
from sapo_desktop.worker.control.messages.rollouts import Rollout
from sapo_desktop.worker.control.messages.swarm import SwarmInfo
from sapo_desktop.worker.store.manifest import RunManifest, manifest_of

QUESTION = Question(task="gcd/easy", seed=1, text="gcd of 6 and 9?", hash=b"12345678")
_ROUND = RoundReport(
    round=1,
    reward=0.25,
    solved=0.25,
    partial=0.5,
    swarm_reward=None,
    local_groups=1,
    external_groups=0,
    zero_advantage_groups=0,
    answer_tokens=90,
    truncated=0.0,
    tasks=[],
    step=None,
    generate_seconds=1.0,
    mark_seconds=0.1,
    train_seconds=0.7,
    seconds=1.8,
    checkpoint=None,
)
_STEP = StepReport(
    loss=0.0, grad_norm=1.0, clip_fraction=0.0, tokens=10, sequences=8, micro_batch=8, skipped=False, seconds=0.1
)
_LOADED = Loaded(
    model="m", parameters=9, trainable=1, device="cpu", dtype="float32", vocabulary=9, context=1024, versions={}
)
_ROLLOUT = Rollout(
    round=1, task="gcd/easy", seed="7", question="?", origin="own", author="", completion="!", solved=True, partial=1.0,
    reward=1.0, advantage=0.5, verdict="solved",
)  # fmt: skip
_STATUS = Status(
    state="idle", reason="", why=Ready(), phase="waiting", round=0, rounds_left=None, silo=True, mix="8/0",
    swarm=SwarmInfo(state="silo", reason="In silo: no network at all."), model="starter",
    model_hash="", seed=1, device="cpu", checkpoint=None, last=None, validation=None, base_validation=None,
    resume_in=None, pid=1, version="0.4.0", uptime=60.0, rounds_per_hour=240.0,
)  # fmt: skip
MACHINE = Hardware(
    system="Linux", machine="x86_64", python="3.11", cores=4, memory=8 * 2**30, memory_free=6 * 2**30,
    disk_free=10**11, gpus=[],
)  # fmt: skip


def step_report(**changes: object) -> StepReport:
    return msgspec.structs.replace(_STEP, **changes)


def loaded(**changes: object) -> Loaded:
    """What an engine says of the model that it has loaded."""
    return msgspec.structs.replace(_LOADED, **changes)


def rollout(**changes: object) -> Rollout:
    """A kept answer, own and right."""
    return msgspec.structs.replace(_ROLLOUT, **changes)


def status(**changes: object) -> Status:
    """The status of an idle node in silo."""
    return msgspec.structs.replace(_STATUS, **changes)


def task_info(family: str, level: str = "easy", **changes: object) -> TaskInfo:
    plain = TaskInfo(
        family=family, title=family.upper(), level=level, task_id="", config={}, grammar="integer", example="",
        solved=None, answers=0,
    )  # fmt: skip
    return msgspec.structs.replace(plain, **changes)


def eval_report(checkpoint: str, score: float, **changes: object) -> EvalReport:
    """A score of the validation set at the checkpoint's round."""
    plain = EvalReport(
        checkpoint=checkpoint, round=int(checkpoint) if checkpoint.isdigit() else 0, which="validation", score=score,
        partial=score, questions=2, low=0.0, high=1.0, tasks=[], solved=[], seconds=1.0,
    )  # fmt: skip
    return msgspec.structs.replace(plain, **changes)


def round_report(number: int, **changes: object) -> RoundReport:
    """The report of a round in silo, one group, a quarter solved."""
    return msgspec.structs.replace(_ROUND, round=number, **changes)


def group(
    *rewards: float, texts: Sequence[str] = (), origin: Origin = "own", author: str = "", **question: object
) -> Group:
    """An answer of two tokens for each reward, solved where that is 1; `question`: what is other than `QUESTION`'s."""
    marks = [
        Mark(solved=r == 1, partial=float(r), reward=float(r), answer="3", verdict="solved" if r == 1 else "wrong")
        for r in rewards
    ]
    completions = [
        Completion(tokens=[10 + n, 1], logprobs=[-1.0, -0.5], text=texts[n] if texts else str(n), finish="stop")
        for n in range(len(rewards))
    ]
    asked: Question = msgspec.structs.replace(QUESTION, **question)
    return Group(question=asked, completions=completions, marks=marks, origin=origin, author=author)


def run_manifest(threads: int = 1, torch: str = "2.13.0", **settings: object) -> RunManifest:
    """The conditions of some run."""
    return manifest_of(
        msgspec.convert(settings, Settings),
        seed=7,
        model_sha256="ab",
        catalogue="c1",
        engine_versions={"torch": torch},
        threads=threads,
        micro_batch=16,
        device="cpu",
        dtype="float32",
    )


def as_prompt(text: str) -> Prompt:
    """A question that is asked without examples."""
    return Prompt(question=text)


def as_prompts(texts: Sequence[str]) -> list[Prompt]:
    return [as_prompt(text) for text in texts]


def schedule_of(hours: Iterable[int]) -> str:
    """These hours of a week, as a person writes them."""
    spans = (divmod(hour, schedule.DAY_HOURS) for hour in sorted(hours))
    return "; ".join(f"{schedule.DAYS[day]} {hour}-{hour + 1}" for day, hour in spans)
