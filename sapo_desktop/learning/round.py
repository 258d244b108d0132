"""One round of SAPO, from top to bottom like Algorithm 1 of the paper (arXiv 2509.08721).

`run_round` knows what a round is, but not where it runs. The caller passes examiner and engine, the watcher gets the
progress, and the result is a record. The node handles pauses, checkpoints, history and failing hosts. Nothing here
keeps state: a round depends only on its plan and the adapter. So in silo a repeated round gives the same questions, and
a resumed run equals an uninterrupted one.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Protocol

import msgspec

from sapo_desktop.core.records import (
    Generated,
    Group,
    Mark,
    Phase,
    Prompt,
    Question,
    RoundReport,
    Sampling,
    StepReport,
    SwarmReward,
    TaskMark,
    TrainingSequence,
    WeightingName,
)
from sapo_desktop.learning.asking import Outcome
from sapo_desktop.learning.form import rewarded, share_readable
from sapo_desktop.learning.limit import Lengths, lengths_of
from sapo_desktop.learning.mixing import (
    NOTHING_KNOWN,
    MixedBatch,
    MixShare,
    advantages,
    mix_groups,
    teaches,
    training_sequences,
)
from sapo_desktop.learning.reasoning import Kept, reasoned_in, with_new
from sapo_desktop.learning.trust import Evidence
from sapo_desktop.tasks.catalogue import family_of
from sapo_desktop.tasks.service import QuestionRef
from sapo_desktop.tasks.split import held_out_side


@dataclass(frozen=True)
class EncodedGroup:
    """A group that this node's model did not answer (a person's or a peer's), and its question's token ids."""

    group: Group
    prompt: list[int]


@dataclass(frozen=True)
class RoundPlan:
    """Everything that determines a round, apart from the adapter."""

    number: int
    seed: int
    tasks: tuple[str, ...]
    """The task of each fresh question, such as `gcd/easy`; repeats are allowed."""
    share: MixShare
    answers: int
    sampling: Sampling
    strict: bool
    """Whether the reward is 1 or 0, or the scorer's own score."""
    shots: int = 0
    """Worked examples shown before each question."""
    form: float = 0.0
    """The reward of a readable answer in a round without a right one."""
    weighting: WeightingName = "guarded"
    """How external groups are weighed."""
    solve_rates: Mapping[str, float] = field(default_factory=dict)
    """This node's own smoothed share solved, by task."""
    evidence: Evidence = NOTHING_KNOWN
    """What this node knows about its own answers and its peers, for weighing theirs."""
    human: tuple[EncodedGroup, ...] = ()
    """A person's answers here since the last round, weighted like an external group."""
    again: tuple[QuestionRef, ...] = ()
    """Questions of earlier rounds to ask again, before the fresh ones."""
    model: str = ""
    """Short hash of the model that plays it."""
    trains: bool = True
    """False: answers are scored and shared, but not learned from."""


@dataclass(frozen=True)
class RoundResult:
    """The result of a round."""

    report: RoundReport
    groups: list[Group]
    advantages: list[list[float]]
    outcomes: Sequence[Outcome] = ()
    """The result of each own question, trained on or not."""
    reasoned: Kept = field(default_factory=dict)
    """Each readable own answer, by task."""
    looked: Sequence[Group] = ()
    """Peers' groups that were judged, whether they teach or not."""
    lengths: Lengths = field(default_factory=Lengths)
    """Tokens used by own answers."""
    limit: int = 0
    """Maximum tokens of an answer."""


Progress = Callable[[int, int], None]
"""Called with the number of finished answers and the total."""
Ended = Callable[[int, str], None]
"""Called now and then with a finished answer's place (question by question, answer by answer) and its text."""


def unwatched(done: int, total: int) -> None:
    """A callback that ignores progress."""


class Examiner(Protocol):
    """Sets questions and scores answers; worker/hosts/examiner.py implements it with a process."""

    async def training_questions(self, seed: int, slot: int, tasks: Sequence[str]) -> list[Question]: ...

    async def set_questions(self, items: Sequence[QuestionRef]) -> list[Question | None]: ...

    async def prompts(self, questions: Sequence[Question], shots: int) -> list[Prompt]: ...

    async def mark(
        self, questions: Sequence[Question], texts: Sequence[Sequence[str]], *, strict: bool
    ) -> list[list[Mark]]: ...


class Engine(Protocol):
    """Answers and learns; worker/hosts/engine.py implements it with a process."""

    async def generate(
        self, prompts: Sequence[Prompt], answers: int, sampling: Sampling, progress: Progress, ended: Ended
    ) -> Generated: ...

    async def step(self, batch: Sequence[TrainingSequence]) -> StepReport: ...


class Swarm(Protocol):
    """Shares and draws answers; none of its calls may delay a round."""

    async def questions(self, tasks: Sequence[str]) -> list[Question]: ...

    async def share(self, groups: Sequence[Group]) -> object: ...

    async def draw(
        self, groups: int, answers: int, *, strict: bool, teaches: Callable[[Group], bool]
    ) -> Sequence[EncodedGroup]: ...

    async def measured(self, tasks: Sequence[str]) -> SwarmReward | None: ...

    def want(self, tasks: Sequence[str], groups: int) -> None: ...


class Watcher(Protocol):
    """Gets the progress of a round. `phase` returns when the round may continue, so a paused node waits there. `clock`:
    seconds without pauses."""

    async def phase(self, phase: Phase) -> None: ...

    def clock(self) -> float: ...

    def progress(self, phase: Phase, done: int, total: int) -> None: ...

    def ended(self, question: Question, text: str) -> None: ...

    def answered(self, groups: Sequence[Group]) -> None: ...


Ahead = Callable[[RoundResult], Awaitable[None]]
"""Called before the step with the result without one, from which the next round's prompts follow."""


async def run_round(
    plan: RoundPlan,
    examiner: Examiner,
    engine: Engine,
    watcher: Watcher,
    swarm: Swarm | None = None,
    ahead: Ahead | None = None,
) -> RoundResult:
    """Play one round: draw, questions, answers, scores, share, mix, step. Without a swarm: in silo."""
    course = _Course(watcher)

    # 4a. Draw others' groups, recreated and scored here, and drop those with nothing to teach before J is drawn, as in
    # the paper. This comes before answering, because each such group replaces one of ours.
    external: Sequence[EncodedGroup] = ()
    sieve = _Sieve(plan)
    if swarm is not None and plan.trains:
        await course.enter("draw")
        external = await swarm.draw(plan.share.external, plan.answers, strict=plan.strict, teaches=sieve)
        plan = _without_spared(plan, len(external))

    await course.enter("questions")
    questions = await sample_batch(plan, examiner, swarm)  # 1.

    await course.enter("generate")
    prompts = await examiner.prompts(questions, plan.shots)
    answered = await _generate(plan, engine, watcher, questions, prompts)  # 2. L answers to each

    await course.enter("mark")
    questions, answered, too_long = _that_fit(questions, answered)
    own = await _score(plan, examiner, questions, answered)  # 5a. with the local reward model
    watcher.answered(own)  # before anything else happens

    # 3. Share all own groups, whatever their scores.
    if swarm is not None:
        await course.enter("share")
        await swarm.share(own)
    course.leave()

    # 4b. Mix I own groups, those that teach first, with J external ones.
    mixed = mix_groups(own, [one.group for one in external], plan.share, [one.group for one in plan.human])
    reasoned = reasoned_in(own)
    weights = _advantages(plan, mixed, reasoned)

    played = _Played(plan, own, too_long, mixed, weights, reasoned, sieve, silo=swarm is None)
    step = None
    if ahead is not None:
        await ahead(played.result(course.report()))
    if plan.trains:
        await course.enter("train")
        ids = _prompt_ids(plan, mixed, answered, external)
        batch = training_sequences(mixed.groups, ids, weights, plan.weighting, off_policy=answered.off_policy)
        step = await engine.step(batch)  # 5b. Update the policy.
        course.leave()

    others = await swarm.measured([group.question.task for group in own]) if swarm else None
    return played.result(course.report(), step, others and beside_own(others, own))


def _without_spared(plan: RoundPlan, drawn: int) -> RoundPlan:
    """The plan without the questions that `drawn` groups of others stand for; I own ones are answered whatever there is
    of theirs, so that there is something to share."""
    planned = len(plan.again) + len(plan.tasks)
    answered = max(min(planned, plan.share.local), planned - drawn)
    again = plan.again[: len(plan.again) * answered // max(planned, 1)]
    return dataclasses.replace(plan, again=again, tasks=plan.tasks[: answered - len(again)])


async def sample_batch(plan: RoundPlan, examiner: Examiner, swarm: Swarm | None) -> list[Question]:
    """In silo the round is the slot: questions follow from seed and round alone. In the swarm they follow from our key,
    the time and a number used once, so that peers that draw our answers can ask them too. Those asked again come first;
    one that cannot be made any more, or is another one now and held out, is left out."""
    made = await examiner.set_questions(plan.again) if plan.again else []
    again = [one for one in made if one is not None and not held_out_side(family_of(one.task), one.text)]
    if swarm is None:
        return [*again, *await examiner.training_questions(plan.seed, plan.number, plan.tasks)]
    return [*again, *await swarm.questions(plan.tasks)]


async def _generate(
    plan: RoundPlan, engine: Engine, watcher: Watcher, questions: Sequence[Question], prompts: Sequence[Prompt]
) -> Generated:
    return await engine.generate(
        prompts,
        plan.answers,
        plan.sampling,
        lambda done, total: watcher.progress("generate", done, total),
        lambda place, text: watcher.ended(questions[place // plan.answers], text),
    )


def _that_fit(questions: Sequence[Question], answered: Generated) -> tuple[list[Question], Generated, list[Question]]:
    """What was answered, and the questions that fill the model's context: these teach nothing, and nobody could learn
    from their empty answers."""
    fit = [not all(one.had_no_room for one in row) for row in answered.completions]
    kept = msgspec.structs.replace(
        answered,
        prompt_tokens=[*compress(answered.prompt_tokens, fit)],
        completions=[*compress(answered.completions, fit)],
    )
    too_long = [question for question, fits in zip(questions, fit, strict=True) if not fits]
    return [*compress(questions, fit)], kept, too_long


async def _score(
    plan: RoundPlan, examiner: Examiner, questions: Sequence[Question], answered: Generated
) -> list[Group]:
    """A group for each question, with its answers and their scores."""
    texts = [[completion.text for completion in row] for row in answered.completions]
    marks = rewarded(await examiner.mark(questions, texts, strict=plan.strict), plan.form)
    return [
        Group(question=question, completions=completions, marks=row)
        for question, completions, row in zip(questions, answered.completions, marks, strict=True)
    ]


def _outcome(group: Group) -> Outcome:
    question = group.question
    return Outcome(task=question.task, seed=question.seed, solved=_mark_means(group.marks)["solved"])


def _advantages(plan: RoundPlan, mixed: MixedBatch, reasoned: Kept) -> list[list[float]]:
    """Of each answer of each group; 0 where nothing is learned. `reasoned`: this round's own answers, which already
    count: in the first round nothing else is known."""
    evidence = dataclasses.replace(plan.evidence, reasoned=with_new(plan.evidence.reasoned, reasoned))
    found = advantages(mixed, plan.weighting, plan.solve_rates, evidence)
    return found if plan.trains else [[0.0] * len(row) for row in found]


def _prompt_ids(
    plan: RoundPlan, mixed: MixedBatch, answered: Generated, external: Sequence[EncodedGroup]
) -> list[list[int]]:
    """The token ids of each group's question, in the order of the mixed batch."""
    return [
        *(answered.prompt_tokens[place] for place in mixed.places),
        *(one.prompt for one in external[: mixed.external]),
        *(one.prompt for one in plan.human),
    ]


class _Course:
    """A round's phase, and the seconds of its phases by the watcher's clock, which stops during a pause."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._began = self._since = watcher.clock()
        self._phase: Phase | None = None
        self._seconds: dict[Phase | None, float] = {}

    async def enter(self, phase: Phase) -> None:
        """Begin the phase as soon as the watcher allows."""
        await self._watcher.phase(phase)
        self.leave()
        self._phase = phase

    def leave(self) -> None:
        """End the phase."""
        now = self._watcher.clock()
        self._seconds[self._phase] = now - self._since
        self._phase, self._since = None, now

    def report(self) -> dict[str, float]:
        """Seconds by phase, with a RoundReport's names, until the end of the last phase."""
        phases: tuple[Phase, ...] = ("generate", "mark", "share", "draw", "train")
        of_phases = {f"{phase}_seconds": self._seconds.get(phase, 0.0) for phase in phases}
        return of_phases | {"seconds": self._since - self._began}


class _Sieve:
    """Whether a peer's group has anything to teach in this round; counts those that do not."""

    def __init__(self, plan: RoundPlan) -> None:
        self._plan = plan
        self.dropped = 0
        self.looked: list[Group] = []

    def __call__(self, group: Group) -> bool:
        passes = teaches(group, self._plan.weighting, self._plan.solve_rates, self._plan.evidence)
        self.dropped += not passes
        self.looked.append(group)
        return passes


@dataclass(frozen=True)
class _Played:
    """A round before its step."""

    plan: RoundPlan
    own: list[Group]
    too_long: Sequence[Question]
    mixed: MixedBatch
    weights: list[list[float]]
    reasoned: Kept
    sieve: _Sieve
    silo: bool

    def result(
        self, seconds: Mapping[str, float], step: StepReport | None = None, swarm_reward: SwarmReward | None = None
    ) -> RoundResult:
        """The round's result. `seconds`: by phase, with a RoundReport's names."""
        plan, own, mixed = self.plan, self.own, self.mixed
        report = RoundReport(
            round=plan.number,
            **_mark_means([mark for group in own for mark in group.marks]),
            swarm_reward=swarm_reward,
            local_groups=mixed.local,
            external_groups=mixed.external,
            zero_advantage_groups=sum(not any(row) for row in self.weights),
            answer_tokens=sum(len(c.tokens) for group in own for c in group.completions),
            truncated=_share_truncated(own),
            tasks=task_marks(own),
            step=step,
            **seconds,
            silo=self.silo,
            mix=str(plan.share),
            weighting=plan.weighting,
            checkpoint=None,
            note=_note(mixed, len(plan.human), step, any(map(any, self.weights)), len(self.too_long)),
            external_dropped=self.sieve.dropped,
            readable=share_readable(own),
            model=plan.model,
        )
        unasked = [Outcome(task=one.task, seed=one.seed, solved=0.0) for one in self.too_long]
        return RoundResult(
            report=report,
            groups=mixed.groups,
            advantages=self.weights,
            outcomes=[*map(_outcome, own), *unasked],
            reasoned=self.reasoned,
            looked=self.sieve.looked,
            lengths=lengths_of(own),
            limit=plan.sampling.max_tokens,
        )


def round_seed(seed: int, number: int, purpose: str) -> int:
    """A seed (31 bits) for one purpose of one round; no random state has to be kept between rounds."""
    digest = hashlib.sha256(f"sapo/round/{seed}/{number}/{purpose}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def task_marks(groups: Sequence[Group]) -> list[TaskMark]:
    """Mean scores per task, in the order in which tasks first appear."""
    by_task: dict[str, list[Mark]] = {}
    for group in groups:
        by_task.setdefault(group.question.task, []).extend(group.marks)
    return [TaskMark(task=task, answers=len(marks), **_mark_means(marks)) for task, marks in by_task.items() if marks]


def beside_own(others: SwarmReward, own: Sequence[Group]) -> SwarmReward:
    """Peers' scores with the share solved here, for the tasks on which peers were measured."""
    found = [mark.solved for mark in task_marks(own) if mark.task in others.tasks]
    return msgspec.structs.replace(others, mine=sum(found) / len(found) if found else None)


def _mark_means(marks: Sequence[Mark]) -> dict[str, float]:
    count = max(len(marks), 1)
    return {
        "solved": sum(mark.solved for mark in marks) / count,
        "partial": sum(mark.partial for mark in marks) / count,
        "reward": sum(mark.reward for mark in marks) / count,
    }


def _share_truncated(groups: Sequence[Group]) -> float:
    completions = [completion for group in groups for completion in group.completions]
    return sum(completion.finish == "length" for completion in completions) / max(len(completions), 1)


def _note(mixed: MixedBatch, human: int, step: StepReport | None, could_teach: bool, too_long: int) -> str:
    notes = []
    if too_long:
        notes.append(f"{too_long} {'question' if too_long == 1 else 'questions'} too long for the model, left out")
    if human:
        notes.append(f"{human} {'group' if human == 1 else 'groups'} with a person's answer")
    if mixed.filled_up:
        own, others = ("group", "an external one") if mixed.filled_up == 1 else ("groups", "external ones")
        notes.append(f"{mixed.filled_up} own {own} filled up for {others}")
    if step is None:
        notes.append("answers only: nothing was trained")
    elif step.skipped and could_teach:
        notes.append("only answers of others could teach, and this model would hardly write them: no step")
    elif step.skipped:
        notes.append("no group had both solved and unsolved answers: no step")
    return "; ".join(notes)
