"""Arms, the things compared: an arm is one configuration with one seed. Its name is its folder's name.

A mix is written as in the settings, `4/4`, and means what it does in the paper: a node answers as many questions as it
trains on of its own. `4/4x2` answers twice as many and trains on those that teach first, as the product does; so
`8/0x3` is the silo that drops empty groups. With `auto` each node's mix follows what it needs. How many rounds are
played is not part of an arm, so a run with more rounds continues it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

from sapo_desktop.core import settings_file
from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.hashing import digest
from sapo_desktop.core.records import Record
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.task_list import LEVELS
from sapo_desktop.learning.mixing import MixShare, mix_by_need, mix_share

Kind = Literal["equal", "specialists", "half-shown"]
"""How nodes differ: not at all, in their quarter of the families, or in that every other node is shown no worked
examples before a question."""
Budget = Literal["rounds", "tokens", "samples", "cpu"]
"""The measures at which arms are compared: rounds, or over all nodes generated tokens, trained answers, CPU-seconds."""
QUARTERS = 4
"""Number of parts of the families; each specialist trains on one part."""
_MIX = re.compile(r"(auto|[1-9][0-9]{0,2}/[0-9]{1,3})(?:x([0-9]{1,2}(?:\.[0-9])?))?")
_BASE = Settings(
    silo=False,
    curriculum=False,
    questions=8,
    validate_every=0,
    threads=1,
    device="cpu",
    share=True,
    reward="strict",
)
"""The product's settings but for these: eight groups a step, all levels equal and no reward for form as in the paper,
no guard, one thread."""


HALVES = ("shown", "unshown")
"""How the nodes of a half-shown arm are asked, alternately."""


class Arm(Record, frozen=True, forbid_unknown_fields=True):
    """One configuration with one seed."""

    mix: str
    weighting: str
    """The weighting of external groups; empty if there are none."""
    nodes: int
    seed: int
    kind: Kind = "equal"
    liars: float = 0.0
    """Share of nodes that learn nothing and share wrong or forged answers."""
    levels: tuple[str, ...] = ()
    """Levels from which questions are drawn uniformly; empty: the product's choice."""
    values: dict[str, str] = msgspec.field(default_factory=dict)
    """Other settings of the nodes, as typed."""
    held_out: int = 4
    """Questions of each task in its scores."""
    models: tuple[str, ...] = ()
    """Base models that the nodes have alternately; empty: the one that `values` or the product name."""
    budget: str = ""
    """The budget after which it ends, such as `cpu=600`; empty: it ends at its last round."""

    @property
    def name(self) -> str:
        """The folder's name, unique for each arm."""
        rest = msgspec.json.encode(msgspec.structs.replace(self, seed=0), order="sorted")
        parts = [self.mix.replace("/", "-"), self.weighting, f"{self.nodes}-nodes", self.kind, digest(rest).hex()[:6]]
        return "_".join([*filter(None, parts), f"seed-{self.seed}"])

    @property
    def settings(self) -> Settings:
        """The settings of its nodes. Raises SettingsError."""
        weighting = {"weighting": self.weighting} if self.weighting else {}
        return settings_file.apply(_BASE, {**self.values, **weighting}, lab=True)

    @property
    def shares(self) -> bool:
        """Whether its nodes learn from each other."""
        return mixes_external(self.mix)

    def share(self, groups: int, teaching: float | None) -> MixShare:
        """Own and external groups of a step with so many groups. `teaching`: the share of a node's own groups that
        teach."""
        return mix_share(mix_by_need(_parts(self.mix)[0], teaching), groups)

    def answered(self, share: MixShare) -> int:
        """The number of own questions in a round."""
        return max(1, round(share.local * _parts(self.mix)[1]))

    def is_liar(self, node: int) -> bool:
        """Whether a node is a liar; the last ones are."""
        return node >= self.nodes - _liars(self.liars, self.nodes)


class Plan(Record, frozen=True, tag="paper"):
    """The request of `lab paper`."""

    out: str
    nodes: int
    rounds: int
    seeds: list[int]
    mixes: list[str]
    weightings: list[str]
    kind: Kind
    liars: float
    levels: list[str]
    values: dict[str, str]
    budget: str
    models: list[str]
    score_every: int
    """Rounds between two held-out scores."""
    held_out: int


def arms_of(plan: Plan) -> list[Arm]:
    """The arms in the order of play: seed by seed, so that even an interrupted run can be compared.

    Raises:
        UsageError, SettingsError: a mix, level, share of liars, budget or setting is invalid.
    """
    if unknown := set(plan.levels) - set(LEVELS):
        raise UsageError(f"There is no level {min(unknown)}; the levels are {', '.join(LEVELS)}.")
    if _liars(plan.liars, plan.nodes) >= plan.nodes:
        raise UsageError(f"With {plan.liars:.0%} liars none of {plan.nodes} nodes would be honest. Use a lower share.")
    budget_of(plan.budget)
    arms = [
        Arm(
            mix=mix,
            weighting=weighting if mixes_external(mix) else "",
            nodes=plan.nodes,
            seed=seed,
            kind=plan.kind,
            liars=plan.liars,
            levels=tuple(plan.levels),
            values=plan.values,
            held_out=plan.held_out,
            models=tuple(plan.models),
            budget=plan.budget,
        )
        for seed in plan.seeds
        for mix in plan.mixes
        for weighting in plan.weightings
    ]
    for arm in arms:
        _ = arm.settings
    return list({arm.name: arm for arm in arms}.values())  # a silo is the same under every weighting


def mixes_external(mix: str) -> bool:
    """Whether the mix has external groups. Raises UsageError."""
    return mix_share(mix_by_need(_parts(mix)[0], None), 1000).external > 0


def budget_of(text: str) -> tuple[Budget, float]:
    """`cpu=600` as measure and amount; unlimited rounds if empty. Raises UsageError."""
    if not text:
        return "rounds", float("inf")
    found = re.fullmatch(r"(tokens|samples|cpu)=([0-9]{1,15})", text)
    if not found:
        raise UsageError("Write a budget like cpu=600, tokens=1000000 or samples=50000.")
    kinds: Mapping[str, Budget] = {"tokens": "tokens", "samples": "samples", "cpu": "cpu"}
    return kinds[found[1]], float(found[2])


def _liars(share: float, nodes: int) -> int:
    return round(share * nodes)


def _parts(mix: str) -> tuple[str, float]:
    """The mix, and the ratio of answered to trained questions. Raises UsageError."""
    found = _MIX.fullmatch(mix)
    if not found:
        raise UsageError(
            "Write a mix like 4/4 (at least one own group), 8/0x3 (answers three times as many questions), or auto."
        )
    return found[1], max(1.0, float(found[2] or 1))
