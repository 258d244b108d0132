"""The arms of a plan, their names, and invalid requests."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.errors import SapoError
from sapo_desktop.lab.arm import Arm, arms_of, budget_of
from sapo_desktop.learning.mixing import MixShare
from tests.lab.scripted import plan

ARM = Arm(mix="4/4", weighting="guarded", nodes=8, seed=1)


def test_arms_are_played_seed_by_seed_and_a_silo_once() -> None:
    asked = plan(Path("out"), seeds=[1, 2], mixes=["8/0", "4/4"], weightings=["paper", "guarded"])
    found = [(arm.seed, arm.mix, arm.weighting) for arm in arms_of(asked)]
    one = [("8/0", ""), ("4/4", "paper"), ("4/4", "guarded")]
    assert found == [(seed, *way) for seed in (1, 2) for way in one]


def test_the_name_tells_arms_apart_and_seeds_share_all_but_the_end() -> None:
    others = [
        msgspec.structs.replace(ARM, **change)
        for change in ({"kind": "specialists"}, {"liars": 0.25}, {"values": {"answers": "4"}}, {"budget": "cpu=9"})
    ]
    assert len({arm.name for arm in (ARM, *others)}) == 5
    second = msgspec.structs.replace(ARM, seed=2)
    assert ARM.name.removesuffix("seed-1") == second.name.removesuffix("seed-2")
    assert ARM.name.startswith("4-4_guarded_8-nodes_equal_")


def test_a_mix_says_what_is_trained_on_and_how_much_is_answered() -> None:
    more = msgspec.structs.replace(ARM, mix="8/0x3")
    wide = msgspec.structs.replace(ARM, mix="1/7x2.5")
    for arm, groups, share, answered in (
        (ARM, 8, MixShare(4, 4), 4),
        (more, 8, MixShare(8, 0), 24),
        (wide, 16, MixShare(2, 14), 5),
    ):
        assert (arm.share(groups, None), arm.answered(share)) == (share, answered)


def test_the_automatic_mix_follows_what_a_node_needs() -> None:
    auto = msgspec.structs.replace(ARM, mix="auto")
    assert auto.shares and not msgspec.structs.replace(ARM, mix="8/0").shares
    assert [auto.share(8, teaching) for teaching in (None, 0.1)] == [MixShare(4, 4), MixShare(2, 6)]


def test_the_last_nodes_lie() -> None:
    arm = msgspec.structs.replace(ARM, liars=0.25)
    assert [arm.is_liar(node) for node in range(8)] == [False] * 6 + [True] * 2


def test_settings_are_the_products_but_for_what_the_paper_has_otherwise() -> None:
    settings = msgspec.structs.replace(ARM, values={"answers": "4"}).settings
    assert (settings.weighting, settings.answers, settings.questions) == ("guarded", 4, 8)
    assert not settings.curriculum and not settings.silo and settings.temperature == 1.0


def test_a_budget_is_a_kind_and_a_number() -> None:
    assert budget_of("cpu=600") == ("cpu", 600.0)
    assert budget_of("") == ("rounds", float("inf"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"mixes": ["4-4"]}, "like 4/4"),
        ({"mixes": ["half"]}, "like 4/4"),
        ({"mixes": ["0/0"]}, "one own group"),
        ({"mixes": ["0/8x2"]}, "one own group"),
        ({"nodes": 2, "liars": 0.75}, "none of 2 nodes would be honest"),
        ({"nodes": 1, "liars": 1.0}, "none of 1 nodes would be honest"),
        ({"weightings": ["kind"]}, "weighting"),
        ({"levels": ["odd"]}, "There is no level odd"),
        ({"budget": "cpu"}, "Write a budget like"),
        ({"values": {"odd": "1"}}, "odd"),
    ],
)
def test_what_cannot_be_played_is_said_before_anything_is(change: dict[str, object], said: str) -> None:
    with pytest.raises(SapoError, match=said):
        arms_of(plan(Path("out"), **change))
