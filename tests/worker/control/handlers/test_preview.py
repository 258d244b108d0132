"""A message shown as it would be published: the real encoder, and nothing that leaves or is used up."""

import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from sapo_desktop.core.errors import HostDied, PassphraseNeeded, SapoError
from sapo_desktop.core.records import Completion, Generated, Group, Prompt
from sapo_desktop.core.settings import Settings
from sapo_desktop.swarm.protocol import codec, limits
from sapo_desktop.swarm.protocol.envelope import GroupBody
from sapo_desktop.swarm.protocol.signing import Signer, verify
from sapo_desktop.system.identity import Identity
from sapo_desktop.tasks.questions import question_hash
from sapo_desktop.worker.control.handlers.preview import Preview, readable
from sapo_desktop.worker.control.messages.asking import EnvelopePreview, PreviewEnvelope
from sapo_desktop.worker.membership.joining import PUBLIC_SWARM
from tests.swarm.peers import group
from tests.worker.control.handlers import test_human
from tests.worker.control.handlers.test_human import SETTINGS
from tests.worker.fakes import FakeEngine, mark
from tests.worker.membership.test_external import CATALOGUE
from tests.worker.store.test_history import report
from tests.worker.test_node import Scene

SEED = b"s" * 32
OWN = Identity(SEED, "keyring")


class Examiner(test_human.Examiner):
    async def task_ids(self, tasks: Sequence[str]) -> dict[str, bytes]:
        assert not self.host.suspended, "it would never answer"
        return {task: question_hash(task) * 4 for task in tasks}


class Engine(FakeEngine):
    """Gives the prepared answer, then what may be sent."""

    def __init__(self, *texts: str) -> None:
        super().__init__()
        self.texts = list(texts)

    async def generate(self, prompts: Sequence[Prompt], answers: int, *rest: object, **more: object) -> Generated:
        made = await super().generate(prompts, answers, *rest, **more)  # type: ignore[arg-type]
        text = self.texts.pop(0) if self.texts else "<answer>4</answer>"
        row = [Completion(tokens=[1, 2], logprobs=[0.0, 0.0], text=text, finish="stop")] * answers
        return msgspec.structs.replace(made, completions=[row])


class Shown:
    """A node in silo that is to show a message."""

    def __init__(
        self,
        folder: Path,
        engine: FakeEngine | None = None,
        settings: Settings = SETTINGS,
        *,
        who: Identity | SapoError | None = OWN,
    ) -> None:
        self.scene = Scene(folder, settings, 1e9)
        node = self.scene.node
        node.engine = engine or Engine()  # type: ignore[assignment]
        host, node.examiner = node.examiner.host, Examiner()  # type: ignore[assignment]
        node.examiner.host = host
        self.preview = Preview(node, CATALOGUE, self._known, lambda: b"\xab" * 16)
        self._who = who

    async def _known(self) -> Identity | None:
        if isinstance(self._who, SapoError):
            raise self._who
        return self._who

    def show(self) -> EnvelopePreview:
        return asyncio.run(self.preview.show(PreviewEnvelope()))


def test_what_is_shown_is_what_would_be_sent_and_signed(tmp_path: Path) -> None:
    shown = Shown(tmp_path, settings=msgspec.structs.replace(SETTINGS, label="tests")).show()
    (published,) = json.loads(shown.text)["batch"]
    body = published["body"]
    assert shown.signed and body["key"] == Signer(SEED).key.hex() and body["network"] == PUBLIC_SWARM.hex()
    assert (body["type"], body["label"], body["instance"]) == ("group", "tests", "ab" * 16)
    assert [answer["text"] for answer in body["answers"]] == ["<answer>4</answer>"] * SETTINGS.answers
    assert body["task"] == (question_hash(shown.task) * 4).hex()
    assert shown.bytes < 2000
    assert all(answer["tokens"] for answer in body["answers"])
    slot = int(time.time() // limits.SLOT_SECONDS)
    assert body["slot"] < slot + limits.OLDEST_SLOT - 1000, "nobody would take it"


def test_every_field_of_the_body_is_shown_and_the_signature_is_over_just_that() -> None:
    envelope = group()
    shown = json.loads(readable(codec.encode(codec.m.Publish(batch=codec.pack_published([envelope])))))
    (published,) = shown["batch"]
    assert set(published["body"]) == {"type", *GroupBody.__struct_fields__}
    _, content, signature = msgspec.msgpack.decode(envelope)
    key, network = (bytes.fromhex(published["body"][name]) for name in ("key", "network"))
    assert signature.hex() == published["signature"]
    assert verify(signature, key=key, label="group", network=network, content=content)


@pytest.mark.parametrize("who", [None, PassphraseNeeded("It is closed.")])
def test_without_an_open_identity_a_key_is_thrown_away_and_that_is_said(tmp_path: Path, who: SapoError | None) -> None:
    it = Shown(tmp_path, who=who)
    first, second = it.show(), it.show()
    keys = {json.loads(shown.text)["batch"][0]["body"]["key"] for shown in (first, second)}
    assert not first.signed and len(keys) == 2


def test_answers_that_may_not_travel_are_not_shown_as_if_they_did(tmp_path: Path) -> None:
    assert "owned" not in Shown(tmp_path, Engine("\x1b]0;owned\x07")).show().text
    with pytest.raises(SapoError, match="peers refuse"):
        Shown(tmp_path, Engine(*["\u202e"] * 4)).show()


async def test_a_paused_node_is_woken_for_it(tmp_path: Path) -> None:
    it = Shown(tmp_path)
    it.scene.node.orders.start(None)
    it.scene.node.orders.pause(None)
    assert it.scene.node.examiner.host.suspended
    assert (await it.preview.show(PreviewEnvelope())).signed
    assert it.scene.node.examiner.host.suspended


@pytest.mark.parametrize("why", ["gone", "busy"])
def test_where_no_engine_can_answer_now_kept_answers_are_shown(tmp_path: Path, why: str) -> None:
    it = Shown(tmp_path, Engine(*["\u202e"] * 8))  # what it says itself may not travel
    node = it.scene.node
    node.engine.host.pid = None if why == "gone" else 1
    node.engine.busy = why == "busy"  # type: ignore[misc]
    with pytest.raises(SapoError):
        it.show()
    question = asyncio.run(node.examiner.set_questions([test_human.QuestionRef(task="gcd/easy", seed=3)]))[0]
    assert question is not None
    texts = ["<answer>1</answer>", "<answer>2</answer>"]
    kept = [Completion(tokens=[1], logprobs=[0.0], text=text, finish="stop") for text in texts]
    groups = [Group(question=question, completions=kept, marks=[mark(True), mark(False)])]
    node.keeper.history.record_round(node.counters.run, report(1), groups, [[0.0, 0.0]])
    removed = msgspec.structs.replace(groups[0], question=msgspec.structs.replace(question, task="removed/easy"))
    node.keeper.history.record_round(node.counters.run, report(2), [removed], [[0.0, 0.0]])
    shown = it.show()
    body = json.loads(shown.text)["batch"][0]["body"]
    assert [answer["text"] for answer in body["answers"]] == texts
    assert body["question"] == question.hash.hex() and shown.task == "gcd/easy"


def test_an_engine_that_fails_meanwhile_is_no_reason_to_show_nothing(tmp_path: Path) -> None:
    it = Shown(tmp_path)
    it.scene.node.engine.errors.append(HostDied("The engine ended."))  # type: ignore[attr-defined]
    with pytest.raises(SapoError, match="nothing to show yet"):
        it.show()
