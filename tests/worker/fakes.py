"""Small stand-ins for the two hosts and a client that watches: deterministic, without a process, a model or a clock."""

import asyncio
import dataclasses
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from sapo_desktop.core.errors import HostDied, SapoError
from sapo_desktop.core.records import (
    Completion,
    Confined,
    Generated,
    Group,
    Mark,
    Phase,
    Prompt,
    Question,
    Sampling,
    StepReport,
    TrainerSettings,
    TrainingSequence,
)
from sapo_desktop.engines.protocols import Loaded
from sapo_desktop.learning.round import Ended, Progress, unwatched
from sapo_desktop.models.files.folder import ModelFolder
from sapo_desktop.system.hardware import default_threads
from sapo_desktop.tasks.service import QuestionRef
from sapo_desktop.worker.hosts.engine import Spoken
from sapo_desktop.worker.hosts.trainer import EnginePlan
from tests.builders import as_prompts, step_report


class FakeHost:
    """Counts what is done to it."""

    def __init__(self) -> None:
        self.suspended = False
        self.is_closed = False
        self.cancels = 0
        self.restarts = 0
        self.pid: int | None = 1
        self.versions: dict[str, str] = {}
        self.confined: Confined | None = None

    def suspend(self) -> None:
        self.suspended = True

    def resume(self) -> None:
        self.suspended = False

    async def cancel(self) -> None:
        self.cancels += 1

    async def stop(self) -> None:
        self.pid = None

    async def close(self) -> None:
        self.is_closed = True
        await self.stop()


class FakeExaminer:
    """Asks "task seed" and finds an answer solved when it says `right`."""

    def __init__(self) -> None:
        self.host = FakeHost()
        self.asked: list[tuple[int, int, tuple[str, ...]]] = []
        self.known_ids: dict[str, bytes] = {}

    async def training_questions(self, seed: int, slot: int, tasks: Sequence[str]) -> list[Question]:
        self.asked.append((seed, slot, tuple(tasks)))
        return [question(task, seed * 1000 + slot * 10 + place) for place, task in enumerate(tasks)]

    async def set_questions(self, items: Sequence[QuestionRef]) -> list[Question | None]:
        return [question(item.task, item.seed) for item in items]

    async def prompts(self, questions: Sequence[Question], shots: int) -> list[Prompt]:
        return as_prompts([question.text for question in questions])

    async def mark(
        self, questions: Sequence[Question], texts: Sequence[Sequence[str]], *, strict: bool
    ) -> list[list[Mark]]:
        return [[mark(text == "right", strict) for text in row] for row in texts]

    async def held_out(self, which: str, secret: bytes) -> list[Question]:
        return [question("gcd/easy", place) for place in range(8)]


class FakeEngine:
    """Answers the first `skill` of each question's answers rightly; a step makes it better by one."""

    def __init__(self, skill: int = 1) -> None:
        self.host = FakeHost()
        self.skill = skill
        self.batches: list[list[TrainingSequence]] = []
        self.steps = 0
        self.errors: list[SapoError] = []
        self.hold: asyncio.Event | None = None
        self.restoring: asyncio.Event | None = None
        self.stepping: asyncio.Event | None = None
        self.loaded: Loaded | None = None
        self.on_card = False
        self.card_refused = ""
        self.plan = engine_plan(threads=default_threads(), parameters=10**9)
        self.rates: list[float] = []
        self.threads: list[int] = []
        self.parameters = 10**9
        self.busy = False
        self.held = 0
        self.trains = True
        self.can_change_model = True
        self.answers_ahead = True
        self.ahead: list[tuple[list[str], int, Sampling]] = []
        """The prompts to answer during a step, and those of the next round."""
        self.asked: list[tuple[list[str], int, Sampling]] = []
        self.off_policy = False
        """Whether answers come from another sampler than the trainer's model."""

    @property
    def running(self) -> bool:
        return self.host.pid is not None

    @property
    def hosts(self) -> list[FakeHost]:
        return [self.host]

    def use_model(self, model: ModelFolder, trainer: TrainerSettings) -> None:
        self.plan = dataclasses.replace(self.plan, model=model.path, trainer=trainer, parameters=model.parameters)

    async def stop(self) -> None:
        await self.host.stop()

    async def close(self) -> None:
        await self.host.close()

    async def generate(
        self,
        prompts: Sequence[Prompt],
        answers: int,
        sampling: Sampling,
        progress: Progress = unwatched,
        ended: Ended | None = None,
    ) -> Generated:
        questions = [prompt.question for prompt in prompts]
        self.asked.append((questions, answers, sampling))
        if ended is not None:
            ended(len(questions) * answers - 1, "wrong")
        if self.hold is not None:
            await self.hold.wait()
        if self.errors:
            raise self.errors.pop(0)
        progress(len(questions) * answers, len(questions) * answers)
        return msgspec.structs.replace(generated(questions, answers, self.skill), off_policy=self.off_policy)

    def answer_ahead(self, prompts: Sequence[Prompt], answers: int, sampling: Sampling) -> None:
        self.ahead.append(([prompt.question for prompt in prompts], answers, sampling))

    async def generate_with(
        self,
        checkpoint: Path | None,
        prompts: Sequence[Prompt],
        sampling: Sampling,
        progress: Progress = unwatched,
        *,
        live: bool = False,
        spoken: Spoken | None = None,
        urgent: bool = False,
    ) -> Generated:
        if self.hold is not None:
            await self.hold.wait()
        if self.host.pid is None:
            raise HostDied("The engine is not running.")
        skill = self.skill if live else int((checkpoint / "skill").read_text()) if checkpoint else 1
        made = [generated([prompt.question], 1, place < skill) for place, prompt in enumerate(prompts)]
        if spoken is not None:
            text = made[0].completions[0][0].text
            for length in range(1, len(text) + 1):
                spoken(text[:length], length)
        return Generated(
            prompt_tokens=[one.prompt_tokens[0] for one in made],
            completions=[one.completions[0] for one in made],
            seconds=0.1,
            batch=8,
        )

    async def step(self, batch: Sequence[TrainingSequence]) -> StepReport:
        self.batches.append(list(batch))
        skipped = not any(sequence.advantage for sequence in batch)
        self.skill += not skipped
        self.steps += not skipped
        if self.stepping is not None:
            await self.stepping.wait()
        return step_report(skipped=skipped, micro_batch=self.plan.trainer.micro_batch)

    async def save(self, folder: Path) -> None:
        if self.host.pid is None:
            raise HostDied("The engine is not running.")
        (folder / "skill").write_text(str(self.skill))
        (folder / "steps").write_text(str(self.steps))

    async def restore(self, folder: Path | None, *, weights_only: bool = False) -> None:
        self.skill = int((folder / "skill").read_text()) if folder else 1
        self.steps = int((folder / "steps").read_text()) if folder else 0
        if self.restoring is not None:
            await self.restoring.wait()

    async def restart(self, checkpoint: Path | None) -> None:
        self.host.restarts += 1
        self.host.pid = 1
        await self.restore(checkpoint)

    async def configure(self, *, learning_rate: float | None = None, threads: int | None = None) -> None:
        if learning_rate is not None:
            self.rates.append(learning_rate)
            self.plan.trainer = msgspec.structs.replace(self.plan.trainer, learning_rate=learning_rate)
        if threads is not None:
            self.threads.append(threads)
            self.plan.threads = threads


class FakeWatcher:
    """Writes down what a round tells."""

    def __init__(self) -> None:
        self.phases: list[Phase] = []
        self.groups: list[Group] = []
        self.progressed: list[tuple[Phase, int, int]] = []
        self.early: list[tuple[str, str]] = []

    async def phase(self, phase: Phase) -> None:
        self.phases.append(phase)

    def progress(self, phase: Phase, done: int, total: int) -> None:
        self.progressed.append((phase, done, total))

    def ended(self, question: Question, text: str) -> None:
        self.early.append((question.text, text))

    def clock(self) -> float:
        return time.perf_counter()

    def answered(self, groups: Sequence[Group]) -> None:
        self.groups.extend(groups)


def engine_plan(**changes: Any) -> EnginePlan:
    """A plan for one thread of the processor, but for what is other."""
    return dataclasses.replace(EnginePlan(Path("model"), TrainerSettings(), threads=1, device="cpu"), **changes)


def question(task: str, seed: int) -> Question:
    text = f"{task} {seed}"
    return Question(task=task, seed=seed, text=text, hash=text.encode()[:8].ljust(8))


def mark(solved: bool, strict: bool = True) -> Mark:
    partial = 1.0 if solved else 0.1
    reward = float(solved) if strict else partial
    return Mark(solved=solved, partial=partial, reward=reward, answer=None, verdict="solved" if solved else "wrong")


def answered(text: str, tokens: Sequence[int] = (1, 2)) -> Completion:
    return Completion(tokens=list(tokens), logprobs=[-0.5] * len(tokens), text=text, finish="stop")


def generated(questions: Sequence[str | Prompt], answers: int, right: int) -> Generated:
    """The first `right` of each question's answers say `right`, the rest are cut at the limit."""
    right_one, wrong = answered("right", [2, 3]), Completion(tokens=[4], logprobs=[-1.0], text="wrong", finish="length")
    rows = [[right_one] * right + [wrong] * (answers - right) for _ in questions]
    return Generated(
        prompt_tokens=[[len(one if isinstance(one, str) else one.question)] for one in questions],
        completions=rows,
        seconds=0.1,
        batch=8,
    )
