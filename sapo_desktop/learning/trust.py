"""Trust in a peer's right answers: factors from 0 to 1 that multiply their advantage.

| factor            | it falls where                                                                              |
|-------------------|---------------------------------------------------------------------------------------------|
| `reasons_enough`  | own answers with as little reasoning are seldom right (reasoning.py)                        |
| `has_good_form`   | most of what its author publishes is like that                                              |
| `raises_success`  | this node's own success fell while it learned from its author                               |

Each is a pure function of an answer and of what this node knows (`Evidence`), and `FACTORS` lists them all. Further
evidence, such as several identities that wrote the same independently, would be one more field of `Evidence` and one
more factor. How likely the own model finds an answer is a different bound, in external.py.

Besides these factors, no author and no source has more than half of what a step learns from peers (`held_shares`).
Everything here is local and learned from own scores. No peer's word counts, and nothing is sent.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from sapo_desktop.core.extraction import OPEN
from sapo_desktop.core.records import Completion, Group, Record, TaskMark
from sapo_desktop.learning.reasoning import Kept, worth

SHARE = 0.5
"""Largest share of one author, and of one source, in what a step learns from peers, if there are others."""
KEPT_ACCOUNTS = 128
"""Maximum remembered authors; those with the least influence are dropped first."""
_GROUPS, _GROUP_DECAY = 2.0, 0.95
"""Groups that a newcomer's good form counts for, and what an older group counts for once another was looked at."""
_LEAST = 0.2
"""An answer with less weight counts as 0, so that its group takes no place in a step."""
_FORGIVEN, _MOSTLY, _KNOWN_GROUPS = 0.3, 0.8, 3.0
"""Least worth of an answer whose author mostly reasons: with such a mean worth over so many groups. Everybody guesses
now and then."""
_AT_FIRST, _FIRST_RIGHT = 0.6, 150
"""Least worth of any answer while this node knows so few right answers of its own: honest nodes that begin guess too,
and the form of an author that only guesses is known after five groups."""
_EXPOSURE_DECAY = 0.8
"""A round: an own answer comes of the last few steps."""
_CHANGE_DECAY, _NOISE_DECAY = 0.95, 0.97
"""A round: of the summed change of own success and of its standard error. The first falls faster, so that blame fades
once nothing more is learned from an author."""
_FIRST_ERROR, _LAST_ERROR = -2.0, -4.0
"""Standard errors of the change in own success at which an author's weight begins to fall, and reaches 0."""
_ALIKE = 0.5
"""Variance of a group's share solved, as a part of p(1 - p), since answers to one question are correlated."""


class Account(Record, frozen=True):
    """This node's fading record of one author."""

    looked: float = 0.0
    """Judged groups with a right answer."""
    worth: float = 0.0
    """Mean worth of their right answers, summed over these groups."""
    exposure: float = 0.0
    """Its share of what the last steps learned, including own answers."""
    change: float = 0.0
    """Change of own success after learning from it, in groups: solved minus expected, times exposure."""
    noise: float = 0.0
    """Variance of that change if nothing changes."""


Accounts = Mapping[str, Account]
"""Accounts by author."""


@dataclass(frozen=True)
class Evidence:
    """What this node knows when it weights a peer's answers."""

    reasoned: Kept = field(default_factory=dict)
    """Own answers: length of reasoning, and whether they are right."""
    accounts: Accounts = field(default_factory=dict)

    def account(self, group: Group) -> Account:
        return self.accounts.get(group.author, Account())


def reasons_enough(evidence: Evidence, group: Group, answer: Completion) -> float:
    """Whether own answers with as little reasoning succeed; if not, authors that mostly reason are excused, and
    every author while this node has hardly begun."""
    account = evidence.account(group)
    mostly = account.looked >= _KNOWN_GROUPS and account.worth >= _MOSTLY * account.looked
    begins = sum(one.solved for rows in evidence.reasoned.values() for one in rows) < _FIRST_RIGHT
    least = _AT_FIRST if begins else _FORGIVEN if mostly else 0.0
    return max(_worth(evidence.reasoned, group, answer), least)


def has_good_form(evidence: Evidence, group: Group, answer: Completion) -> float:
    """The mean worth of its author's recent groups; 1 for a newcomer."""
    account = evidence.account(group)
    return (account.worth + _GROUPS) / (account.looked + _GROUPS)


def raises_success(evidence: Evidence, group: Group, answer: Completion) -> float:
    """Below 1 if own success fell more than chance explains while this node learned from its author."""
    account = evidence.account(group)
    errors = account.change / math.sqrt(account.noise) if account.noise else 0.0
    return min(1.0, max(0.0, (errors - _LAST_ERROR) / (_FIRST_ERROR - _LAST_ERROR)))


FACTORS: tuple[Callable[[Evidence, Group, Completion], float], ...] = (reasons_enough, has_good_form, raises_success)


def trusted(evidence: Evidence, group: Group) -> list[float]:
    """The weight of each right answer of a peer's group, from 0 to 1; wrong ones teach nothing."""
    weights = [
        math.prod(factor(evidence, group, answer) for factor in FACTORS) if mark.solved else 0.0
        for answer, mark in zip(group.completions, group.marks, strict=True)
    ]
    return [weight if weight >= _LEAST else 0.0 for weight in weights]


def _worth(reasoned: Kept, group: Group, answer: Completion) -> float:
    return worth(reasoned, group.question.task, max(0, answer.text.find(OPEN)))


def held_shares(masses: Sequence[float], owners: Sequence[str], ordinary: float) -> list[float]:
    """Factors for groups of so much summed advantage, so that no owner has more than SHARE of the sum where there are
    others. An owner that has at most `ordinary`, as much as one common group, is not reduced; otherwise a peer could
    push the others down by publishing almost nothing.
    """
    of_owner: defaultdict[str, float] = defaultdict(float)
    for mass, owner in zip(masses, owners, strict=True):
        of_owner[owner] += mass
    whole = sum(of_owner.values())
    largest = max(of_owner, key=of_owner.__getitem__, default="")
    if len(of_owner) < 2 or of_owner[largest] <= SHARE * whole:
        return [1.0] * len(masses)
    others = whole - of_owner[largest]
    most = max(ordinary, others * SHARE / (1 - SHARE))
    held = min(1.0, most / of_owner[largest])
    return [held if owner == largest else 1.0 for owner in owners]


def with_round(
    accounts: Accounts,
    reasoned: Kept,
    looked: Sequence[Group],
    shares: Mapping[str, float],
    solved: Sequence[TaskMark],
    expected: Mapping[str, float],
) -> dict[str, Account]:
    """The accounts after a round.

    Args:
        looked: the peers' groups that were judged for it.
        shares: each author's share of the step's summed advantage.
        solved: how own answers went. They were given before the step, so they show what earlier steps taught.
        expected: own share solved by task before the round.
    """
    known = [mark for mark in solved if mark.task in expected]
    change = sum(mark.solved - expected[mark.task] for mark in known)
    noise = sum(_ALIKE * max(0.05, expected[mark.task] * (1 - expected[mark.task])) for mark in known)
    after = {}
    for author in {*accounts, *shares, *(group.author for group in looked if group.author)}:
        account = accounts.get(author, Account())
        exposure = account.exposure
        after[author] = msgspec.structs.replace(
            account,
            change=_CHANGE_DECAY * account.change + exposure * change,
            noise=_NOISE_DECAY**2 * account.noise + exposure**2 * noise,
            exposure=_EXPOSURE_DECAY * exposure + (1 - _EXPOSURE_DECAY) * shares.get(author, 0.0),
        )
    for group in looked:
        right = [answer for answer, mark in zip(group.completions, group.marks, strict=True) if mark.solved]
        if group.author and right:
            account = after[group.author]
            mean = math.fsum(_worth(reasoned, group, answer) for answer in right) / len(right)
            after[group.author] = msgspec.structs.replace(
                account, looked=_GROUP_DECAY * account.looked + 1, worth=_GROUP_DECAY * account.worth + mean
            )
    kept = sorted(after, key=lambda author: (after[author].noise, after[author].looked), reverse=True)
    return {author: after[author] for author in kept[:KEPT_ACCOUNTS]}
