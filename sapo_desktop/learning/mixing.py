"""Mixes I own and J external groups into one training batch (SAPO's step 4).

The unit of I and J is a group, a question with its answers. If fewer external groups are available than
wanted, own ones fill up and the result says how many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.records import Completion, Group, TrainingSequence, WeightingName
from sapo_desktop.learning.advantage import group_advantages
from sapo_desktop.learning.external import WEIGHTINGS, external_advantages, least_probability
from sapo_desktop.learning.trust import Evidence, held_shares, trusted

AUTO = "auto"
"""The name of the mix that follows need (`mix_by_need`)."""
_HALF, _MOSTLY_EXTERNAL = "4/4", "2/6"
_FEW_TEACH = 0.25
"""Share of own groups that teach, below which most groups come from peers. Not shown to be better (docs/lab.md)."""
UNKNOWN_RATE = 0.5
"""The assumed own share solved of a task that we never answered."""
NOTHING_KNOWN = Evidence()


@dataclass(frozen=True)
class MixShare:
    """The numbers of own and external groups in a batch."""

    local: int
    external: int

    def __str__(self) -> str:
        return f"{self.local}/{self.external}"


@dataclass(frozen=True)
class MixedBatch:
    """The groups of a training step: own ones first, then external ones, then those of this node's person."""

    groups: list[Group]
    local: int
    external: int
    filled_up: int
    """Number of own groups in place of missing external ones."""
    places: tuple[int, ...] = ()
    """Indices of the used own groups, ascending."""


def mix_share(mix: str, groups: int) -> MixShare:
    """Scale a mix such as `6/2` to `groups` groups. One at least is an own one: without any nothing would be answered
    and shared, and external ones are scaled to what own ones weigh."""
    local_text, _, external_text = mix.partition("/")
    if not (local_text.isdigit() and external_text.isdigit()) or int(local_text) + int(external_text) == 0:
        raise UsageError("'{mix}' is not a mix. Write it like 6/2 (own/external groups).", mix=mix)
    local, external = int(local_text), int(external_text)
    wanted_external = min(round(groups * external / (local + external)), groups - 1)
    return MixShare(local=groups - wanted_external, external=wanted_external)


def mix_by_need(mix: str, teaching: float | None) -> str:
    """The mix of the next round. `auto` takes half of the groups from peers, and three quarters while few own groups
    teach. `teaching`: the smoothed share of own groups that do; None: not known yet."""
    if mix != AUTO:
        return mix
    return _MOSTLY_EXTERNAL if teaching is not None and teaching < _FEW_TEACH else _HALF


def mix_groups(
    own: Sequence[Group], external: Sequence[Group], share: MixShare, human: Sequence[Group] = ()
) -> MixedBatch:
    """Take `share.local` own and up to `share.external` external groups, in the order given; `human` ones come on top,
    so that a person is heard whatever the mix.

    If there are more own groups than needed, those with equal scores, which teach nothing, are left out.
    """
    taken = list(external[: share.external])
    missing = share.external - len(taken)
    teaching = [any(group_advantages([mark.reward for mark in group.marks])) for group in own]
    preferred = sorted(range(len(own)), key=lambda place: not teaching[place])  # stable: equal ones keep their order
    places = tuple(sorted(preferred[: share.local + missing]))
    filled_up = max(0, len(places) - share.local)
    return MixedBatch(
        groups=[*(own[place] for place in places), *taken, *human],
        local=len(places),
        external=len(taken),
        filled_up=filled_up,
        places=places,
    )


def teaches(
    group: Group, weighting: WeightingName, own_rates: Mapping[str, float], evidence: Evidence = NOTHING_KNOWN
) -> bool:
    """Whether an external group has any advantage under this weighting, by our marks; the rest as in `advantages`."""
    weighed = WEIGHTINGS[weighting](group.marks, own_rates.get(group.question.task, UNKNOWN_RATE))
    factors = _factors(group, weighting, evidence) or [1.0] * len(weighed)
    return any(advantage and factor for advantage, factor in zip(weighed, factors, strict=True))


def advantages(
    mixed: MixedBatch,
    weighting: WeightingName = "guarded",
    own_rates: Mapping[str, float] = MappingProxyType({}),
    evidence: Evidence = NOTHING_KNOWN,
) -> list[list[float]]:
    """One advantage per answer of each group: own groups by themselves, all others as the weighting weighs them.

    `own_rates`: this node's smoothed share solved by task. `evidence`: what it knows of answers and authors.
    """
    own = mixed.groups[: mixed.local]
    own_answers = sum(len(group.completions) for group in own) / max(len(own), 1)
    own_tokens = sum(len(c.tokens) for group in own for c in group.completions) / max(len(own), 1)
    weighed = []
    for group in mixed.groups[mixed.local :]:
        own_rate = own_rates.get(group.question.task, UNKNOWN_RATE)
        tokens = [len(completion.tokens) for completion in group.completions]
        whole = own_answers if group.author else 1.0  # a person gives one answer
        factors = _factors(group, weighting, evidence)
        weighed.append(external_advantages(weighting, group.marks, tokens, own_rate, own_tokens, whole, factors))
    if weighting != "paper":
        weighed = _shared_out(mixed.groups[mixed.local :], weighed, own_tokens / 4)
    return [*(group_advantages([mark.reward for mark in group.marks]) for group in own), *weighed]


def summed(group: Group, row: Sequence[float]) -> float:
    """The weight of a group in a step: its advantages over all tokens."""
    return sum(abs(advantage) * len(answer.tokens) for advantage, answer in zip(row, group.completions, strict=True))


def author_shares(groups: Sequence[Group], rows: Sequence[Sequence[float]]) -> dict[str, float]:
    """Each author's share of the summed advantage of a step; the node itself has the rest."""
    masses = [summed(group, row) for group, row in zip(groups, rows, strict=True)]
    shares: dict[str, float] = {}
    for group, mass in zip(groups, masses, strict=True):
        if group.author and mass:
            shares[group.author] = shares.get(group.author, 0.0) + mass / sum(masses)
    return shares


def _factors(group: Group, weighting: WeightingName, evidence: Evidence) -> list[float]:
    """The trust in each answer of a peer; empty for other groups, and under the paper's weighting."""
    return trusted(evidence, group) if group.author and weighting != "paper" else []


def _shared_out(groups: Sequence[Group], rows: list[list[float]], ordinary: float) -> list[list[float]]:
    """The advantages of external groups, with no author and no source above its share of those of peers. `ordinary`:
    the summed advantage of a group that is half solved, where this node solves half."""
    for owner_of in (_author, _source):
        peers = [place for place, group in enumerate(groups) if group.author]
        masses = [summed(groups[place], rows[place]) for place in peers]
        factors = held_shares(masses, [owner_of(groups[place]) for place in peers], ordinary)
        for place, factor in zip(peers, factors, strict=True):
            rows[place] = [factor * advantage for advantage in rows[place]]
    return rows


def _author(group: Group) -> str:
    return group.author


def _source(group: Group) -> str:
    return group.source


def training_sequences(
    groups: Sequence[Group],
    prompts: Sequence[list[int]],
    group_advantage: Sequence[Sequence[float]],
    weighting: WeightingName = "guarded",
    *,
    off_policy: bool = False,
) -> list[TrainingSequence]:
    """Lay the groups out as the trainer's batch. `prompts`: the ids of each group's question.

    Own answers are the sampled token ids themselves. Those of advantage 0 stay in: they add nothing to the gradient,
    but the loss is normalised by the token count of the whole batch. External ones of advantage 0 do not;
    otherwise long wrong answers would dilute what other groups teach. `off_policy`: own answers were not
    sampled by the trainer's model, so the sampler's log-probabilities are included if known. The model did not
    choose the end of turn that the engine put after the closing tag. It is learned from good answers, but not blamed
    for bad ones.
    """
    own = [completion for group in groups if group.origin == "own" for completion in group.completions]
    least = 0.0 if weighting == "paper" else least_probability(own)
    return [
        TrainingSequence(
            prompt=prompt,
            tokens=completion.tokens[:-1] if advantage < 0 and _end_was_put(completion) else completion.tokens,
            advantage=advantage,
            external=group.origin != "own",
            least=least if group.author else 0.0,
            sampler_logprobs=(completion.logprobs or None) if off_policy and group.origin == "own" else None,
        )
        for group, prompt, row in zip(groups, prompts, group_advantage, strict=True)
        for completion, advantage in zip(group.completions, row, strict=True)
        if completion.tokens and (advantage or group.origin == "own")
    ]


def _end_was_put(completion: Completion) -> bool:
    return 0 < len(completion.logprobs) < len(completion.tokens)
