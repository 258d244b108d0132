from __future__ import annotations

import math

import msgspec
import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.records import Completion, Group, Mark
from sapo_desktop.learning.advantage import group_advantages
from sapo_desktop.learning.external import LEAST, WeightingName
from sapo_desktop.learning.mixing import (
    MixedBatch,
    MixShare,
    advantages,
    mix_groups,
    mix_share,
    teaches,
    training_sequences,
)
from tests.builders import QUESTION, group


@pytest.mark.parametrize(
    ("mix", "groups", "expected"),
    [
        ("8/0", 8, MixShare(8, 0)),
        ("6/2", 8, MixShare(6, 2)),
        ("4/4", 8, MixShare(4, 4)),
        ("2/6", 8, MixShare(2, 6)),
        ("6/2", 16, MixShare(12, 4)),
        ("6/2", 4, MixShare(3, 1)),
        ("2/6", 2, MixShare(1, 1)),  # one own group at least: without any, nothing would be answered and shared
        ("4/4", 1, MixShare(1, 0)),
        ("2/6", 1, MixShare(1, 0)),
    ],
)
def test_shares_scale_with_the_batch(mix: str, groups: int, expected: MixShare) -> None:
    assert mix_share(mix, groups) == expected


@pytest.mark.parametrize("mix", ["half", "0/0", "4", "-4/4", "4/x", ""])
def test_a_mix_that_is_none_is_refused(mix: str) -> None:
    with pytest.raises(UsageError, match="6/2"):
        mix_share(mix, 8)


def test_own_groups_fill_up_for_missing_external_ones() -> None:
    own = [group(0, 1, text=f"own {i}") for i in range(8)]
    external = [group(0, 1, text="peer", origin="peer")]
    mixed = mix_groups(own, external, MixShare(4, 4))
    assert [g.question.text for g in mixed.groups] == [f"own {i}" for i in range(7)] + ["peer"]
    assert (mixed.local, mixed.external, mixed.filled_up) == (7, 1, 3)


def test_more_external_groups_than_wanted_are_left() -> None:
    own = [group(0, 1, text=f"own {i}") for i in range(4)]
    external = [group(0, 1, text=f"peer {i}", origin="peer") for i in range(9)]
    mixed = mix_groups(own, external, MixShare(4, 4))
    assert (mixed.local, mixed.external, mixed.filled_up) == (4, 4, 0)


def test_own_groups_that_teach_come_first_and_keep_their_order() -> None:
    own = [
        group(1, 1, text="all"),
        group(0, 1, text="a"),
        group(0, 0, text="none"),
        group(1, 0, text="b"),
        group(0, 1, text="c"),
    ]
    mixed = mix_groups(own, [group(0, 1, text="peer", origin="peer")], MixShare(2, 1))
    assert ([g.question.text for g in mixed.groups], mixed.places) == (["a", "b", "peer"], (1, 3))
    mixed = mix_groups(own, [], MixShare(2, 2))
    assert ([g.question.text for g in mixed.groups], mixed.filled_up) == (["all", "a", "b", "c"], 2)
    everything = mix_groups(own, [], MixShare(5, 0))
    assert everything.groups == own and everything.places == (0, 1, 2, 3, 4)


@pytest.mark.parametrize(
    ("weighting", "rewards", "own_rate", "expected"),
    [
        ("paper", [1, 1], 0.2, False),
        ("paper", [0, 1], 0.2, True),
        ("guarded", [1, 1], 0.2, True),  # right where we solve a fifth
        ("guarded", [1, 1], 1.0, False),
        ("guarded", [0, 0], 0.0, False),
        ("guarded", [0.5, 0.9], 0.1, False),  # partial scores of wrong answers
    ],
)
def test_the_weighting_says_what_teaches(
    weighting: WeightingName, rewards: list[float], own_rate: float, expected: bool
) -> None:
    assert teaches(group(*rewards, text="peer", origin="peer"), weighting, {"gcd/easy": own_rate}) is expected


def test_sequences_keep_sampled_ids_and_zero_advantages() -> None:
    groups = [group(1, 0, text="a"), group(0, 0, text="b")]
    batch = training_sequences(groups, [[5, 6], [7]], advantages(MixedBatch(groups, 2, 0, 0)))
    assert [(s.prompt, s.tokens, s.advantage) for s in batch] == [
        ([5, 6], [10, 1], 1.0),
        ([5, 6], [11, 1], -1.0),
        ([7], [10, 1], 0.0),
        ([7], [11, 1], 0.0),
    ]


def test_external_groups_are_weighed_against_our_own_rate_and_length() -> None:
    own = [group(1, 0, text="own")] * 2
    peer = group(1, 0, 0, 0, text="peer", origin="peer")
    mixed = mix_groups(own, [peer], MixShare(1, 1))
    assert advantages(mixed, own_rates={"gcd/easy": 0.25}) == [[1.0, -1.0], [0.75 * 4 / 8, 0.0, 0.0, 0.0]]
    assert advantages(mixed)[1][0] == 0.5 * 4 / 8, "a task we never answered: half"
    batch = training_sequences(mixed.groups, [[1], [2]], advantages(mixed))
    assert [sequence.external for sequence in batch] == [False] * 2 + [True]
    assert batch[2].prompt == [2]


@pytest.mark.parametrize(("weighting", "bounded"), [("guarded", True), ("paper", False)])
def test_peers_and_their_persons_are_bounded_but_this_nodes_own_person_is_not(
    weighting: WeightingName, bounded: bool
) -> None:
    groups = [
        group(1, text="own"),
        group(1, text="peer", origin="peer", author="ab"),
        group(1, text="their person", origin="human", author="ab"),
        group(1, text="our person", origin="human"),
    ]
    batch = training_sequences(groups, [[1]] * 4, [[1.0]] * 4, weighting)
    assert [sequence.least for sequence in batch] == [0.0, LEAST * bounded, LEAST * bounded, 0.0]


def test_external_answers_that_teach_nothing_do_not_thin_out_what_others_teach() -> None:
    own, wrong = group(1, 0, text="own"), group(0, 0, 0, text="peer", origin="peer")
    long = [msgspec.structs.replace(one, tokens=list(range(4000))) for one in wrong.completions]
    mixed = mix_groups([own], [msgspec.structs.replace(wrong, completions=long)] * 4, MixShare(1, 4))
    batch = training_sequences(mixed.groups, [[1]] * 5, advantages(mixed))
    assert sum(len(sequence.tokens) for sequence in batch) == 4
    (person,) = [group(0, text="person", origin="human")]
    assert training_sequences([person], [[1]], [[0.0]]) == []


def test_a_persons_groups_come_on_top_of_every_mix_and_weigh_like_external_ones() -> None:
    own = [group(1, 0, text="own")] * 2
    person = group(1, 0, 0, 0, text="person", origin="human")
    mixed = mix_groups(own, [], MixShare(2, 0), [person])
    assert (len(mixed.groups), mixed.local, mixed.external, mixed.filled_up) == (3, 2, 0, 0)
    assert advantages(mixed, own_rates={"gcd/easy": 0.25})[2] == [0.75 * 4 / 8, 0.0, 0.0, 0.0]


def test_a_group_of_one_answer_trains_through_our_own_rate() -> None:
    mixed = mix_groups([group(1, 0, text="own")], [], MixShare(1, 0), [group(1, text="person", origin="human")])
    # 1 - 0.2 for the right one, scaled from its 2 tokens to the own group's 4.
    assert advantages(mixed, own_rates={"gcd/easy": 0.2})[1] == [0.8 * 4 / 2]


def test_half_solved_is_plus_and_minus_one() -> None:
    assert group_advantages([1, 1, 0, 0]) == [1, 1, -1, -1]


def test_partial_rewards() -> None:
    # mean 2, population variance (4 + 0 + 4) / 3 = 8/3
    assert group_advantages([0, 2, 4]) == pytest.approx([-2 / math.sqrt(8 / 3), 0, 2 / math.sqrt(8 / 3)])


@pytest.mark.parametrize("rewards", [[], [0.3], [0.1] * 8, [0.0] * 3, [1.0] * 5])
def test_equal_rewards_give_exact_zeros(rewards: list[float]) -> None:
    assert group_advantages(rewards) == [0.0] * len(rewards)


def test_an_end_that_the_engine_put_there_is_learned_from_good_answers_and_no_bad_one_is_blamed_on_it() -> None:
    closed = Completion(tokens=[5, 6, 2], logprobs=[-1.0, -1.0], text="", finish="closed")
    by_itself = Completion(tokens=[5, 6, 2], logprobs=[-1.0, -1.0, -1.0], text="", finish="stop")
    marks = [Mark(solved=False, partial=0.0, reward=0.0, answer=None, verdict="wrong")] * 4
    group = Group(question=QUESTION, completions=[closed, closed, by_itself, by_itself], marks=marks)
    made = training_sequences([group], [[1]], [[1.0, -1.0, 1.0, -1.0]], off_policy=True)
    assert [one.tokens for one in made] == [[5, 6, 2], [5, 6], [5, 6, 2], [5, 6, 2]]
    assert made[0].sampler_logprobs == [-1.0, -1.0], "no sampler drew the end"
