"""External groups on their way into a round: always recreated, scored, trimmed and encoded by us.

A peer only sends a task's name, a slot, an index and some texts. We recreate the question from them and score the
answers. Only text that an own answer could contain is trained on: one answer, at the end, nothing after it, with
reasoning no longer than twice our own. That reasoning is encoded together with the answer as the scorer read it, in one
of a few usual spellings, and with no more ids than an own answer may have. So whatever the grammar overlooks, such as
thousands of blanks, never reaches the trainer.

External work has a separate examiner, so a text's effect on it costs our round nothing. Each link and identity has a
budget of that examiner's time (ExternalBudget).
"""

from __future__ import annotations

import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from sapo_desktop.core.errors import HostDied, HostError, HostTimeout
from sapo_desktop.core.extraction import CLOSE, OPEN, extract_answer
from sapo_desktop.core.network.bucket import Bucket
from sapo_desktop.core.records import Completion, Group, Mark, Question
from sapo_desktop.learning.round import EncodedGroup
from sapo_desktop.swarm.pool.pool import Entry
from sapo_desktop.swarm.protocol.envelope import Answer, GroupBody
from sapo_desktop.swarm.protocol.refusals import Reason, Refusals
from sapo_desktop.tasks.catalogue import Catalogue, Family, family_of
from sapo_desktop.tasks.questions import question_seed
from sapo_desktop.tasks.service import QuestionRef
from sapo_desktop.tasks.spellings import spelled
from sapo_desktop.tasks.split import held_out_side
from sapo_desktop.worker.hosts.engine import Engine
from sapo_desktop.worker.hosts.examiner import Examiner

log = logging.getLogger(__name__)

LINK_SECONDS, IDENTITY_SECONDS = 20.0, 10.0
"""The examiner's seconds per minute. An honest group costs a few hundredths of a second."""
FORGET_SECONDS = 3600.0
"""How long an author's groups of a task are skipped after one of them timed out."""
_MINUTE = 60.0
_MOST_LINKS, _MOST_IDENTITIES, _MOST_TIMED_OUT = 2000, 2000, 4096
"""The longest unused entries are dropped first."""
SHORTEST_REASONING = 256
"""Characters of reasoning that are always allowed."""


@dataclass(frozen=True)
class Yardstick:
    """The length limits of this node's own answers; longer external ones are not trained on.

    `max_tokens`: ids of an answer, including its end. `context`: ids of a question and its answer together. `lengths`:
    median characters of reasoning by task key, for tasks with reasoning here. `shots`: worked examples that this node
    shows before a question.
    """

    max_tokens: int
    context: int
    lengths: Mapping[str, float]
    shots: int = 0

    def reasoning(self, task: str) -> float:
        """Maximum characters before the answer."""
        return max(SHORTEST_REASONING, 2 * self.lengths.get(task, 0.0))

    def holds(self, prompt: Sequence[int], tokens: Sequence[int]) -> bool:
        """Whether an own answer to that prompt could have so many ids."""
        return len(tokens) <= self.max_tokens and len(prompt) + len(tokens) <= self.context


@dataclass(frozen=True)
class External(EncodedGroup):
    """A drawn group that may be trained on, and its path."""

    entry: Entry


@dataclass(frozen=True)
class Marked:
    """Our scores of a group's answers, whether or not it may be trained on."""

    entry: Entry
    task: str
    marks: list[Mark]


@dataclass(frozen=True)
class Taken:
    """The result for drawn entries; `marked` includes the `fit` ones."""

    fit: list[External]
    marked: list[Marked]


@dataclass(frozen=True)
class _Drawn:
    """An entry with its recreated question and the answers of valid form."""

    entry: Entry
    body: GroupBody
    question: Question
    answers: list[Answer]


_Marked: TypeAlias = tuple[_Drawn, list[Mark]]


class Intake:
    """Prepares drawn entries for training; each refusal is counted.

    Args:
        tasks: local task keys by task id.
        yardstick: the current limits of our own answers.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        examiner: Examiner,
        encoder: Engine,
        catalogue: Catalogue,
        tasks: Mapping[bytes, str],
        network: bytes,
        refusals: Refusals,
        yardstick: Callable[[], Yardstick],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._examiner = examiner
        self._encoder = encoder
        self._catalogue = catalogue
        self._tasks = tasks
        self._network = network
        self._refusals = refusals
        self._yardstick = yardstick
        self._clock = clock
        self._budget = ExternalBudget()

    async def take(self, entries: Sequence[Entry], answers: int, *, strict: bool) -> Taken:
        """The groups of these entries, each cut to at most `answers` answers; fewer than entries if some are unfit.
        Raises HostError if the engine failed, which is no peer's fault."""
        affordable = self._affordable(entries)
        if not affordable:
            return Taken([], [])
        began = self._clock()
        try:
            timely = await self._judge(affordable, answers, strict=strict)
        except (HostDied, HostTimeout) as error:
            log.warning("The examiner for external answers failed: %s", error)
        except HostError as error:
            # Its host is restarted at the next call; a round never waits for failing external work.
            log.warning("There is no examiner for external answers: %s", error)
            self._refusals.add(Reason.TIMED_OUT, len(affordable))
            return Taken([], [])
        else:
            return await self._taken(timely)
        if len(affordable) > 1:
            return await self._taken(await self._one_by_one(affordable, answers, strict=strict))
        self._charge(affordable[0], self._clock() - began, is_its_doing=True)
        return Taken([], [])

    async def _taken(self, marked: Sequence[_Marked]) -> Taken:
        return Taken(await self._encode(marked), [Marked(one.entry, one.question.task, row) for one, row in marked])

    async def _one_by_one(self, entries: Sequence[Entry], answers: int, *, strict: bool) -> list[_Marked]:
        """Score each group by itself, so that only the culprit is charged."""
        marked: list[_Marked] = []
        culprits: list[tuple[Entry, float]] = []
        for entry in entries:
            began = self._clock()
            try:
                marked += await self._judge([entry], answers, strict=strict)
            except HostError:
                culprits.append((entry, self._clock() - began))
        for entry, seconds in culprits:
            # If each of them fails, the examiner itself is broken, and nobody is charged.
            self._charge(entry, seconds, is_its_doing=len(culprits) < len(entries))
        return marked

    def _charge(self, entry: Entry, seconds: float, *, is_its_doing: bool) -> None:
        self._refusals.add(Reason.TIMED_OUT)
        self._budget.spent(seconds, [Cost(entry, 1, timed_out=is_its_doing)], self._clock())

    async def _judge(self, entries: Sequence[Entry], answers: int, *, strict: bool) -> list[_Marked]:
        """The answers that were scored in time. Raises HostError if the examiner failed."""
        began = self._clock()
        drawn = await self._regenerate(entries, answers)
        made = self._clock()
        self._budget.spent(made - began, [Cost(entry, 1, timed_out=False) for entry in entries], made)
        texts = [[answer.text for answer in one.answers] for one in drawn]
        marked = await self._examiner.mark([one.question for one in drawn], texts, strict=strict)
        done = self._clock()
        costs = [Cost(one.entry, len(row), _timed_out(row)) for one, row in zip(drawn, marked, strict=True)]
        self._budget.spent(done - made, costs, done)
        timely = []
        for one, row in zip(drawn, marked, strict=True):
            if _timed_out(row):
                self._refusals.add(Reason.TIMED_OUT)
            else:
                timely.append((one, row))
        return timely

    def _affordable(self, entries: Sequence[Entry]) -> list[Entry]:
        now, affordable = self._clock(), []
        for entry in entries:
            if reason := self._budget.refuses(entry, now):
                self._refusals.add(reason)
            else:
                affordable.append(entry)
        return affordable

    async def _regenerate(self, entries: Sequence[Entry], answers: int) -> list[_Drawn]:
        named = []
        for entry in entries:
            body = entry.body
            task = self._tasks.get(body.task)
            if task is None:
                self._refusals.add(Reason.UNKNOWN_TASK)
                continue
            named.append((entry, body, task))
        questions = await self._examiner.set_questions([self._reference(body, task) for _, body, task in named])
        drawn, yardstick = [], self._yardstick()
        for (entry, body, task), question in zip(named, questions, strict=True):
            if question is None or question.hash != body.question:
                self._refusals.add_other_question(entry.path.examiner)
            elif held_out_side(family_of(task), question.text):
                self._refusals.add(Reason.HELD_OUT)
            elif fit := [one for one in body.answers if self._is_fit(one.text, task, yardstick)][:answers]:
                drawn.append(_Drawn(entry, body, question, fit))
            else:
                self._refusals.add(Reason.UNFIT)
        return drawn

    def _family(self, task: str) -> Family:
        return self._catalogue.family(family_of(task))

    def _reference(self, body: GroupBody, task: str) -> QuestionRef:
        seed = question_seed(network=self._network, key=body.key, slot=body.slot, task=body.task, index=body.index)
        return QuestionRef(task=task, seed=seed)

    def _is_fit(self, text: str, task: str, yardstick: Yardstick) -> bool:
        """Whether an own answer to this task could have this form."""
        if not self._family(task).reasoning:
            return True  # trained on as it was scored, whatever its wrapping
        if text.count(OPEN) != 1 or text.count(CLOSE) != 1 or not text.rstrip().endswith(CLOSE):
            return False
        return text.find(OPEN) <= yardstick.reasoning(task)

    async def _encode(self, marked: Sequence[_Marked]) -> list[External]:
        """Groups with the ids of question and answers. Answers that contain a special token, that the scorer could
        not read, or that have more ids than our own are left out."""
        texts = []
        for one, row in marked:
            family = self._family(one.question.task)
            texts.append([as_marked(answer.text, mark, family) for answer, mark in zip(one.answers, row, strict=True)])
        prompts = await self._examiner.prompts([one.question for one, _ in marked], self._yardstick().shots)
        encoded = await self._encoder.encode(prompts, [text or "" for row in texts for text in row])
        ids, yardstick = iter(encoded.tokens), self._yardstick()
        taken = []
        for (one, row), prompt, written in zip(marked, encoded.prompts, texts, strict=True):
            kept = [
                (Completion(tokens=tokens, logprobs=[], text=text, finish="stop", kind=answer.kind), mark)
                for text, tokens, mark, answer in zip(written, [next(ids) for _ in row], row, one.answers, strict=True)
                if text and tokens and yardstick.holds(prompt, tokens)
            ]
            if not kept:
                self._refusals.add(Reason.UNFIT)
                continue
            group = Group(
                question=one.question,
                completions=[completion for completion, _ in kept],
                marks=[mark for _, mark in kept],
                origin="human" if any(completion.kind == "human" for completion, _ in kept) else "peer",
                author=one.body.key.hex(),
                source=one.entry.path.link.hex(),
            )
            taken.append(External(group, prompt, one.entry))
        return taken


def as_marked(text: str, mark: Mark, family: Family) -> str | None:
    """The text's reasoning, if the family has any, and its answer as the scorer read it, in one of the usual
    spellings; None if it read none."""
    if mark.answer is None:
        return None
    reasoning = text[: max(0, text.find(OPEN))] if family.reasoning else ""
    answer = spelled(family.grammar, mark.answer, extract_answer(text) or "")
    return f"{reasoning}{OPEN}{answer}{CLOSE}"


def _timed_out(marks: Sequence[Mark]) -> bool:
    return any(mark.verdict == "timeout" for mark in marks)


class Cost(NamedTuple):
    """One scored group: its source, the number of answers, and whether one of them timed out."""

    entry: Entry
    answers: int
    timed_out: bool


class ExternalBudget:
    """The examiner time that external work may use: seconds per minute for each link and each identity, and what timed
    out.

    Pure: time is an argument, `now` in monotonic seconds. Costs are known only afterwards, so the current group may
    overdraw a budget, which then refuses further ones until it recovers. This is no punishment: refused groups are only
    skipped.
    """

    def __init__(self) -> None:
        self._links = _Buckets(LINK_SECONDS, _MOST_LINKS)
        self._identities = _Buckets(IDENTITY_SECONDS, _MOST_IDENTITIES)
        self._timed_out: OrderedDict[tuple[bytes, bytes], float] = OrderedDict()
        """Author and task -> when the entry expires."""

    def refuses(self, entry: Entry, now: float) -> Reason | None:
        """Why this group is skipped, or None: TIMED_OUT (a similar one did), BUSY (its budget is used up)."""
        if now < self._timed_out.get((entry.name.author, entry.name.task), -math.inf):
            return Reason.TIMED_OUT
        used_up = self._links.level(entry.path.link, now) <= 0 or self._identities.level(entry.name.author, now) <= 0
        return Reason.BUSY if used_up else None

    def spent(self, seconds: float, costs: Sequence[Cost], now: float) -> None:
        """Distribute the time of one call to the examiner.

        If groups timed out, the time was theirs: others in the same call must not pay for it.
        """
        payers = [cost for cost in costs if cost.timed_out] or list(costs)
        answers = sum(cost.answers for cost in payers)
        for cost in payers:
            share = seconds * cost.answers / answers if answers else 0.0
            self._links.charge(cost.entry.path.link, share, now)
            self._identities.charge(cost.entry.name.author, share, now)
            if cost.timed_out:
                self._remember((cost.entry.name.author, cost.entry.name.task), now)

    def _remember(self, name: tuple[bytes, bytes], now: float) -> None:
        self._timed_out[name] = now + FORGET_SECONDS
        self._timed_out.move_to_end(name)
        if len(self._timed_out) > _MOST_TIMED_OUT:
            self._timed_out.popitem(last=False)


class _Buckets:
    """A bucket of seconds for each recently charged key."""

    def __init__(self, seconds: float, most: int) -> None:
        self._seconds = seconds
        self._most = most
        self._buckets: OrderedDict[bytes, Bucket] = OrderedDict()

    def level(self, key: bytes, now: float) -> float:
        bucket = self._buckets.get(key)
        return self._seconds if bucket is None else bucket.level(now)

    def charge(self, key: bytes, seconds: float, now: float) -> None:
        """Charge it, into debt if necessary, but at most what a minute pays back."""
        bucket = self._buckets.pop(key, None) or Bucket(self._seconds, self._seconds / _MINUTE, now)
        self._buckets[key] = bucket
        bucket.take(min(seconds, bucket.level(now) + self._seconds), now, slack=math.inf)
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
