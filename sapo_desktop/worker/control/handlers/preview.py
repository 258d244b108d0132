"""An example of a message that this node would publish: real answers to a real question, encoded as usual.

It works in silo and before there is anything to publish; it sends nothing and uses nothing up. Its time is decades in
the past, so no peer would accept it, and our signature on it cannot stand for anything that we publish. Left out: the
text shown with it (core/consent.py).
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from random import SystemRandom
from typing import Any

import msgspec

from sapo_desktop.core.errors import HostError, IdentityError, SapoError
from sapo_desktop.core.link.handlers import Handlers
from sapo_desktop.core.records import Completion, Group, Question
from sapo_desktop.core.sentences import sentence
from sapo_desktop.core.settings import Settings
from sapo_desktop.learning.plan import draw_task
from sapo_desktop.learning.questions import Place, training_questions
from sapo_desktop.swarm.protocol import codec, limits
from sapo_desktop.swarm.protocol import messages as wire
from sapo_desktop.swarm.protocol.envelope import seal
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.trust.admission import Members
from sapo_desktop.system.identity import Identity, fresh_seed
from sapo_desktop.tasks.catalogue import Catalogue, TaskKey
from sapo_desktop.tasks.questions import SHARED_INDICES, question_hash
from sapo_desktop.worker.control.handlers.asking import drawn_sampling
from sapo_desktop.worker.control.messages.asking import EnvelopePreview, PreviewEnvelope
from sapo_desktop.worker.control.messages.rollouts import GetRollouts
from sapo_desktop.worker.membership.joining import PUBLIC_SWARM
from sapo_desktop.worker.membership.publishing import Membership, group_body, is_shared, may_travel, shared_place
from sapo_desktop.worker.node import Node

log = logging.getLogger(__name__)

_TRIES = 4
"""Groups made until one may be shared."""
_KEPT_ANSWERS = 64
"""Own stored answers to search if no engine answers."""


_SLOT = 0
"""In 1970: far from all slots that peers accept (swarm/protocol/limits.py)."""


class Preview:
    """Makes and shows one.

    Args:
        known: the identity in use, otherwise the stored one; None if there is none yet.
        instance: the random number next to the key.
    """

    def __init__(
        self,
        node: Node,
        catalogue: Catalogue,
        known: Callable[[], Awaitable[Identity | None]],
        instance: Callable[[], bytes],
    ) -> None:
        self._node = node
        self._catalogue = catalogue
        self._known = known
        self._instance = instance
        self._random = SystemRandom()
        self.handlers = handlers = Handlers()
        handlers.on(PreviewEnvelope).by(self.show)

    async def show(self, request: PreviewEnvelope) -> EnvelopePreview:
        """Make the example. Raises SapoError if no shareable answer is available."""
        settings = self._node.settings
        signer, signed = await self._signer()
        async with self._node.gate.awake():
            group = await self._group(signer, settings)
            task = group.question.task
            ids = await self._node.examiner.task_ids([task])
        me = _membership(signer, settings, self._instance(), {task: ids[task]})
        envelope = seal(signer, group_body(me, group))
        frame = codec.encode(wire.Publish(batch=codec.pack_published([envelope])))
        return EnvelopePreview(text=readable(frame), bytes=len(frame), signed=signed, task=task)

    async def _signer(self) -> tuple[Signer, bool]:
        """This node's own key if it has an open one, otherwise a temporary one."""
        try:
            who = await self._known()
        except IdentityError:
            who = None
        return (Signer(who.seed), True) if who else (Signer(fresh_seed()), False)

    async def _group(self, signer: Signer, settings: Settings) -> Group:
        """Answers of the model to a training question, otherwise stored ones. If there are stored ones, a busy engine
        is not waited for."""
        if self._node.engine.busy:
            with contextlib.suppress(SapoError):
                return await self._kept()
        if self._node.engine.running:
            try:
                return await self._answered(signer, settings)
            except HostError as error:
                log.warning("No fresh answers for a preview: %s", error)
        return await self._kept()

    async def _answered(self, signer: Signer, settings: Settings) -> Group:
        for _ in range(_TRIES):
            task = self._task()
            question = await self._question(signer, settings, task)
            group = Group(question=question, completions=await self._completions(question), marks=[])
            if may_travel(group, self._taken):
                return group
        raise SapoError(
            sentence(
                "None of these answers can be shared: peers refuse their characters or lengths. Try again "
                "after the next round."
            )
        )

    def _task(self) -> TaskKey:
        """A shared task that a round could draw."""
        node = self._node
        for _ in range(100):
            task = draw_task(node.settings, node.counters, node.levels, self._random)
            if is_shared(task, self._taken):
                return task
        return next(task for task in self._taken.tasks() if is_shared(task, self._taken))

    @property
    def _taken(self) -> Catalogue:
        """What the swarm of the settings accepts."""
        return self._catalogue.in_swarm(private=bool(self._node.settings.swarm))

    async def _question(self, signer: Signer, settings: Settings, task: TaskKey) -> Question:
        node = self._node
        ids = await node.examiner.task_ids([task])
        me = _membership(signer, settings, self._instance(), ids)
        indices = iter(SHARED_INDICES)

        def following(asked: Sequence[TaskKey]) -> list[Place]:
            return [shared_place(me, task, _SLOT, next(indices)) for task in asked]

        (question,) = await training_questions(node.examiner, [task], following, tries=len(SHARED_INDICES))
        return question

    async def _completions(self, question: Question) -> list[Completion]:
        node = self._node
        sampling = drawn_sampling(node, self._random)
        answers = min(node.settings.answers, limits.MAX_ANSWERS)
        async with node.awake():
            prompts = await node.prompts([question])
            return (await node.engine.generate(prompts, answers, sampling)).completions[0]

    async def _kept(self) -> Group:
        """The newest own group whose answers are stored."""
        keeper = self._node.keeper
        wanted = GetRollouts(origin="own", newest_first=True, limit=_KEPT_ANSWERS)
        known = self._taken.tasks()
        for first in (found := await keeper.call(keeper.history.rollouts, wanted)).items:
            if first.task not in known:
                continue  # own tasks that were removed since
            rows = [row for row in found.items if (row.round, row.seed) == (first.round, first.seed)][::-1]
            question = Question(
                task=first.task,
                seed=int(first.seed),
                text=first.question,
                hash=question_hash(first.question),
                slot=_SLOT,
                index=0,
            )
            completions = [Completion(tokens=[], logprobs=[], text=row.completion, finish="stop") for row in rows]
            group = Group(question=question, completions=completions[: limits.MAX_ANSWERS], marks=[])
            if may_travel(group, self._taken):
                return group
        raise SapoError(
            sentence(
                "There is nothing to show yet: the model is not loaded, and none of its answers is saved. "
                "Wait a moment."
            )
        )


def readable(frame: bytes) -> str:
    """A PUBLISH as JSON, complete: bytes as hex, with the batch and the bodies decoded."""
    message = msgspec.msgpack.decode(frame)
    message["batch"] = [_opened(envelope) for envelope in codec.unpack_published(message["batch"])]
    return json.dumps(message, indent=2, ensure_ascii=False, default=bytes.hex)


def _opened(envelope: bytes) -> dict[str, Any]:
    version, content, signature = msgspec.msgpack.decode(envelope)
    return {"version": version, "body": msgspec.msgpack.decode(content), "signature": signature}


def _membership(signer: Signer, settings: Settings, instance: bytes, ids: dict[TaskKey, bytes]) -> Membership:
    members = Members(bytes.fromhex(settings.swarm)) if settings.swarm else None
    return Membership(
        signer=signer,
        network=members.network if members else PUBLIC_SWARM,
        instance=instance,
        ids=ids,
        label=settings.label,
        admission=bytes.fromhex(settings.admission) if members else b"",
    )
