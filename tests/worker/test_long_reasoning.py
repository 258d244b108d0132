"""Answers with 1,500 characters of reasoning, over real websockets: who reasons at length itself learns from them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sapo_desktop.core.records import Generated, Group
from sapo_desktop.learning.reasoning import KEPT, lengths_in, medians, with_new
from sapo_desktop.swarm.protocol.refusals import Reason
from sapo_desktop.swarm.sockets import network
from sapo_desktop.worker.governor import NodeState
from tests.builders import group, loaded
from tests.swarm.sockets.test_network import until
from tests.worker.control.handlers.test_human import Examiner
from tests.worker.membership.test_joining import Seat, Solver
from tests.worker.test_node import SETTINGS, Scene

LONG = 1500
ROOM = msgspec.structs.replace(
    SETTINGS, answers=4, questions=4, mix="4/4", silo=False, validate_every=0, max_tokens=2000, curriculum=False
)


class Reasoner(Solver):
    """Writes so many characters before its answer, and half of its answers are right."""

    def __init__(self, characters: int) -> None:
        super().__init__(2)
        self.characters = characters
        self.loaded = loaded(context=4096)

    async def generate(self, *asked: Any, **more: Any) -> Generated:
        made = await super().generate(*asked, **more)
        steps = ("We take one number away from the other. " * 100)[: self.characters]
        rows = [[msgspec.structs.replace(one, text=steps + one.text) for one in row] for row in made.completions]
        return msgspec.structs.replace(made, completions=rows)


class Learner:
    """A whole node, but for model and examiner, as a member of the swarm."""

    def __init__(self, folder: Path, name: int, characters: int) -> None:
        folder.mkdir()
        self.scene = Scene(folder, ROOM, 1e9)
        self.node = self.scene.node
        self.seat = Seat(folder / "seat", name, 0, yardstick=self.node.yardstick)
        self.engine = self.seat.engine = self.node.engine = Reasoner(characters)  # type: ignore[assignment]
        self.node.examiner = Examiner()  # type: ignore[assignment]
        self.node.levels = {"gcd": ["easy"]}
        self.node.join(self.seat.joined.member)

    async def play(self) -> None:
        """One round."""
        self.node.orders.start(1)
        task = asyncio.create_task(self.node.run())
        await self.scene.until_state(NodeState.IDLE)
        task.cancel()
        await asyncio.wait([task])

    def pooled(self) -> int:
        return len(self.seat.joined.network.exchange.pool)


@contextlib.asynccontextmanager
async def swarm(folder: Path) -> AsyncIterator[tuple[Seat, Learner, Learner]]:
    """An author who reasons at length, a learner who does, and one who is brief."""
    author = Seat(folder / "author", 1, 0)
    author.engine = Reasoner(LONG)
    learners = Learner(folder / "thorough", 2, 800), Learner(folder / "brief", 3, 20)
    try:
        address = await author.joined.listen("127.0.0.1", 0, None)
        for one in learners:
            one.seat.joined.links.keep([address])
        await until(lambda: sum(link.session.is_open for link in author.joined.network.exchange.links) == 2)
        yield author, *learners
    finally:
        await asyncio.gather(author.joined.close(), *(one.seat.joined.close() for one in learners))
        await asyncio.gather(*(one.node.close() for one in learners))


async def test_long_reasoning_is_learned_from_by_its_like(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "TICK_SECONDS", 0.02)
    async with swarm(tmp_path) as (author, thorough, brief):
        for one in (thorough, brief):
            one.seat.joined.member.sharing = False
            await one.play()  # from here on it knows how long its own reasoning is
        assert thorough.node.yardstick().lengths == {"gcd/easy": 800.0}
        await author.play(1)
        assert author.joined.member.counts.published == 4
        await until(lambda: thorough.pooled() >= 2 and brief.pooled() >= 2)
        for one in (thorough, brief):
            await one.play()
        learned = [sequence for sequence in thorough.engine.batches[-1] if sequence.external]
        assert learned and all(LONG < len(sequence.tokens) <= 2000 for sequence in learned)
        assert not [sequence for sequence in brief.engine.batches[-1] if sequence.external]
        assert brief.seat.joined.network.exchange.refusals[Reason.UNFIT] >= 2
        kept = thorough.scene.keeper.store.newest_valid().checkpoint
        assert kept is not None and kept.counters.reasoning == {"gcd/easy": [800] * 4 * (4 + 2)}, "two were spared"


def own(*texts: str) -> Group:
    """A group of own answers, each read where it ends with a 6."""
    made = group(*[0.0] * len(texts), texts=texts)
    marks = [
        msgspec.structs.replace(mark, answer="6" if "6" in text else None)
        for mark, text in zip(made.marks, texts, strict=True)
    ]
    return msgspec.structs.replace(made, marks=marks)


def test_only_answers_that_were_read_in_their_tags_say_how_long_reasoning_is() -> None:
    texts = ["12345<answer>6</answer>", "<answer>6</answer>", "on and on", "or 6", "1<answer>?</answer>", "6</answer>"]
    assert lengths_in([own(*texts), own("123456789<answer>1</answer> no <answer>6</answer>\n")]) == {
        "gcd/easy": [5, 0, 31]
    }
    assert lengths_in([own("no answer")]) == {}


def test_the_median_follows_the_last_answers_of_a_task() -> None:
    kept = with_new({"gcd/easy": [10] * KEPT, "lcm/easy": [3]}, {"gcd/easy": [100] * (KEPT // 2 + 1), "bf/easy": [7]})
    assert {task: len(lengths) for task, lengths in kept.items()} == {"gcd/easy": KEPT, "lcm/easy": 1, "bf/easy": 1}
    assert medians(kept) == {"gcd/easy": 100.0, "lcm/easy": 3.0, "bf/easy": 7.0}
    assert medians({}) == {} and with_new({}, {}) == {}
