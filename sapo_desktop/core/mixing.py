"""I own and J external groups make one training batch (SAPO's step 4).

The unit of I and J is a group, a question with its answers. Where fewer external groups are at hand than
wanted, own ones fill up and the result says how many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sapo_desktop.core.advantage import group_advantages
from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.records import Group, TrainingSequence


@dataclass(frozen=True)
class MixShare:
    """How many groups of a batch come from where."""

    local: int
    external: int

    def __str__(self) -> str:
        return f"{self.local}/{self.external}"


@dataclass(frozen=True)
class MixedBatch:
    """The groups that enter a training step, own ones first."""

    groups: list[Group]
    local: int
    external: int
    filled_up: int
    """Own groups that stand where external ones were wanted."""


def mix_share(mix: str, groups: int) -> MixShare:
    """Scale a mix such as `6/2` to `groups` groups; `adaptive` is decided elsewhere and not accepted here."""
    local_text, _, external_text = mix.partition("/")
    if not (local_text.isdigit() and external_text.isdigit()) or int(local_text) + int(external_text) == 0:
        raise UsageError(f"A mix is written like 6/2 (own/external groups), not {mix!r}.")
    local, external = int(local_text), int(external_text)
    wanted_external = round(groups * external / (local + external))
    return MixShare(local=groups - wanted_external, external=wanted_external)


def mix_groups(own: Sequence[Group], external: Sequence[Group], share: MixShare) -> MixedBatch:
    """Take `share.local` own and up to `share.external` external groups, in the order given."""
    taken = list(external[: share.external])
    missing = share.external - len(taken)
    local = list(own[: share.local + missing])
    filled_up = max(0, len(local) - share.local)
    return MixedBatch(groups=local + taken, local=len(local), external=len(taken), filled_up=filled_up)


def advantages(groups: Sequence[Group]) -> list[list[float]]:
    """Group advantages of every group, before mixing changes anything."""
    return [group_advantages([mark.reward for mark in group.marks]) for group in groups]


def training_sequences(
    groups: Sequence[Group], prompts: Sequence[list[int]], group_advantage: Sequence[Sequence[float]]
) -> list[TrainingSequence]:
    """Lay the groups out as the trainer's batch.

    Own answers are the sampled token ids themselves. Answers of advantage 0 stay in: they add nothing to the
    gradient, but the loss is normalised by the token count of the whole batch.
    """
    return [
        TrainingSequence(prompt=prompt, tokens=completion.tokens, advantage=advantage)
        for group, prompt, row in zip(groups, prompts, group_advantage, strict=True)
        for completion, advantage in zip(group.completions, row, strict=True)
        if completion.tokens
    ]
