import asyncio
import math
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.records import (
    Completion,
    Generated,
    Group,
    Prompt,
    Question,
    Sampling,
    StepReport,
    SwarmReward,
    TrainingSequence,
)
from sapo_desktop.learning.mixing import MixShare
from sapo_desktop.learning.round import EncodedGroup, RoundPlan, RoundResult, beside_own, round_seed, run_round
from sapo_desktop.tasks.service import QuestionRef
from sapo_desktop.tasks.split import held_out_side
from tests import builders
from tests.worker.fakes import FakeEngine, FakeExaminer, FakeWatcher, generated, mark, question

MEASURED = SwarmReward(value=0.5, low=0.4, high=0.6, peers=3, tasks={"gcd/easy": 0.5})


def plan(**changes: object) -> RoundPlan:
    values: dict[str, object] = {
        "number": 7,
        "seed": 3,
        "tasks": ("gcd/easy", "lcm/easy", "gcd/easy"),
        "share": MixShare(3, 0),
        "answers": 4,
        "sampling": Sampling(),
        "strict": True,
    }
    return RoundPlan(**(values | changes))  # type: ignore[arg-type]


def play(
    engine: FakeEngine, watcher: FakeWatcher | None = None, swarm: "FakeSwarm | None" = None, **changes: object
) -> RoundResult:
    return asyncio.run(run_round(plan(**changes), FakeExaminer(), engine, watcher or FakeWatcher(), swarm))


def test_a_question_that_is_held_out_by_now_is_not_asked_again() -> None:
    """A file of own tasks may have changed since: under the same seed it asks something else."""
    sides = {held_out_side("gcd", question("gcd/easy", seed).text): seed for seed in range(100)}
    again = tuple(QuestionRef(task="gcd/easy", seed=seed) for seed in sides.values())
    played = play(FakeEngine(), again=again, tasks=("lcm/easy",), share=MixShare(2, 0))
    asked = [group.question.seed for group in played.groups if group.question.task == "gcd/easy"]
    assert len(sides) == 2 and asked == [sides[False]]


class FakeSwarm:
    """Has so many groups of a peer that solved everything."""

    def __init__(self, groups: int) -> None:
        self.groups = groups
        self.shared: list[Group] = []
        self.dull = 0
        """Groups that solved nothing, which it finds first."""

    async def questions(self, tasks: Sequence[str]) -> list[Question]:
        return [question(task, 70 + place) for place, task in enumerate(tasks)]

    async def share(self, groups: Sequence[Group]) -> None:
        self.shared.extend(groups)

    async def draw(
        self, groups: int, answers: int, *, strict: bool, teaches: Callable[[Group], bool]
    ) -> list[EncodedGroup]:
        completion = Completion(tokens=[2, 3], logprobs=[], text="right", finish="stop")
        drawn = Group(
            question=question("gcd/easy", 99),
            completions=[completion] * answers,
            marks=[mark(True)] * answers,
            origin="peer",
            author="ab" * 32,
        )
        wrong = msgspec.structs.replace(drawn, marks=[mark(False)] * answers)
        assert teaches(drawn) and not any(teaches(wrong) for _ in range(self.dull))
        return [EncodedGroup(drawn, [7, 7])] * min(groups, self.groups)

    async def measured(self, tasks: Sequence[str]) -> SwarmReward:
        return MEASURED

    def want(self, tasks: Sequence[str], groups: int) -> None:
        self.wanted = (tuple(tasks), groups)


def test_a_round_goes_through_its_phases_in_order() -> None:
    watcher = FakeWatcher()
    play(FakeEngine(), watcher)
    assert watcher.phases == ["questions", "generate", "mark", "train"]
    assert watcher.progressed == [("generate", 12, 12)]
    assert [group.question.text for group in watcher.groups] == ["gcd/easy 3070", "lcm/easy 3071", "gcd/easy 3072"]


class Short(FakeEngine):
    """Has no room for an answer to questions of these tasks."""

    def __init__(self, *tasks: str) -> None:
        super().__init__()
        self.too_long = tasks

    async def generate(self, prompts: Sequence[Prompt], answers: int, *more: Any) -> Generated:
        made = await super().generate(prompts, answers, *more)
        nothing = Completion(tokens=[], logprobs=[], text="", finish="length")
        rows = zip((prompt.question for prompt in prompts), made.completions, strict=True)
        return msgspec.structs.replace(
            made, completions=[[nothing] * answers if text.startswith(self.too_long) else row for text, row in rows]
        )


def test_a_question_that_fills_the_context_is_left_out_and_said() -> None:
    engine, swarm, watcher = Short("lcm"), FakeSwarm(0), FakeWatcher()
    played = play(engine, watcher, swarm)
    assert (
        [group.question.task for group in watcher.groups]
        == ["gcd/easy"] * 2
        == [group.question.task for group in swarm.shared]
    )
    assert (played.report.solved, [one.task for one in played.report.tasks]) == (0.25, ["gcd/easy"])
    assert played.report.note == "1 question too long for the model, left out"
    assert [(one.task, one.solved) for one in played.outcomes] == [("gcd/easy", 0.25)] * 2 + [("lcm/easy", 0.0)]
    assert len(engine.batches[0]) == 8


def test_a_round_of_nothing_but_long_questions_ends() -> None:
    played = play(Short("gcd", "lcm"))
    assert (played.report.local_groups, played.report.reward, len(played.outcomes)) == (0, 0.0, 3)
    assert "3 questions too long for the model, left out" in played.report.note


def test_the_report_sums_up_own_answers() -> None:
    report = play(FakeEngine(skill=1)).report
    assert (report.solved, report.reward) == (0.25, 0.25)
    assert report.partial == pytest.approx((1 + 3 * 0.1) / 4)
    assert report.truncated == 0.75
    assert report.answer_tokens == 3 * (2 + 3)
    assert (report.local_groups, report.external_groups, report.zero_advantage_groups) == (3, 0, 0)
    assert [(mark.task, mark.answers, mark.solved) for mark in report.tasks] == [
        ("gcd/easy", 8, 0.25),
        ("lcm/easy", 4, 0.25),
    ]
    assert report.swarm_reward is None


def test_the_partial_reward_reaches_the_trainer_where_it_is_asked_for() -> None:
    assert play(FakeEngine(skill=1), strict=False).report.reward == pytest.approx(0.325)


def test_the_trainer_gets_the_group_advantages_of_the_sampled_tokens() -> None:
    engine = FakeEngine(skill=1)
    result = play(engine)
    (batch,) = engine.batches
    assert [sequence.tokens for sequence in batch[:4]] == [[2, 3], [4], [4], [4]]
    # One of four solved: (1 - 1/4) / sqrt(3/16) = sqrt(3), the others -1/sqrt(3).
    assert [s.advantage for s in batch[:4]] == pytest.approx([math.sqrt(3)] + [-1 / math.sqrt(3)] * 3)
    assert result.advantages[0] == [s.advantage for s in batch[:4]]
    assert batch[4].prompt == [len("lcm/easy 3071")]


def test_what_this_node_solves_reaches_the_weighting() -> None:
    """1 - 0.4 = 0.6. Two own groups of five tokens, and the external one has four right answers of two tokens each:
    scaled by 5/8."""
    swarm = FakeSwarm(groups=1)
    result = play(FakeEngine(), swarm=swarm, share=MixShare(2, 1), solve_rates={"gcd/easy": 0.4})
    assert result.advantages[-1] == pytest.approx([0.6 * 5 / 8] * 4)


def test_a_round_that_teaches_nothing_says_so() -> None:
    report = play(FakeEngine(skill=0)).report
    assert report.zero_advantage_groups == 3
    assert report.step is not None and report.step.skipped
    assert "no step" in report.note


def test_a_step_that_left_out_all_that_could_teach_says_so() -> None:
    class Reaching(FakeEngine):
        async def step(self, batch: Sequence[TrainingSequence]) -> StepReport:
            return msgspec.structs.replace(await super().step(batch), skipped=True)

    note = play(Reaching(skill=0), swarm=FakeSwarm(groups=1), share=MixShare(2, 1)).report.note
    assert "would hardly write them: no step" in note and "solved" not in note


def test_seeds_differ_by_round_and_purpose_and_nothing_else() -> None:
    seeds = {round_seed(seed, number, use) for seed in (1, 2) for number in (1, 2) for use in ("tasks", "sampling")}
    assert len(seeds) == 8
    assert round_seed(1, 2, "tasks") == round_seed(1, 2, "tasks")
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_own_answers_are_set_next_to_the_swarms_on_the_tasks_that_both_have() -> None:
    own = [builders.group(*solved, task=task) for task, *solved in (("gcd/easy", 1, 0), ("gcd/hard", 1), ("x/y", 0, 0))]
    others = SwarmReward(value=0.5, low=0.4, high=0.6, peers=3, tasks={"gcd/easy": 0.3, "x/y": 0.7})
    assert beside_own(others, own).mine == 0.25, "the mean of the tasks, not of all answers"
    assert beside_own(msgspec.structs.replace(others, tasks={"lcm/easy": 1.0}), own).mine is None


def test_a_round_in_the_swarm_shares_its_own_groups_and_trains_on_others() -> None:
    engine, swarm = FakeEngine(skill=1), FakeSwarm(groups=5)
    result = play(engine, swarm=swarm, share=MixShare(1, 2), solve_rates={"gcd/easy": 0.2})
    assert [group.question.text for group in swarm.shared] == ["gcd/easy 70"]
    assert (result.report.local_groups, result.report.external_groups) == (1, 2)
    others = result.report.swarm_reward
    assert others == msgspec.structs.replace(MEASURED, mine=result.report.solved)
    (batch,) = engine.batches
    assert [sequence.external for sequence in batch] == [False] * 4 + [True] * 8
    assert batch[4].prompt == [7, 7]
    # Right where we solve a fifth: 1 - 0.2, scaled from 8 tokens to the own group's 5.
    assert batch[4].advantage == pytest.approx(0.8 * 5 / 8)
    assert [group.author for group in result.groups] == ["", "ab" * 32, "ab" * 32]


class MixedEngine(FakeEngine):
    """Solves every second question throughout and one answer of the others."""

    async def generate(self, prompts: Sequence[Prompt], answers: int, *_: Any, **__: Any) -> Generated:
        made = [
            generated([text], answers, 1 if place % 2 else answers)
            for place, text in enumerate(prompt.question for prompt in prompts)
        ]
        return msgspec.structs.replace(
            made[0],
            prompt_tokens=[[100 + place] for place in range(len(prompts))],
            completions=[one.completions[0] for one in made],
        )


def test_own_groups_that_teach_are_trained_on_and_all_are_shared() -> None:
    engine, swarm = MixedEngine(), FakeSwarm(groups=5)
    result = play(engine, swarm=swarm, share=MixShare(2, 2), tasks=("gcd/easy",) * 6)
    assert len(swarm.shared) == 4
    (batch,) = engine.batches
    assert [one.prompt for one in batch] == [[101]] * 4 + [[103]] * 4 + [[7, 7]] * 8
    assert result.report.zero_advantage_groups == 0
    assert [group.question.text for group in result.groups[:2]] == ["gcd/easy 71", "gcd/easy 73"]


def test_groups_of_peers_without_anything_to_teach_are_counted() -> None:
    swarm = FakeSwarm(groups=2)
    swarm.dull = 3
    report = play(FakeEngine(), swarm=swarm, share=MixShare(1, 2)).report
    assert (report.external_groups, report.external_dropped) == (2, 3)


def test_own_groups_fill_up_where_the_swarm_has_too_few_and_it_is_said() -> None:
    result = play(FakeEngine(), swarm=FakeSwarm(groups=1), share=MixShare(1, 2))
    assert (result.report.local_groups, result.report.external_groups) == (2, 1)
    assert "1 own group filled up for an external one" in result.report.note


@pytest.mark.parametrize(("there", "answered"), [(0, 8), (1, 7), (5, 3), (6, 2), (9, 2)])
def test_a_group_of_others_spares_a_question_but_own_ones_are_always_shared(there: int, answered: int) -> None:
    swarm, watcher = FakeSwarm(groups=there), FakeWatcher()
    again = tuple(QuestionRef(task="gcd/easy", seed=seed) for seed in range(4))
    report = play(FakeEngine(), watcher, swarm, share=MixShare(2, 6), tasks=("lcm/easy",) * 4, again=again).report
    assert sum(mark.answers for mark in report.tasks) == 4 * answered
    asked_again = sum(group.question.task == "gcd/easy" for group in swarm.shared)
    assert asked_again == answered // 2, "of both kinds alike"
    assert report.local_groups + report.external_groups == 8
    assert watcher.phases == ["draw", "questions", "generate", "mark", "share", "train"]


def test_an_answer_that_ended_is_shown_with_its_question_before_the_others_are_there() -> None:
    watcher = FakeWatcher()
    play(FakeEngine(skill=1), watcher)
    assert watcher.early == [(watcher.groups[-1].question.text, "wrong")]


def test_what_another_sampler_drew_goes_to_the_trainer_with_its_log_probabilities() -> None:
    engine, swarm = FakeEngine(skill=1), FakeSwarm(groups=1)
    engine.off_policy = True
    play(engine, swarm=swarm, share=MixShare(1, 1))
    (batch,) = engine.batches
    own, external = batch[:4], batch[4:]
    assert [one.sampler_logprobs for one in own] == [[-0.5, -0.5], [-1.0], [-1.0], [-1.0]]
    assert [one.sampler_logprobs for one in external] == [None] * 4
    play(FakeEngine(skill=1))
    engine.off_policy = False
    play(engine)
    assert [one.sampler_logprobs for one in engine.batches[-1]] == [None] * 12


def test_a_node_that_only_answers_marks_and_shares_and_learns_nothing() -> None:
    engine, swarm, watcher = FakeEngine(skill=1), FakeSwarm(groups=5), FakeWatcher()
    result = play(engine, watcher, swarm, trains=False)
    assert watcher.phases == ["questions", "generate", "mark", "share"]
    assert len(swarm.shared) == 3 and engine.batches == []
    assert result.report.step is None and "nothing was trained" in result.report.note
    assert (result.report.solved, result.report.external_groups) == (0.25, 0)
    assert result.advantages == [[0.0] * 4] * 3
