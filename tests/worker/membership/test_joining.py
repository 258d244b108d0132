"""Nodes that play rounds in a swarm, over real websockets with TLS; only model and examiner are stand-ins."""

import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.records import Generated, Prompt, Question, Sampling
from sapo_desktop.learning.mixing import MixShare
from sapo_desktop.learning.round import RoundPlan, RoundResult, run_round
from sapo_desktop.swarm.catalogues import catalogue_id
from sapo_desktop.swarm.protocol.envelope import Answer
from sapo_desktop.swarm.protocol.refusals import Reason, Refused
from sapo_desktop.swarm.protocol.signing import Signer
from sapo_desktop.swarm.sockets import network
from sapo_desktop.swarm.sockets.certificate import self_signed
from sapo_desktop.swarm.trust.admission import Members
from sapo_desktop.worker.control.handlers.human import HumanAnswers
from sapo_desktop.worker.control.messages.requests import AskForQuestion, GiveAnswer
from sapo_desktop.worker.membership.joining import Identified, Joined, Joining, group_check, join
from sapo_desktop.worker.store.history import History
from tests.builders import run_manifest
from tests.swarm.peers import group_body
from tests.swarm.sockets.nodes import until
from tests.worker.control.handlers.test_human import Engine as PersonsEngine
from tests.worker.control.handlers.test_human import Examiner as PersonsExaminer
from tests.worker.control.handlers.test_human import Side, right
from tests.worker.fakes import FakeEngine, FakeWatcher, answered
from tests.worker.membership.test_external import CATALOGUE, GCD, OURS, Encoder, Examiner, question, truth
from tests.worker.test_node import SETTINGS, Scene

IDS = {"gcd/easy": GCD}


class Marker(Examiner):
    """Also sets the questions of a silo round, which nobody asks for here."""

    async def training_questions(self, seed: int, slot: int, tasks: Sequence[str]) -> list[Question]:
        raise AssertionError("in the swarm questions come from the member")


class Solver(FakeEngine):
    """Solves the first `skill` answers of each question."""

    def __init__(self, skill: int) -> None:
        super().__init__(skill)
        self.seeds: list[int] = []

    async def generate(self, prompts: Sequence[Prompt], answers: int, *_: Any, **__: Any) -> Generated:
        by_text = {question(seed).text: truth(seed) for seed in self.seeds}
        rows = [
            [answered(f"<answer>{by_text[text] if place < self.skill else -1}</answer>") for place in range(answers)]
            for text in (prompt.question for prompt in prompts)
        ]
        return Generated(prompt_tokens=[[9]] * len(rows), completions=rows, seconds=0.0, batch=8)


class Seat:
    """One node of the swarm."""

    def __init__(self, folder: Path, name: int, skill: int, **more: Any) -> None:
        folder.mkdir()
        self.folder = folder
        joining = Joining(
            seed=name.to_bytes(32, "big"),
            instance=bytes([name]) * 16,
            folder=folder,
            book_secret=bytes(32),
            **{"catalogue": CATALOGUE, "ids": IDS, "yardstick": lambda: OURS, **more},
        )
        self.engine = Solver(skill)
        self.joined: Joined = join(joining, Marker(), Marker(), Encoder())
        self.joined.member.sharing = True
        asked = self.joined.member.questions

        async def questions(tasks: Sequence[str]) -> list[Question]:
            made = await asked(tasks)
            self.engine.seeds = [one.seed for one in made]
            return made

        self.joined.member.questions = questions  # type: ignore[method-assign]

    async def play(self, number: int) -> RoundResult:
        plan = RoundPlan(
            number=number,
            seed=1,
            tasks=("gcd/easy",) * 4,
            share=MixShare(2, 2),
            answers=4,
            sampling=Sampling(),
            strict=True,
            solve_rates={"gcd/easy": 0.25},
        )
        self.joined.member.want(["gcd/easy"], 2)
        return await run_round(plan, Marker(), self.engine, FakeWatcher(), self.joined.member)

    @property
    def key(self) -> str:
        return self.joined.signer.key.hex()


async def test_two_nodes_and_a_relay_learn_from_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "TICK_SECONDS", 0.02)
    skills = {"relay": 0, "weak": 1, "strong": 4}
    relay, weak, strong = (Seat(tmp_path / name, n, skill) for n, (name, skill) in enumerate(skills.items(), 1))
    tls = tmp_path / "tls"
    tls.mkdir()
    address = await relay.joined.listen("127.0.0.1", 0, self_signed(tls))
    for seat in (weak, strong):
        seat.joined.links.keep([address])
    await until(lambda: sum(link.session.is_open for link in relay.joined.network.exchange.links) == 2)
    first = await weak.play(1)
    assert (first.report.external_groups, first.report.swarm_reward) == (0, None)
    assert "2 own groups filled up" in first.report.note
    await strong.play(1)
    await until(lambda: len(weak.joined.network.exchange.pool) >= 2)
    second = await weak.play(2)
    assert (second.report.local_groups, second.report.external_groups) == (2, 2)
    assert {group.author for group in second.groups[2:]} == {strong.key}
    assert (second.report.swarm_reward.value, second.report.swarm_reward.peers) == (1.0, 1)
    # Right where we solve a quarter; how much by task, as the questions of a round are drawn.
    external = [s.advantage for s in weak.engine.batches[-1] if s.external]
    assert len(external) == 8 and min(external) > 0
    await asyncio.gather(*(seat.joined.close() for seat in (relay, weak, strong)))


async def test_a_persons_answer_is_kept_apart_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "TICK_SECONDS", 0.02)
    asked, other = Seat(tmp_path / "asked", 1, 0), Seat(tmp_path / "other", 2, 1)
    address = await other.joined.listen("127.0.0.1", 0, None)
    asked.joined.links.keep([address])
    await until(lambda: [link for link in other.joined.network.exchange.links if link.session.is_open])
    node = Scene(tmp_path, SETTINGS, 1e9).node
    node.engine, node.examiner = PersonsEngine(), PersonsExaminer()  # type: ignore[assignment]
    human = HumanAnswers(node, Side(asked.joined.member), CATALOGUE)
    posed = await human.pose(AskForQuestion(task="gcd/easy"))
    marked = await human.give(GiveAnswer(id=posed.id, answer=right(posed)))
    assert marked.shared and marked.mark.solved
    await until(lambda: len(other.joined.network.exchange.pool) == 1)
    played = await other.play(1)
    (received,) = [group for group in played.groups if group.author]
    assert (received.origin, received.author) == ("human", asked.key)
    assert [completion.kind for completion in received.completions] == ["human"]  # the model's had no answer span
    assert received.marks[0].solved and played.advantages[-1][0] > 0
    with contextlib.closing(History(tmp_path / "theirs.sqlite")) as history:
        run = history.begin_run(run_manifest())
        history.record_round(run, played.report, played.groups, played.advantages)
        (source,) = [one for one in history.sources() if one.author]
        assert (source.origin, source.author) == ("human", asked.key)
        assert [one.kind for one in history.rollouts().items if one.author] == ["human"]
    await asyncio.gather(asked.joined.close(), other.joined.close(), node.close())


async def test_own_tasks_are_sent_to_members_of_a_private_swarm_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "TICK_SECONDS", 0.02)
    family = CATALOGUE.family("gcd")
    own = msgspec.structs.replace(family, name="sums", own=True, levels=family.levels[1:2])
    catalogue = msgspec.structs.replace(CATALOGUE, families=(*CATALOGUE.families, own))
    ids = {**IDS, "sums/easy": b"o" * 32}
    seat = Seat(tmp_path / "own", 1, 1, catalogue=catalogue.in_swarm(private=False), ids=ids)
    other = Seat(tmp_path / "other", 2, 1)
    seat.joined.links.keep([await other.joined.listen("127.0.0.1", 0, None)])
    await until(lambda: [link for link in other.joined.network.exchange.links if link.session.is_open])
    (link,) = other.joined.network.exchange.links
    assert link.hello is not None and link.hello.catalogue == catalogue_id(IDS.values())
    assert await seat.joined.member.questions(["sums/easy"]), "they are trained on at home"
    assert not seat.joined.member.is_shared("sums/easy")
    await asyncio.gather(seat.joined.close(), other.joined.close())
    alike = {"seed": bytes(32), "folder": tmp_path, "catalogue": catalogue, "ids": ids, "book_secret": bytes(32)}
    assert Identified(**alike).known_tasks == IDS
    assert Identified(**alike, members=Members(bytes(32))).known_tasks == ids


def test_the_door_knows_our_catalogue() -> None:
    kept = next(f"{f.name}/{level.name}" for f in CATALOGUE.families for level in f.levels if not level.shared)
    check = group_check(CATALOGUE, {GCD: "gcd/easy", b"k" * 32: kept})
    check(group_body(Signer(bytes(32)), task=GCD))
    with pytest.raises(Refused) as refused:
        check(group_body(Signer(bytes(32)), task=GCD, answers=[Answer(text="привет")]))
    assert refused.value.reason is Reason.BAD_TEXT
    for task, reason in ((b"k" * 32, Reason.UNUSED_TASK), (b"x" * 32, Reason.UNKNOWN_TASK)):
        with pytest.raises(Refused) as refused:
            check(group_body(Signer(bytes(32)), task=task))
        assert refused.value.reason is reason
