"""This node as a member of the swarm, as a round sees it: questions that may be shared, sharing, drawing, the reward.

Nothing here waits for a peer: what is shared goes out when links take it, what is drawn is what lies in the pool, and
a round that finds nothing there trains on its own groups.

The share that peers solve is computed once a round, in a thread: the bootstrap takes seconds with many peers.
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
"""Of the bootstrap."""
_DRAWS = 6
"""Draws for one round: what is drawn may turn out unfit, or have nothing to teach."""
_MOST_DRAWN = 4
"""Groups marked in one round for each one that it wants: half of the stock that is asked for, some seconds' work."""
LAN_SHARE = 0.5
"""Of the groups that a round draws, what may have come over the local network while there are other links."""
_WINDOW = 512
"""Drawn groups that the shares of sources are taken over."""
_STOCK = 8
"""Groups wanted in the pool for each one that a round draws."""


def _whatever(group: Group) -> bool:
    """Takes every group that is fit."""
    return True


@dataclass
class Counts:
    """Groups since this node joined."""

    published: int = 0
    drawn: int = 0
    """Out of the pool, fit or not."""
    taken: int = 0
    """Of those, fit for training."""


Keep = Callable[[Callable[[], None]], Awaitable[None]]
"""Has work done that writes a file, and returns once it is written."""


async def keep_now(work: Callable[[], None]) -> None:
    """A `Keep` that waits for no disk."""
    work()


class Outlet(Protocol):
    """Where groups go out: swarm/sockets/network.py, or the lab's room without sockets."""

    exchange: Exchange

    def publish(self, envelope: bytes) -> None: ...


class Member:
    """The swarm's side of every round of one node. `clock`, `rng`: others than this computer's, where rounds are to be
    repeated."""

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
        """Whether the owner of this node consented to publishing its answers."""
        self._has_left = False
        self.counts = Counts()
        self.shared: Callable[[int], None] = _nobody_counts
        """Told how many answers were published."""
        self.keep: Keep = keep_now
        """Writes the book."""
        self._sources: deque[bytes] = deque(maxlen=_WINDOW)
        """Which source each of the last drawn groups came from."""
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
        """A training question that a person may answer and this node then publish; its index is used up now, which
        `keep` writes down.

        Raises:
            TaskError: the indices that are left for a person are used up.
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
        """Publish the groups that may travel, in random order: what has no room later was not chosen by its mark.
        Returns how many; none where consent lacks, or this node has left."""
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
        """Up to `groups` groups of others that teach, made again and marked by us, one of an author at a time."""
        drawn: list[External] = []
        looked_at = 0
        for _ in range(_DRAWS):
            missing = min(groups - len(drawn), _MOST_DRAWN * groups - looked_at)
            if missing <= 0 or self._has_left:
                break
            most_lan = max(1, int(groups * LAN_SHARE)) - sum(external.entry.path.lan for external in drawn)
            # A link is held to its share of what teaches: else one whose groups all do would get the places of the
            # others' that do not.
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
        """Asked anew after every wait."""
        return self._has_left

    def _may_share(self) -> bool:
        """This too."""
        return self.sharing and not self._has_left

    def leave(self) -> None:
        """A round in hand ends without the swarm: from now on nothing is shared and nothing drawn."""
        self._has_left = True

    def want(self, tasks: Sequence[TaskKey], groups: int) -> None:
        """From now on ask peers for groups of these tasks, for rounds that draw `groups` each."""
        shared = [task for task in tasks if task in self._me.ids and self.is_shared(task)]
        known = {ids[task] for ids in (self._me.ids, self._me.previous) for task in shared if task in ids}
        self._outlet.exchange.want(known, _STOCK * groups)

    async def measured(self, tasks: Sequence[TaskKey]) -> SwarmReward | None:
        """The share of these tasks that peers solve, with its interval and count."""
        heard = self._meter.heard(set(tasks))  # a copy: marks come in meanwhile
        return await asyncio.to_thread(heard.estimate, self._now().monotonic, _SEED)

    def draw_shares(self) -> Mapping[bytes, float]:
        """Of the groups that were drawn lately, what share came from each source (Link.source)."""
        return {source: count / len(self._sources) for source, count in Counter(self._sources).items()}

    def is_shared(self, task: TaskKey) -> bool:
        """Whether groups of this task travel."""
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
    """Until somebody does."""


def _now() -> Now:
    return Now(time.monotonic(), time.time())
