"""Whether authors have what they say they published: now and then one is asked for a group by its name.

A body says how many indices of its slot and task its author answered and how many of these it published. Any index
below the first count is then published with that chance, so over some questions an honest author supplies as many as
it claims, also where it publishes a part only. One that supplies clearly fewer has shown a choice of its answers as if
it were all of them: it leaves the swarm's reward until it supplies again, and nothing else happens to it.

Asked is only over the author's own link, within the slot or the next, and while its credit has room for an answer.
What comes is looked at and dropped: whoever foresees what is asked must not thereby choose what is learned.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

from sapo_desktop.swarm.protocol.envelope import GroupBody, open_envelope
from sapo_desktop.swarm.protocol.messages import Exact, Sourced
from sapo_desktop.swarm.protocol.refusals import Refused

SECONDS = 60.0
"""Between two questions to one author, on average."""
PATIENCE = 45.0
"""Seconds for an answer; none is as good as an empty one."""
FEWEST_MISSING = 5.0
ERRORS_MISSING = 4.0
"""An author is left out where so many groups are missing, and so many standard errors. One that supplies nothing is
after six questions; an honest one about once in five thousand, whatever part it publishes (simulated)."""
_FADE = 0.95
"""Weight of an outcome one question later: about twenty are remembered."""
_MOST_CLAIMS = 64
_MOST_AUTHORS = 2000
"""The longest not asked go first."""


@dataclass(frozen=True)
class Question:
    """What is asked for, and with what chance its author has it."""

    exact: Exact
    chance: float


@dataclass(frozen=True)
class _Claim:
    answered: int
    published: int


class Spot:
    """What is audited on one link: the claims that its peer made there, and the question that is open."""

    def __init__(self) -> None:
        self._claims: OrderedDict[tuple[int, bytes], _Claim] = OrderedDict()
        """Slot and task -> the latest counts."""
        self._due = math.inf
        self._open: tuple[bytes, Question] | None = None
        self._late = math.inf

    def heard(self, body: GroupBody, now: float, rng: Random) -> None:
        """The peer published this group of its own."""
        if self._due == math.inf:
            self._wait(now, rng)
        before = self._claims.pop((body.slot, body.task), None)
        if before is None or body.published > before.published:
            before = _Claim(body.answered, body.published)
        self._claims[body.slot, body.task] = before
        if len(self._claims) > _MOST_CLAIMS:
            self._claims.popitem(last=False)

    def next_question(self, author: bytes, slot: int, now: float, rng: Random) -> Question | None:
        """A question where it is time for one. `slot`: the present one."""
        if now < self._due or self._open is not None:
            return None
        recent = [(name, claim) for name, claim in self._claims.items() if name[0] >= slot - 1]
        if not recent:
            return None
        (of_slot, task), claim = rng.choice(recent)
        exact = Exact(author=author, slot=of_slot, task=task, index=rng.randrange(claim.answered))
        return Question(exact, claim.published / claim.answered)

    def asked(self, ticket: bytes, question: Question, now: float, rng: Random) -> None:
        self._open, self._late = (ticket, question), now + PATIENCE
        self._wait(now, rng)

    def answered(self, ticket: bytes) -> Question | None:
        """The question that an answer with this ticket is to, if it is one of ours."""
        if self._open is None or self._open[0] != ticket:
            return None
        _, question = self._open
        self._open = None
        return question

    def given_up(self, now: float) -> Question | None:
        """The question that was not answered in time."""
        return self.answered(self._open[0]) if self._open is not None and now >= self._late else None

    def _wait(self, now: float, rng: Random) -> None:
        self._due = now + rng.uniform(0.5, 1.5) * SECONDS


@dataclass(frozen=True)
class _Record:
    """Faded sums over the questions to one author: groups missing, and the variance of that by chance."""

    missing: float = 0.0
    variance: float = 0.0

    @property
    def fails(self) -> bool:
        return self.missing >= max(FEWEST_MISSING, ERRORS_MISSING * math.sqrt(self.variance))


class Audit:
    """Outcomes by author."""

    def __init__(self) -> None:
        self._records: OrderedDict[bytes, _Record] = OrderedDict()

    def record(self, author: bytes, chance: float, *, supplied: bool) -> None:
        """Take in one outcome. `chance`: with which the author had it, by its own word."""
        before = self._records.pop(author, _Record())
        self._records[author] = _Record(
            missing=_FADE * before.missing + chance - supplied,
            variance=_FADE**2 * before.variance + chance * (1 - chance),
        )
        if len(self._records) > _MOST_AUTHORS:
            self._records.popitem(last=False)

    @property
    def excluded(self) -> frozenset[bytes]:
        """Authors that lack too much of what they say they published."""
        return frozenset(author for author, record in self._records.items() if record.fails)


def supplies(exact: Exact, groups: Iterable[Sourced], network: bytes) -> bool:
    """Whether a group of this name is among them, signed by its author."""
    return any(_is_exact(exact, group.envelope, network) for group in groups)


def _is_exact(exact: Exact, envelope: bytes, network: bytes) -> bool:
    try:
        body = open_envelope(envelope, GroupBody, network).body
    except Refused:
        return False
    return (body.key, body.slot, body.task, body.index) == (exact.author, exact.slot, exact.task, exact.index)
