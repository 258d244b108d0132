"""This node as a member of the swarm, as a round sees it: shareable questions, sharing, drawing, the reward.

Nothing here waits for a peer: shared groups are sent when links accept them, draws use what is in the pool, and a round
that finds nothing there trains on its own groups. The share that peers solve is computed once per round, in a thread:
the bootstrap takes seconds with many peers.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sapo_desktop.core.errors import TaskError
from sapo_desktop.core.records import Group, Question, SwarmReward
from sapo_desktop.learning.questions import Place, training_questions
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.exchange import Exchange
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol.envelope import seal
from sapo_desktop.swarm.trust.reward import Origin, RewardMeter
from sapo_desktop.tasks.catalogue import Catalogue, TaskKey
from sapo_desktop.tasks.questions import SHARED_INDICES
from sapo_desktop.worker.hosts.examiner import Examiner
from sapo_desktop.worker.membership.external import External, Intake, Marked
from sapo_desktop.worker.membership.index_book import IndexBook
from sapo_desktop.worker.membership.publishing import Membership, group_body, is_shared, may_travel, shared_place

_SEED = 1
"""Seed of the bootstrap."""
_DRAWS = 6
"""Draws for one round: drawn groups may be unfit, or have nothing to teach."""
_MOST_DRAWN = 4
"""Groups scored in one round for each one that it wants: half of the requested stock, a few seconds of work."""
LAN_SHARE = 0.5
"""Maximum share of a round's draw from the local network if there are other links."""
_WINDOW = 512
"""Number of drawn groups over which the shares of sources are computed."""
_STOCK = 8
"""Groups wanted in the pool for each one that a round draws."""


def _whatever(group: Group) -> bool:
    """Accepts every fit group."""
    return True


@dataclass
class Counts:
    """Groups since this node joined."""

    published: int = 0
    drawn: int = 0
    """From the pool, fit or not."""
    taken: int = 0
    """The number of those that were fit for training."""


Keep = Callable[[Callable[[], None]], Awaitable[None]]
"""Runs work that writes a file, and returns once it is written."""


async def keep_now(work: Callable[[], None]) -> None:
    """A `Keep` that runs at once."""
    work()


class Outlet(Protocol):
    """Where groups are sent: swarm/sockets/network.py, or the lab's room without sockets."""

    exchange: Exchange

    def publish(self, envelope: bytes) -> None: ...


class Member:
    """The swarm's side of every round of one node. `clock`, `rng`: replaced if rounds must be repeatable."""

    def __init__(
        self,
        membership: Membership,
        outlet: Outlet,
        examiner: Examiner,
        intake: Intake,
        book: IndexBook,
        catalogue: Catalogue,
        clock: Callable[[], Now] | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self._me = membership
        self._outlet = outlet
        self._examiner = examiner
        self._intake = intake
        self._book = book
        self._catalogue = catalogue
        self._now = clock or _now
        self._meter = RewardMeter()
        self._rng = rng or random.SystemRandom()
        self.sharing = False
        """Whether this node's owner consented to publishing its answers."""
        self._has_left = False
        self.counts = Counts()
        self.shared: Callable[[int], None] = _nobody_counts
        """Called with the number of published answers."""
        self.keep: Keep = keep_now
        """Writes the index book."""
        self._sources: deque[bytes] = deque(maxlen=_WINDOW)
        """The source of each of the last drawn groups."""
        self.one_source = False
        """Whether the last draw came by the only link there is."""

    async def questions(self, tasks: Sequence[TaskKey]) -> list[Question]:
        """A training question for each entry of `tasks`, under the next unused indices of this slot."""
        slot = self._outlet.exchange.clock.slot(self._now().unix)

        def following(asked: Sequence[TaskKey]) -> list[Place]:
            indices = self._book.take(slot, asked)
            return [self._place(task, slot, index) for task, index in zip(asked, indices, strict=True)]

        questions = await training_questions(self._examiner, tasks, following)
        await self.keep(self._book.write)
        return questions

    async def question_for_person(self, task: TaskKey, keep: Keep) -> Question:
        """A training question that a person may answer and this node then publish; its index is used up now, and `keep`
        writes that down.

        Raises:
            TaskError: the indices reserved for a person are used up.
        """
        slot = self._outlet.exchange.clock.slot(self._now().unix)

        def following(asked: Sequence[TaskKey]) -> list[Place]:
            index = self._book.take_for_person(slot, task)
            if index is None:
                raise TaskError(
                    "The quota of shared questions of {task} for these ten minutes is used up. Choose another "
                    "task, or wait.",
                    task=task,
                )
            return [self._place(task, slot, index)]

        (question,) = await training_questions(self._examiner, [task], following, tries=len(SHARED_INDICES))
        await keep(self._book.write)
        return question

    def seconds_left(self, question: Question) -> float:
        """How long a person may think about it: until the slot after the question's own ends."""
        clock = self._outlet.exchange.clock
        return (question.slot + 2) * limits.SLOT_SECONDS - (self._now().unix + clock.offset)

    async def share(self, groups: Sequence[Group]) -> int:
        """Publish the groups that may be shared, in random order, so that scores do not decide which ones still fit.
        Returns how many; 0 without consent, or if this node has left."""
        shuffled = list(groups)
        self._rng.shuffle(shuffled)
        going = [group for group in shuffled if self._may_share() and may_travel(group, self._catalogue)]
        for group in going:
            self._outlet.publish(seal(self._me.signer, group_body(self._me, group)))
            self.counts.published += 1
            self.shared(len(group.completions))
        return len(going)

    async def draw(
        self, groups: int, answers: int, *, strict: bool, teaches: Callable[[Group], bool] = _whatever
    ) -> list[External]:
        """Draw up to `groups` groups of others that teach, recreated and scored by us, one per author at a time."""
        drawn: list[External] = []
        looked_at = 0
        for _ in range(_DRAWS):
            missing = min(groups - len(drawn), _MOST_DRAWN * groups - looked_at)
            if missing <= 0 or self._has_left:
                break
            most_lan = max(1, int(groups * LAN_SHARE)) - sum(external.entry.path.lan for external in drawn)
            # A link's share is limited among groups that teach; otherwise a link whose groups all do would get the
            # places of the others'.
            before = [external.entry for external in drawn]
            entries, self.one_source = self._outlet.exchange.draw(
                missing, self._now(), most_lan=most_lan, before=before
            )
            if not entries:
                break
            self._sources.extend(entry.path.link for entry in entries)
            taken = await self._intake.take(entries, answers, strict=strict)
            if self._is_gone():
                return []
            for marked in taken.marked:
                self._observe(marked)
            for external in taken.fit:
                if teaches(external.group):
                    self._outlet.exchange.giving.use(external.entry.name.author)
                    drawn.append(external)
            looked_at += len(entries)
            self.counts.drawn += len(entries)
            self.counts.taken += len(taken.fit)
        return drawn

    def _is_gone(self) -> bool:
        """Checked again after every wait."""
        return self._has_left

    def _may_share(self) -> bool:
        """Checked again after every wait, too."""
        return self.sharing and not self._has_left

    def leave(self) -> None:
        """The current round ends without the swarm: from now on nothing is shared or drawn."""
        self._has_left = True

    def want(self, tasks: Sequence[TaskKey], groups: int) -> None:
        """From now on ask peers for groups of these tasks, for rounds that draw `groups` each."""
        shared = [task for task in tasks if task in self._me.ids and self.is_shared(task)]
        known = {ids[task] for ids in (self._me.ids, self._me.previous) for task in shared if task in ids}
        self._outlet.exchange.want(known, _STOCK * groups)

    async def measured(self, tasks: Sequence[TaskKey]) -> SwarmReward | None:
        """The share of these tasks that peers solve, with its interval and count."""
        heard = self._meter.heard(set(tasks))  # a copy, because scores arrive meanwhile
        return await asyncio.to_thread(heard.estimate, self._now().monotonic, _SEED)

    def draw_shares(self) -> Mapping[bytes, float]:
        """The share of each source (Link.source) in the recently drawn groups."""
        return {source: count / len(self._sources) for source, count in Counter(self._sources).items()}

    def is_shared(self, task: TaskKey) -> bool:
        """Whether groups of this task are shared."""
        return is_shared(task, self._catalogue)

    @property
    def key(self) -> bytes:
        return self._me.signer.key

    def _place(self, task: TaskKey, slot: int, index: int) -> Place:
        return shared_place(self._me, task, slot, index)

    def _observe(self, marked: Marked) -> None:
        path, author = marked.entry.path, marked.entry.name.author
        solved = [float(mark.solved) for mark in marked.marks]
        origin = Origin(author, path.link, path.relay + path.tag)
        self._meter.observe(marked.task, origin, solved, self._now().monotonic)


def _nobody_counts(answers: int) -> None:
    """Default callback: ignore the count."""


def _now() -> Now:
    return Now(time.monotonic(), time.time())
