"""What is published of a group: the signing identity, whether it may be shared, and the signed body.

Nothing is sent here: member.py sends, and preview.py shows an example.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sapo_desktop.core.records import Group
from sapo_desktop.learning.questions import Place
from sapo_desktop.swarm.protocol import limits
from sapo_desktop.swarm.protocol.envelope import Answer, GroupBody, may_be_shared
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.tasks.catalogue import Catalogue, TaskKey, family_of
from sapo_desktop.tasks.charset import belongs
from sapo_desktop.tasks.questions import SHARED_INDICES, question_seed


@dataclass(frozen=True)
class Membership:
    """This node's identity in a swarm, and the ids by which that swarm knows the tasks."""

    signer: Signer
    network: bytes
    instance: bytes
    """16 random bytes of the data folder, different for each identity that it had."""
    ids: Mapping[TaskKey, bytes]
    label: str = ""
    admission: bytes = b""
    """The proof that we belong to a private swarm."""
    previous: Mapping[TaskKey, bytes] = field(default_factory=dict)
    """The ids before the catalogue's last change, which others may still use."""


def is_shared(task: TaskKey, catalogue: Catalogue) -> bool:
    """Whether groups of this task are shared."""
    return catalogue.find(task)[1].shared


def shared_place(me: Membership, task: TaskKey, slot: int, index: int) -> Place:
    """The origin of the question of this task, slot and index, with which others can recreate it."""
    seed = question_seed(network=me.network, key=me.signer.key, slot=slot, task=me.ids[task], index=index)
    return Place(seed, slot, index)


def may_travel(group: Group, catalogue: Catalogue) -> bool:
    """A shared task, an index that peers accept, and texts within the limits: a group is never cut."""
    index = group.question.index
    texts = [completion.text for completion in group.completions]
    grammar = catalogue.family(family_of(group.question.task)).grammar
    return (
        index is not None
        and index in SHARED_INDICES
        and is_shared(group.question.task, catalogue)
        and 1 <= len(texts) <= limits.MAX_ANSWERS
        and all(may_be_shared(text) and belongs(text, grammar) for text in texts)
        and sum(len(text.encode("utf-8")) for text in texts) <= limits.MAX_GROUP - limits.GROUP_OVERHEAD
    )


def group_body(me: Membership, group: Group) -> GroupBody:
    """The signed and published content of a group."""
    question = group.question
    assert question.index is not None
    return GroupBody(
        network=me.network,
        key=me.signer.key,
        admission=me.admission,
        instance=me.instance,
        task=me.ids[question.task],
        slot=question.slot,
        index=question.index,
        question=question.hash,
        label=me.label,
        answers=[Answer(text=c.text, kind=c.kind, tokens=len(c.tokens)) for c in group.completions],
    )
