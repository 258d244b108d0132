"""Reactions of a node to its computer and itself; its use of resources, as rates and as energy."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from sapo_desktop.core.errors import HistoryUnavailable
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import OnBattery
from sapo_desktop.system.folders import DataFolder
from sapo_desktop.system.presence import energy as energy_module
from sapo_desktop.system.presence.energy import Energy
from sapo_desktop.system.presence.watch import Presence
from sapo_desktop.system.processes import Processors
from sapo_desktop.worker import guest as guest_module
from sapo_desktop.worker.governor import Decision, NodeState
from sapo_desktop.worker.guest import (
    KEEP_SECONDS,
    OTHERS_SECONDS,
    TICK_SECONDS,
    Guest,
    Meter,
    Others,
    Taken,
    Throttle,
)
from tests.worker.test_node import SETTINGS, Scene


class Side:
    """A side of the swarm that notes whether it is kept out."""

    network = None
    hosts: tuple[object, ...] = ()

    def __init__(self) -> None:
        self.barred = False
        self.upload = 0
        self.dialled = 0

    def dial_again(self) -> None:
        self.dialled += 1

    async def obey(self, decision: Decision) -> None:
        self.barred, self.upload = not decision.network, decision.upload


class Looked:
    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.scene, self.patch = Scene(folder, SETTINGS, 1e9), patch
        self.scene.engine.host.pid = self.scene.examiner.host.pid = os.getpid()
        self.side = Side()
        assembled = SimpleNamespace(node=self.scene.node, side=self.side)
        self.ceiling, self.renewed, self.wall = Held(), 0, 1e9
        self.rates: list[int] = []
        self.renewed_at_once = 0
        self.wanted: Settings | None = None
        self.guest = Guest(
            assembled,  # type: ignore[arg-type]
            DataFolder(folder),
            self.ceiling,  # type: ignore[arg-type]
            self._renew,
            self._renew_at_once,
            lambda: self.wanted or self.scene.node.settings,
            self.rates.append,
            lambda: self.wall,
        )
        self.here = Presence()
        patch.setattr(self.guest._watch, "look", lambda settings: self.here)
        patch.setattr(guest_module, "models_folder", lambda settings: folder / "models")
        self.scene.node.orders.start(None)

    async def look(self, times: int = 1) -> None:
        for _ in range(times):
            await self.guest._look()

    def said(self, word: str) -> list[str]:
        """The notices with that word."""
        return [text for text in self.scene.notices() if word in text]

    def set(self, **changes: object) -> None:
        self.scene.node.status.settings = msgspec.structs.replace(SETTINGS, **changes)

    def _renew_at_once(self) -> None:
        self.renewed_at_once += 1

    def _renew(self) -> None:
        self.renewed += 1


class Held:
    """A ceiling that the system refuses to hold, or takes up."""

    def __init__(self) -> None:
        self.most, self.refused = 0, ""
        self.answers = {1_000_000: "No bus here.", 4 * 10**12: ""}

    def follow(self, most: int) -> bool:
        new, self.most = most != self.most, most
        self.refused = self.answers.get(most, "")
        return new and most > 0 and not self.refused


@pytest.fixture
async def it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Looked]:
    it = Looked(tmp_path, monkeypatch)
    yield it
    await it.scene.node.close()


async def test_what_is_seen_is_obeyed_and_a_metered_link_is_left(it: Looked) -> None:
    it.set(silo=False)
    await it.guest.begin()
    assert it.scene.gate.state is NodeState.WORKING
    it.here = Presence(on_battery=True)
    await it.look()
    assert it.scene.gate.why == OnBattery() and not it.side.barred
    it.here = Presence(metered=True)
    await it.look()
    assert it.side.barred and it.scene.gate.state is NodeState.PAUSED


async def test_limits_for_away_are_over_with_the_look_at_which_somebody_is_back(it: Looked) -> None:
    there = {"threads": 1, "processor_percent": 50, "upload_kilobytes": 30, "download_kilobytes": 40}
    it.set(**there, when_in_use="limits")
    it.here = Presence(idle=6000.0)
    await it.guest.begin()
    await it.look()
    assert (it.scene.gate.cores, it.side.upload, it.rates[-1]) == (2.0, 0, 0)
    it.here = Presence(idle=0.5)
    await it.look()
    assert (it.scene.gate.cores, it.side.upload, it.rates[-1]) == (0.5, 30, 40)


async def test_who_cannot_tell_is_said_once(it: Looked) -> None:
    it.here = Presence(idle_unknown="No desktop.")
    await it.look(2)
    assert it.said("No desktop.") == ["No desktop. Settings that depend on it have no effect."]


async def test_a_card_is_asked_only_where_the_engine_is_on_one_and_never_holds_the_node_up(it: Looked) -> None:
    asked: list[threading.Thread] = []

    def card_memory_of(own: Sequence[int]) -> int:
        asked.append(threading.current_thread())
        return 7

    it.patch.setattr(guest_module, "card_memory_of", card_memory_of)
    await it.look()
    assert not asked and it.guest.meter.now.card_memory == 0
    it.scene.engine.on_card = True
    await it.look()
    assert it.guest.meter.now.card_memory == 7 and asked[0] is not threading.current_thread()


@pytest.mark.parametrize(("held", "acts"), [(7 * 10**9, False), (9 * 10**9, False), (11 * 10**9, True)])
async def test_more_of_a_card_than_allowed_has_the_model_loaded_again_with_less_but_not_where_it_is_a_little_more(
    it: Looked, held: int, acts: bool
) -> None:
    """What a card holds in addition to the tensors may be a little above the cap for ever."""
    it.patch.setattr(guest_module, "card_memory_of", lambda own: held)
    it.set(card_memory_most=8.0)
    it.scene.engine.on_card = True
    before = it.scene.engine.plan.trainer.micro_batch
    await it.look(30)
    assert len(it.said("card_memory_most")) == acts and it.scene.engine.running is not acts
    assert it.scene.engine.plan.trainer.micro_batch == (before // 2 if acts else before)


async def test_a_lowered_cap_of_the_cards_memory_does_not_wait_for_the_current_round(it: Looked) -> None:
    it.patch.setattr(guest_module, "card_memory_of", lambda own: 7 * 10**9)
    it.scene.engine.on_card = True
    for gigabytes, expected in ((0.0, 0), (8.0, 0), (6.0, 1)):
        it.wanted = msgspec.structs.replace(SETTINGS, card_memory_most=gigabytes)
        await it.look()
        assert it.renewed_at_once == expected
    said = it.scene.notices()[-1]
    assert "uses 7.0 GB of the graphics card's memory, but card_memory_most allows 6.0 GB." in said
    assert it.scene.engine.running, "the node that takes this one's place is fitted to the new cap"


async def test_a_long_pause_gives_memory_back(it: Looked) -> None:
    it.scene.node.orders.pause(None)
    await it.look()
    assert it.scene.engine.running
    it.scene.gate._asleep_since -= 901  # type: ignore[operator]
    await it.look()
    assert not it.scene.engine.running
    it.scene.examiner.host.pid = os.getpid()  # somebody asked for a question meanwhile
    it.scene.gate._asleep_since -= 901  # type: ignore[operator]
    await it.look()
    assert it.scene.examiner.host.pid is None


async def test_too_little_memory_and_disk_are_said_with_what_would_do(it: Looked) -> None:
    it.set(memory_most=0.001, disk_gigabytes=1e-6)
    await it.look(2)
    assert len(it.said("The model is reloaded with smaller batches")) == len(it.said("or remove a model")) == 1
    assert it.guest.meter.disk > 0


async def test_a_disk_that_is_too_full_to_be_tidied_is_said_once_and_tidied_later(it: Looked) -> None:
    it.set(disk_gigabytes=1e-6)
    tries, tidy = list[int](), it.scene.keeper.tidy

    async def fails_twice(most: int, places: Sequence[Path]) -> int:
        tries.append(most)
        if len(tries) < 3:
            raise HistoryUnavailable("The history cannot be written.")
        return await tidy(most, places)

    it.patch.setattr(it.scene.keeper, "tidy", fails_twice)
    await it.look(2)
    assert len(tries) == 1 and it.guest.meter.disk > 0
    for _ in range(2):
        it.guest._counted = None
        await it.look()
    assert it.said("The history") == [
        (
            "The history cannot be written. Not enough could be deleted for disk_gigabytes. The node "
            "tries again in 5 minutes."
        )
    ]
    assert len(tries) == 3 and "or remove a model" in it.scene.notices()[-1]


async def test_a_ceiling_that_the_system_takes_up_begins_with_new_processes_and_one_that_it_refuses_is_said_once(
    it: Looked,
) -> None:
    it.set(memory_most=4000)
    await it.look(2)
    assert it.renewed == 1 and not it.said("memory_most")
    it.set(memory_most=0.001)
    it.scene.engine.host.pid = None  # nothing is held that the other watch could complain of
    await it.look(2)
    assert it.said("memory_most") == ["No bus here. So memory_most is watched here, not enforced."] and it.renewed == 1


async def test_it_is_kept_awake_only_if_asked_while_it_computes_and_on_mains(it: Looked) -> None:
    held: list[bool] = []
    it.patch.setattr(it.guest._awake, "follow", lambda wanted: held.append(wanted) or True)
    go_on = msgspec.structs.replace(SETTINGS, on_battery="continue")
    asked = msgspec.structs.replace(go_on, keep_awake=True)
    for settings, here in (
        (go_on, Presence()),
        (asked, Presence()),
        (asked, Presence(on_battery=True)),
        (asked, Presence()),
    ):
        it.scene.node.status.settings, it.here = settings, here
        await it.look()
    it.scene.node.orders.pause(None)
    await it.look()
    assert held == [False, True, False, True, False]


async def test_what_checkpoints_wrote_in_a_day_is_measured(it: Looked) -> None:
    it.wall = time.time()
    await it.look()
    assert it.guest.meter.written == 0
    written = await it.scene.keeper.write(it.scene.node.counters, it.scene.engine)  # type: ignore[arg-type]
    await it.look()
    assert it.guest.meter.written == written.bytes > 0
    it.wall += 90_000
    it.guest._counted = None
    await it.look()
    assert it.guest.meter.written == 0


async def test_a_computer_that_slept_has_its_links_made_again(it: Looked) -> None:
    it.patch.setattr(guest_module, "LOOK_SECONDS", 0)
    for passed in (2.0, 2.0, 3600.0, 2.0, -3600.0, 2.0):
        waiting = asyncio.create_task(it.guest._until_next_look())
        await asyncio.sleep(0)
        it.wall += passed
        await waiting
    assert it.side.dialled == 1


async def test_a_look_that_takes_long_is_no_sleep_and_cuts_no_link(it: Looked) -> None:
    it.patch.setattr(guest_module, "LOOK_SECONDS", 0)
    looks = 0

    async def put_away() -> None:
        nonlocal looks
        looks, it.wall = looks + 1, it.wall + 60.0
        if looks == 3:
            raise asyncio.CancelledError

    it.patch.setattr(it.guest, "_bound_memory", put_away)
    with pytest.raises(asyncio.CancelledError):
        await it.guest.run()
    assert looks == 3 and it.side.dialled == 0


class Machine:
    """Processes that take `greed` cores while they are not held."""

    def __init__(self, greed: float) -> None:
        self.now = 0.0
        self.greed = greed
        self.spent = {1: 100.0, 2: 7.0}
        self.held = False
        self.throttle = Throttle(lambda: self.spent, self._hold, lambda: self.now)

    def _hold(self, held: bool) -> None:
        self.held = held

    def run(self, seconds: float, cores: float) -> float:
        """Cores used in so many seconds, as a mean."""
        before = sum(self.spent.values())
        for _ in range(round(seconds / TICK_SECONDS)):
            self.now += TICK_SECONDS
            if not self.held:
                self.spent = {pid: spent + self.greed * TICK_SECONDS / 2 for pid, spent in self.spent.items()}
            self.throttle.look(cores)
        return (sum(self.spent.values()) - before) / seconds


@pytest.mark.parametrize(("greed", "cores"), [(2.0, 1.0), (8.0, 0.5), (1.05, 1.0), (16.0, 0.25)])
def test_who_takes_too_much_gets_no_more_than_its_share(greed: float, cores: float) -> None:
    machine = Machine(greed)
    assert machine.run(600, cores) == pytest.approx(cores, rel=0.05)


def test_who_takes_less_is_never_held_and_a_changed_share_holds_within_two_seconds() -> None:
    machine = Machine(1.0)
    assert machine.run(10, 1.5) == pytest.approx(1.0) and not machine.held
    machine.run(2, 0.5)
    assert machine.run(2, 0.5) == pytest.approx(0.5, rel=0.1)


def test_a_process_that_comes_or_goes_is_no_processor_time() -> None:
    machine = Machine(0.0)
    machine.spent = {2: 7.0, 3: 500.0}
    machine.run(1, 1.0)
    assert not machine.held


async def test_what_a_paused_node_computed_for_who_asked_holds_no_round_up(it: Looked) -> None:
    spent, looked = {1: 0.0}, asyncio.Event()

    class Noted(Throttle):
        def look(self, cores: float) -> None:
            super().look(cores)
            looked.set()

    async def until_looked() -> None:
        looked.clear()
        await looked.wait()

    it.patch.setattr(guest_module, "Throttle", Noted)
    it.patch.setattr(guest_module, "TICK_SECONDS", 0)
    it.patch.setattr(guest_module, "spent_by", lambda assembled: dict(spent))
    keeping = asyncio.create_task(it.guest.keep_to_share())
    async with asyncio.timeout(20):
        await until_looked()
        it.scene.node.orders.pause(None)
        await asyncio.sleep(0)
        spent[1] += 3600.0
        it.scene.node.orders.resume()
        await until_looked()
        assert not it.scene.engine.host.suspended
        spent[1] += 3600.0
        await until_looked()
        assert it.scene.engine.host.suspended, "what its rounds take is"
        it.scene.node.orders.pause(None)
        await asyncio.sleep(0)
        assert not it.scene.gate._held, "and a pause is the gate's own to keep"
    keeping.cancel()
    await asyncio.wait([keeping])


class Spending:
    def __init__(self, patch: pytest.MonkeyPatch, rapl: Path) -> None:
        self.now, self.kept = 0.0, list[int]()
        self.taken = Taken({1: 100.0}, 5, 0, 0)
        self.busy = 0.0
        patch.setattr(energy_module, "processors", lambda: Processors(self.busy, 2 * self.now))
        patch.setattr(energy_module, "card_joules", lambda own: [(1000.0 + self.now, True), (self.now, False)])
        self.meter = Meter(lambda: self.taken, self.kept.append, 7, lambda: self.now, Energy(rapl))

    def pass_by(self, seconds: float, cpu: float) -> None:
        self.now += seconds
        self.busy += 2 * cpu
        self.taken = Taken({1: self.taken.cpu[1] + cpu, 2: 900.0}, 6, 3000, 500)


def test_without_a_counter_time_is_counted_at_the_stated_power(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    it = Spending(monkeypatch, tmp_path)
    monkeypatch.setattr(guest_module, "CORE_WATTS", 8)
    it.pass_by(2, 1)
    seen = it.meter.look(Settings())
    assert (seen.cores, seen.memory, seen.sent, seen.received) == (0.5, 6, 1500.0, 250.0)
    assert (seen.joules, seen.watts, seen.measured) == (7 + 8, 4.0, False), "the card has no look before it"
    it.pass_by(2, 1)
    assert it.meter.look(Settings()).joules == 15 + 8 + 2, "of the card that it computes on"
    it.pass_by(KEEP_SECONDS, 0)
    it.meter.look(Settings())
    assert it.kept == [8 + 8 + 2 + KEEP_SECONDS]


def test_the_processors_own_counter_is_shared_out_by_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "intel-rapl:0"
    package.mkdir()
    (package / "max_energy_range_uj").write_text("100000000")
    (package / "energy_uj").write_text("90000000")
    it = Spending(monkeypatch, tmp_path)
    it.pass_by(2, 1)
    (package / "energy_uj").write_text("10000000")  # it started again: 20 J
    seen = it.meter.look(Settings())
    assert seen.joules == 7 + 10 and seen.measured, "half of what computed was ours"


def test_other_programs_that_have_the_processor_are_said_with_their_share_and_no_longer_when_it_is_over() -> None:
    now, busy = 0.0, 0.0
    others = Others(0.0, lambda: now, lambda: Processors(busy, 2 * now))
    said: list[str] = []
    cpu = 0.0
    for load, ours in [(2.0, 0.24), (2.0, 0.3), (2.0, 0.9), (2.0, 2.0), (2.0, 0.2), (0.5, 0.2)]:
        now, busy = now + OTHERS_SECONDS, busy + load * OTHERS_SECONDS
        cpu += ours * OTHERS_SECONDS
        said.append(str(others.look(cpu)))
    first = "Other programs use 88% of the processor, so this takes longer."
    assert said == [first, first, "", "", first.replace("88", "90"), ""], "a share that hardly changed is no news"
