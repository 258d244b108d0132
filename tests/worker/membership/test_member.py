"""A node among others, as its rounds see it: two members whose exchanges are joined in memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from sapo_desktop.core.records import Completion, Group, Question
from sapo_desktop.core.resources import resource
from sapo_desktop.swarm.clock import Now
from sapo_desktop.swarm.exchange import Exchange
from sapo_desktop.swarm.protocol.envelope import GroupBody, open_envelope
from sapo_desktop.tasks.catalogue import load_catalogue
from sapo_desktop.tasks.questions import question_seed
from sapo_desktop.tasks.split import held_out_side
from sapo_desktop.worker.membership.external import Intake
from sapo_desktop.worker.membership.index_book import IndexBook
from sapo_desktop.worker.membership.member import Member
from sapo_desktop.worker.membership.publishing import Membership
from tests.swarm.mesh import Mesh, Peer
from tests.swarm.peers import NETWORK
from tests.worker.fakes import mark
from tests.worker.membership.test_external import CATALOGUE, GCD, OURS, Encoder, Examiner, truth


class Outlet:
    """An exchange that sends when the mesh does."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.published: list[bytes] = []

    def publish(self, envelope: bytes) -> None:
        self.published.append(envelope)
        self.exchange.publish(envelope, Now(time.monotonic(), time.time()))


class Seat:
    """One member with what it is made of."""

    def __init__(
        self,
        folder: Path,
        name: int,
        monkeypatch: pytest.MonkeyPatch,
        *,
        task: bytes = GCD,
        before: bytes | None = None,
    ) -> None:
        self.peer = Peer(name, tasks=[task], before=[before] if before else [])
        exchange = self.peer.exchange
        monkeypatch.setattr(exchange, "_check", lambda body: None)
        self.outlet = Outlet(exchange)
        previous = {"gcd/easy": before} if before else {}
        keys = {identity: "gcd/easy" for identity in (task, before) if identity}
        intake = Intake(Examiner(), Encoder(), CATALOGUE, keys, NETWORK, exchange.refusals, lambda: OURS)
        membership = Membership(
            self.peer.signer, NETWORK, bytes([name]) * 16, {"gcd/easy": task}, label="tests", previous=previous
        )
        book = IndexBook(folder / f"indices-{name}.json")
        self.member = Member(membership, self.outlet, Examiner(), intake, book, CATALOGUE)
        self.member.sharing = True

    def answered(self, questions: list[Question], solved: bool = True) -> list[Group]:
        """Groups of two answers each, right or wrong."""
        return [
            Group(
                question=one,
                completions=[
                    Completion(
                        tokens=[1], logprobs=[0.0], text=f"<answer>{truth(one.seed) + wrong}</answer>", finish="stop"
                    )
                    for wrong in (0 if solved else 1, 1)
                ],
                marks=[mark(solved), mark(False)],
            )
            for one in questions
        ]

    async def share(self, count: int, solved: bool = True) -> list[Question]:
        """Publish so many groups of such answers; returns their questions."""
        questions = await self.member.questions(["gcd/easy"] * count)
        await self.member.share(self.answered(questions, solved))
        return questions


Seats = tuple[Mesh, Seat, Seat]
T = TypeVar("T")


def right(group: Group) -> bool:
    return group.marks[0].solved


def gathered(folder: Path, monkeypatch: pytest.MonkeyPatch, others: int) -> tuple[Mesh, Seat, list[Seat]]:
    """One that draws, linked to so many others."""
    mesh = Mesh(now=Now(time.monotonic(), time.time()))
    drawer, *rest = (Seat(folder, name, monkeypatch) for name in range(1, others + 2))
    drawer.member.want(["gcd/easy"], 8)
    for other in rest:
        mesh.join(drawer.peer, other.peer)
    return mesh, drawer, rest


async def test_questions_are_training_ones_under_indices_used_once(seat: Seat) -> None:
    questions = await seat.member.questions(["gcd/easy"] * 20)
    indices = [question.index for question in questions]
    assert len(set(indices)) == 20 and not any(held_out_side("gcd", question.text) for question in questions)
    for question in questions:
        seed = question_seed(
            network=NETWORK, key=seat.peer.signer.key, slot=question.slot, task=GCD, index=question.index or 0
        )
        assert question.seed == seed


async def test_what_one_shares_the_other_makes_again_and_marks(seats: Seats) -> None:
    mesh, first, second = seats
    questions = await first.share(4)
    mesh.settle()
    second.member.want(["gcd/easy"], 2)
    drawn = await second.member.draw(2, 8, strict=True)
    assert len(drawn) == 2 and second.member.one_source
    assert {external.group.question.text for external in drawn} <= {question.text for question in questions}
    assert [[mark.solved for mark in external.group.marks] for external in drawn] == [[True, False]] * 2
    measured = await second.member.measured(["gcd/easy"])
    assert measured is not None and (measured.value, measured.peers) == (0.5, 1)
    assert await second.member.measured(["lcm/easy"]) is None


async def test_groups_under_a_former_id_are_learned_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mesh = Mesh(now=Now(time.monotonic(), time.time()))
    old = Seat(tmp_path, 1, monkeypatch)
    new = Seat(tmp_path, 2, monkeypatch, task=b"new" + bytes(29), before=GCD)
    mesh.join(old.peer, new.peer)
    await old.share(2)
    await new.share(2)
    mesh.settle()
    new.member.want(["gcd/easy"], 2)
    drawn = await new.member.draw(2, 8, strict=True)
    assert [external.group.question.task for external in drawn] == ["gcd/easy"] * 2
    assert old.peer.held() == [], "what it cannot know by its id is not sent"


async def test_nothing_in_the_pool_is_no_reason_to_wait(seats: Seats) -> None:
    _, _, second = seats
    second.member.want(["gcd/easy"], 2)
    assert await second.member.draw(2, 8, strict=True) == []


async def test_a_full_disk_is_waited_for_before_anything_is_asked(seat: Seat) -> None:
    room, waiting = asyncio.Event(), asyncio.Semaphore(0)

    async def keep(work: Callable[[], None]) -> None:
        waiting.release()
        await room.wait()
        work()

    async def held(done: Coroutine[Any, Any, T]) -> T:
        task = asyncio.create_task(done)
        await waiting.acquire()
        assert not task.done()
        room.set()
        result = await task
        room.clear()
        assert waiting.locked(), "one write for all of a round's questions"
        return result

    seat.member.keep = keep
    await held(seat.member.question_for_person("gcd/easy", keep))
    groups = seat.answered(await held(seat.member.questions(["gcd/easy"] * 2)))
    assert await seat.member.share(groups) == len(seat.outlet.published) == 2


async def test_who_left_sends_nothing(seat: Seat) -> None:
    groups = seat.answered(await seat.member.questions(["gcd/easy"]))
    seat.member.leave()
    assert await seat.member.share(groups) == 0 and seat.outlet.published == []


async def test_only_what_peers_take_is_shared(seat: Seat) -> None:
    (question,) = await seat.member.questions(["gcd/easy"])
    (good,) = seat.answered([question])

    def text(content: str) -> Group:
        return msgspec.structs.replace(good, completions=[msgspec.structs.replace(good.completions[0], text=content)])

    refused = [
        msgspec.structs.replace(good, question=msgspec.structs.replace(question, index=64)),
        msgspec.structs.replace(good, question=msgspec.structs.replace(question, index=None)),
        text("x" * 5000),
        text("\x1b[2J"),
        text("\ud800"),
        text("привет"),
        msgspec.structs.replace(good, completions=good.completions * 9),
        msgspec.structs.replace(good, completions=[text("é" * 2040).completions[0]] * 8),
    ]
    await seat.member.share(refused)
    assert seat.outlet.published == []
    await seat.member.share([good])
    (envelope,) = seat.outlet.published
    body = open_envelope(envelope, GroupBody, NETWORK).body
    assert body.index == question.index


def test_levels_that_do_not_travel_are_not_asked_for(seat: Seat) -> None:
    catalogue = load_catalogue(resource("tasks.toml"))
    kept = next(f"{f.name}/{level.name}" for f in catalogue.families for level in f.levels if not level.shared)
    seat.member.want([kept, "lcm/easy"], 4)
    assert seat.outlet.exchange._interest == ()


async def test_half_of_a_round_may_come_from_neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mesh = Mesh(now=Now(time.monotonic(), time.time()))
    drawer, *neighbours, afar = (Seat(tmp_path, name, monkeypatch) for name in range(1, 7))
    for other in (*neighbours, afar):
        wire = mesh.join(drawer.peer, other.peer)
        wire.ends[0][1].lan = other is not afar
    for other in neighbours:
        await other.share(4)
    mesh.settle()
    drawer.member.want(["gcd/easy"], 4)
    drawn = await drawer.member.draw(4, 8, strict=True)
    assert [external.entry.path.lan for external in drawn] == [True, True]


async def test_without_consent_nothing_is_shared_and_much_is_drawn(seats: Seats) -> None:
    mesh, first, second = seats
    second.member.sharing = False
    for seat in (first, second):
        await seat.share(4)
        seat.member.want(["gcd/easy"], 2)
    mesh.settle()
    assert await first.member.draw(2, 8, strict=True) == []
    assert len(await second.member.draw(2, 8, strict=True)) == 2
    assert (first.member.counts.published, second.member.counts.published) == (4, 0)


async def test_groups_that_do_not_teach_take_no_place(seats: Seats) -> None:
    mesh, first, second = seats
    second.member.want(["gcd/easy"], 8)
    questions = await first.member.questions(["gcd/easy"] * 10)
    await first.member.share([*first.answered(questions[:6], solved=False), *first.answered(questions[6:])])
    mesh.settle()
    asked: list[Group] = []

    def teaches(group: Group) -> bool:
        asked.append(group)
        return right(group)

    drawn = await second.member.draw(4, 8, strict=True, teaches=teaches)
    assert len(drawn) == 4 and all(external.group.marks[0].solved for external in drawn)
    assert len(asked) == second.member.counts.drawn <= 10
    assert second.peer.exchange.giving.used(first.peer.signer.key) == 4


async def test_a_round_looks_at_so_many_groups_and_no_more(seats: Seats) -> None:
    mesh, first, second = seats
    second.member.want(["gcd/easy"], 8)
    await first.share(30, solved=False)
    mesh.settle()
    assert await second.member.draw(3, 8, strict=True, teaches=lambda group: False) == []
    assert second.member.counts.drawn == 12


async def test_a_link_that_teaches_gets_only_its_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mesh, drawer, (keen, dull) = gathered(tmp_path, monkeypatch, 2)
    await keen.share(16)
    await dull.share(16, solved=False)
    mesh.settle()
    taught = await drawer.member.draw(4, 8, strict=True, teaches=right)
    assert [external.entry.name.author for external in taught] == [keen.peer.signer.key] * 2


async def test_a_link_gets_no_more_than_its_share_once_the_others_groups_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who floods is else alone in the pool as soon as what the others sent is drawn and does not teach."""
    mesh, drawer, (loud, dull) = gathered(tmp_path, monkeypatch, 2)
    await loud.share(20)
    await dull.share(1, solved=False)
    mesh.settle()
    for _ in range(2):
        assert len(await drawer.member.draw(4, 8, strict=True, teaches=right)) == 2
        assert not drawer.member.one_source


async def test_nothing_is_taken_and_marked_beyond_a_links_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mesh, drawer, (one, _silent) = gathered(tmp_path, monkeypatch, 2)
    await one.share(20)
    mesh.settle()
    assert len(await drawer.member.draw(4, 8, strict=True)) == drawer.member.counts.drawn == 2


async def test_who_left_in_the_middle_of_a_round_neither_shares_nor_draws(seats: Seats) -> None:
    mesh, first, second = seats
    await first.share(4)
    mesh.settle()
    first.member.leave()
    second.member.leave()
    await first.share(1)
    assert first.member.counts.published == 4
    second.member.want(["gcd/easy"], 2)
    assert await second.member.draw(2, 8, strict=True) == []


async def test_the_shares_of_sources_are_those_of_the_groups_drawn_lately(seats: Seats) -> None:
    mesh, first, second = seats
    assert second.member.draw_shares() == {}
    await first.share(4)
    mesh.settle()
    second.member.want(["gcd/easy"], 2)
    await second.member.draw(2, 8, strict=True)
    (link,) = second.peer.exchange.links
    assert second.member.draw_shares() == {link.source: 1.0}


async def test_answers_that_are_published_are_counted(seats: Seats) -> None:
    _, first, _ = seats
    counted: list[int] = []
    first.member.shared = counted.append
    groups = first.answered(await first.member.questions(["gcd/easy"] * 3))
    await first.member.share(groups)
    first.member.sharing = False
    await first.member.share(groups)
    assert counted == [2, 2, 2]
