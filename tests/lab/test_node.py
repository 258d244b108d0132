"""The questions of nodes: the levels of an arm, and the quarters of specialists."""

from __future__ import annotations

import msgspec
import pytest

from sapo_desktop.core.resources import resource
from sapo_desktop.lab.arm import QUARTERS, Arm
from sapo_desktop.lab.node import levels_played, quarter
from sapo_desktop.tasks.catalogue import load_catalogue

ARM = Arm(mix="4/4", weighting="paper", nodes=8, seed=1)


@pytest.mark.parametrize(
    ("levels", "values", "played"),
    [
        ((), {}, ["middle"]),
        ((), {"curriculum": "on"}, ["first", "easy", "middle", "hard"]),
        (("hard", "easy"), {}, ["easy", "hard"]),
    ],
)
def test_levels_are_the_products_unless_named(
    levels: tuple[str, ...], values: dict[str, str], played: list[str]
) -> None:
    arm = msgspec.structs.replace(ARM, levels=levels, values=values | {"tasks": "gcd,lcm"})
    catalogue = load_catalogue(resource("tasks.toml"))
    assert levels_played(arm, arm.settings, catalogue) == {"gcd": played, "lcm": played}


def test_specialists_share_the_families_out_and_nobody_has_none() -> None:
    levels = {f"family{n}": ["middle"] for n in range(6)}
    parts = [quarter(levels, node) for node in range(QUARTERS)]
    assert sorted(family for part in parts for family in part) == sorted(levels)
    assert quarter(levels, QUARTERS) == parts[0]
    assert quarter({"gcd": ["middle"]}, 3) == {"gcd": ["middle"]}
