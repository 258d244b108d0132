"""Plans the next round, and applies the results of the last one: pure steps from settings and counters to plan and
counters.

The node acts on the results; nothing here has side effects. So the rules (which tasks, which levels, which seed)
can be read and tested without a process.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import msgspec

from sapo_desktop.core.fitting import TINY_PARAMETERS, recommended_tokens
from sapo_desktop.core.records import Sampling, TrainerSettings
from sapo_desktop.core.settings import Settings
from sapo_desktop.learning import asking, guard
from sapo_desktop.learning.asking import Levels
from sapo_desktop.learning.counters import Counters
from sapo_desktop.learning.form import form_reward, smoothed
from sapo_desktop.learning.limit import first_limit, next_limit
from sapo_desktop.learning.mixing import MixShare, author_shares, mix_by_need, mix_share
from sapo_desktop.learning.reasoning import with_new
from sapo_desktop.learning.round import RoundPlan, RoundResult, round_seed
from sapo_desktop.learning.trust import Evidence, with_round
from sapo_desktop.tasks.service import QuestionRef

_SMOOTHING = 0.05
_GROUP_WEIGHT = 0.03
"""Weight of one own group in the smoothed share of those that teach."""
_MASTERED = 0.95
"""Share solved above which others' answers to a task are not requested."""
_LEAST_SHARE = 0.1
"""Lowest factor of the learning rate, after all decay."""
_MEASURED_RATE, _MEASURED_PARAMETERS = 3e-4, 134.5e6
_AT_START = Counters(round=0, instance="", seed=0)


def group_levels(tasks: Sequence[str]) -> dict[str, list[str]]:
    """Turn task names (`gcd/easy`, in catalogue order) into the levels of each family."""
    levels: dict[str, list[str]] = {}
    for task in tasks:
        family, _, level = task.partition("/")
        levels.setdefault(family, []).append(level)
    return levels


def plan_round(
    settings: Settings, counters: Counters, levels: Levels, parameters: int, *, trains: bool = True
) -> RoundPlan:
    """The plan of the round after the last finished one. `parameters`: of the base model; `trains`: whether it
    learns."""
    number = counters.round + 1
    again, tasks = choose_questions(settings, counters, levels, number, settings.questions)
    mixed = _after_guard(share_of(settings, counters), counters)
    share = mixed if trains else MixShare(local=settings.questions, external=0)
    return RoundPlan(
        number=number,
        seed=counters.seed,
        again=again,
        tasks=tasks,
        share=share,
        answers=settings.answers,
        sampling=Sampling(
            temperature=settings.temperature,
            max_tokens=answer_limit(settings, counters, parameters),
            seed=round_seed(counters.seed, number, "sampling"),
        ),
        strict=settings.reward != "partial",
        shots=shots_shown(settings, counters),
        form=form_reward(settings.reward, counters.readable or 0.0),
        weighting=settings.weighting,
        solve_rates=counters.solve_rates,
        evidence=Evidence(counters.reasoned, counters.accounts),
        model=counters.short_model,
        trains=trains,
    )


def _after_guard(share: MixShare, counters: Counters) -> MixShare:
    """Use fewer external groups if the guard suspects them of lost skill; own ones replace them."""
    external = guard.effective_external(counters.guard, share.external)
    return MixShare(local=share.local + share.external - external, external=external)


def share_of(settings: Settings, counters: Counters) -> MixShare:
    """The numbers of own and external groups in a step."""
    return mix_share(mix_in_force(settings, counters), settings.questions)


def mix_in_force(settings: Settings, counters: Counters) -> str:
    """The mix of the next round; in silo always 8/0."""
    return "8/0" if settings.silo else mix_by_need(settings.mix, counters.teaching)


def choose_questions(
    settings: Settings, counters: Counters, levels: Levels, number: int, count: int
) -> tuple[tuple[QuestionRef, ...], tuple[str, ...]]:
    """The `count` own questions of round `number`: those asked again, and the tasks of the fresh ones.

    Without the curriculum all are fresh, and families are drawn uniformly with replacement as in the paper.
    """
    random = Random(round_seed(counters.seed, number, "tasks"))
    if not settings.curriculum:
        return (), tuple(f"{name}/{asking.start_of(levels[name])}" for name in random.choices(sorted(levels), k=count))
    again = asking.choose_again(counters.asking, tasks_of(levels), number, count)
    fresh = asking.choose_tasks(counters.asking, levels, count - len(again), random)
    return tuple(QuestionRef(task=one.task, seed=one.seed) for one in again), tuple(fresh)


def draw_task(settings: Settings, counters: Counters, levels: Levels, random: Random, family: str | None = None) -> str:
    """One task, drawn as a round would; with `family`, which must be in training, one of its levels."""
    if family:
        levels = {family: levels[family]}
    if not settings.curriculum:
        name = random.choice(sorted(levels))
        return f"{name}/{asking.start_of(levels[name])}"
    return asking.choose_tasks(counters.asking, levels, 1, random)[0]


def tasks_of(levels: Levels) -> list[str]:
    """Every level of every family, as task names."""
    return [f"{family}/{level}" for family in sorted(levels) for level in levels[family]]


def tasks_of_interest(settings: Settings, counters: Counters, levels: Levels) -> tuple[str, ...]:
    """The tasks whose external groups are asked for: those that this node does not solve already; without the
    curriculum the level that each family is trained at, one up and one down."""
    if settings.curriculum:
        wanted = [task for task in tasks_of(levels) if counters.solve_rates.get(task, 0.0) < _MASTERED]
        return tuple(wanted or tasks_of(levels))
    wanted = []
    for family in sorted(levels):
        place = levels[family].index(asking.start_of(levels[family]))
        wanted += [f"{family}/{level}" for level in levels[family][max(0, place - 1) : place + 2]]
    return tuple(wanted)


def tasks_in_training(settings: Settings, counters: Counters, levels: Levels) -> frozenset[str]:
    """The tasks that rounds ask now; with the curriculum, those that they ask often."""
    if settings.curriculum:
        return asking.practised(counters.asking, levels)
    return frozenset(f"{family}/{asking.start_of(order)}" for family, order in levels.items())


def after_round(counters: Counters, result: RoundResult, levels: Levels, most: int) -> Counters:
    """The counters after a round. `most`: this model's maximum tokens per answer."""
    report = result.report
    reasoned = with_new(counters.reasoned, result.reasoned)
    rates = dict(counters.solve_rates)
    for mark in report.tasks:
        rates[mark.task] = rates.get(mark.task, mark.solved) + _SMOOTHING * (
            mark.solved - rates.get(mark.task, mark.solved)
        )
    return msgspec.structs.replace(
        counters,
        round=report.round,
        asking=asking.observe(counters.asking, report.round, result.outcomes, levels),
        solve_rates=rates,
        reasoned=reasoned,
        accounts=with_round(
            counters.accounts,
            reasoned,
            result.looked,
            author_shares(result.groups, result.advantages),
            report.tasks,
            counters.solve_rates,
        ),
        readable=smoothed(counters.readable, report.readable),
        teaching=_share_teaching(counters.teaching, [one.mixed for one in result.outcomes]),
        limit=next_limit(result.limit, result.lengths, most),
    )


def _share_teaching(before: float | None, mixed: Sequence[bool]) -> float | None:
    """The smoothed share of own groups that teach; each group has the same weight, however many a round has."""
    if not mixed:
        return before
    newest = sum(mixed) / len(mixed)
    if before is None:
        return newest
    return before + (1 - (1 - _GROUP_WEIGHT) ** len(mixed)) * (newest - before)


def trainer_settings(settings: Settings, parameters: int, counters: Counters) -> TrainerSettings:
    """The settings for loading the engine. The learning rate is that of the first step; each round sets its own."""
    return TrainerSettings(
        method=settings.method,
        lora_rank=settings.lora_rank,
        lora_alpha=2 * settings.lora_rank,
        learning_rate=next_learning_rate(settings, parameters, counters, 0),
        updates=settings.updates,
        micro_batch=min(counters.micro_batch or settings.micro_batch, settings.micro_batch),
        temperature=settings.temperature,
        seed=round_seed(counters.seed, 0, "adapter"),
    )


def next_learning_rate(settings: Settings, parameters: int, counters: Counters, steps: int) -> float:
    """Adam's learning rate in the next round: inverse-time decay, times what the guard makes of it.

    `steps`: optimiser steps behind this adapter, as its trainer counts them. Rounds without a step, those of another
    model and those that were rolled back are none.

    Gradients of a few groups are mostly noise, which a constant rate turns into a permanent loss of skill. A rate that
    falls as 1/t avoids this and can still go any distance (Robbins and Monro). The floor keeps an old node able
    to learn.
    """
    rate = settings.learning_rate or recommended_learning_rate(settings.method, parameters)
    decay = settings.learning_rate_decay or recommended_decay(settings.method, parameters)
    return rate * counters.guard.learning_rate_factor * max(_LEAST_SHARE, 1 / (1 + steps / decay))


def answer_tokens(settings: Settings, parameters: int) -> int:
    """The maximum tokens of an answer, for which memory is planned and to which others' answers are limited."""
    return settings.max_tokens or recommended_tokens(parameters)


def answer_limit(settings: Settings, counters: Counters, parameters: int) -> int:
    """The maximum tokens of an answer in the next round."""
    first = first_limit(recommended_tokens(parameters), parameters <= TINY_PARAMETERS)
    return settings.max_tokens or counters.limit or first


def evaluation_tokens(settings: Settings, counters: Counters, parameters: int) -> int:
    """The maximum tokens of an answer to a held-out question; never below the initial one, since scores are
    compared."""
    return max(answer_limit(settings, counters, parameters), answer_limit(settings, _AT_START, parameters))


def shots_shown(settings: Settings, counters: Counters) -> int:
    """The number of worked examples before each question."""
    return (counters.shots or 0) if settings.shots == "auto" else int(settings.shots)


def recommended_learning_rate(method: str, parameters: int) -> float:
    """Adam's learning rate, if the user names none.

    3e-4 with LoRA at 135M parameters and 4e-3 for tiny models are measured (docs/learning.md). Larger models take less:
    with the fourth root of their size, between the exponents that LoRA Without Regret fitted to Llama's and to Qwen's
    hidden sizes (0.39 and 0.04 of the parameters'). Its factor of ten between LoRA and full training holds too. What
    follows for larger models is a lead.
    """
    if parameters > TINY_PARAMETERS:
        lora = _MEASURED_RATE * math.pow(_MEASURED_PARAMETERS / parameters, 0.25)
        return lora if method == "lora" else lora / 10
    return 4e-3 if method == "lora" else 4e-4


def recommended_decay(method: str, parameters: int) -> float:
    """Steps until the learning rate is halved: few for tiny models, which begin with a high one (docs/lab.md)."""
    if parameters > TINY_PARAMETERS:
        return math.inf
    return 50 if method == "lora" else 150
