"""What was ordered, whatever comes between, and what the gate is told of it."""

import asyncio
import time
from pathlib import Path

import pytest

from sapo_desktop.core.errors import UsageError
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import Ending, Failed, OnBattery, Paused, Ready, Training, Why
from sapo_desktop.system.presence.watch import Presence
from sapo_desktop.worker.control.messages.events import Event, StateChanged
from sapo_desktop.worker.governor import Decision, NodeState
from sapo_desktop.worker.orders import Gate, Orders
from tests.worker.fakes import FakeHost

NOON = 1_000_000.0
PLUGGED, BATTERY = Presence(), Presence(on_battery=True, charge=80)


class Told:
    """Orders with their gate, a clock and all that was said."""

    def __init__(self, folder: Path | None = None, *, playing: bool = True, begin: bool = True) -> None:
        self.events: list[Event] = []
        self.notices: list[str] = []
        self.now = NOON
        self.settings = Settings()
        self.gate = Gate([], self.events.append)
        self.orders = Orders(
            self.gate,
            lambda: self.settings,
            6,
            lambda: playing,
            lambda: True,
            folder / "wishes.json" if folder else None,
            lambda: self.now,
            notify=lambda level, text: self.notices.append(str(text)),
        )
        if begin:
            self.orders.follow()

    @property
    def states(self) -> list[str]:
        return [event.state for event in self.events if isinstance(event, StateChanged)]


def started(rounds: int | None = None, folder: Path | None = None) -> Told:
    told = Told(folder)
    told.orders.start(rounds)
    return told


def again_in(folder: Path) -> Told:
    """The node that is started next on this folder."""
    told = Told(folder, begin=False)
    told.orders.as_before()
    return told


def test_rounds_are_counted_down_to_idle() -> None:
    told = started(2)
    assert (told.gate.reason, told.orders.is_last_round) == ("Training round 7", False)
    told.orders.done(7)
    assert (told.gate.reason, told.orders.rounds_left, told.orders.is_last_round) == ("Training round 8", 1, True)
    told.orders.done(8)
    assert (told.gate.state, told.gate.reason, told.orders.rounds_left) == (
        NodeState.IDLE,
        "Done: round 8 was the last one you asked for",
        None,
    )
    with pytest.raises(UsageError, match="Round numbers start at 1"):
        told.orders.start(0)


def test_rounds_that_were_lost_are_still_to_be_played() -> None:
    told = started(3)
    told.orders.done(7)
    told.orders.done(8)
    told.orders.back_to(6)
    assert told.orders.rounds_left == 3
    told.orders.pause(None)
    told.orders.resume()
    assert (told.orders.rounds_left, told.gate.reason) == (3, "Training round 7")


@pytest.mark.parametrize(
    ("rounds", "then"),
    [(None, "Paused after round 7, as you asked"), (1, "Done: round 7 was the last one you asked for")],
)
def test_finishing_ends_with_the_round_in_hand_and_tells_once(rounds: int | None, then: str) -> None:
    told, ended = started(rounds), list[str]()
    told.orders.end(lambda: ended.append("told"))
    assert (told.gate.reason, told.orders.is_last_round) == ("Finishing round 7, then quitting", True)
    told.orders.done(7)
    assert (told.gate.reason, ended) == (then, ["told"])


def test_who_was_to_end_after_its_round_ends_after_that_of_the_node_that_takes_its_place(tmp_path: Path) -> None:
    before, told = Told(), Told(folder=tmp_path)
    ended: list[str] = []
    before.orders.start(3)
    before.orders.end(lambda: ended.append("told"))
    told.orders.take_over(before.orders)
    assert told.gate.reason == "Finishing round 7, then quitting"
    told.orders.done(7)
    assert ended == ["told"] and again_in(tmp_path).orders.rounds_left == 2


def test_a_pause_between_rounds_is_all_that_finishing_asks_for() -> None:
    told = Told(playing=False)
    told.orders.start(None)
    told.orders.pause(None)
    said = len(told.events)
    told.orders.finish()
    assert told.gate.state is NodeState.PAUSED and len(told.events) == said


def test_finishing_pauses_a_node_that_something_else_holds_back_between_rounds() -> None:
    told = Told(playing=False)
    told.orders.start(3)
    told.orders.see(BATTERY)
    told.orders.finish()
    told.orders.see(PLUGGED)
    assert (told.gate.why, told.orders.rounds_left) == (Paused(), 3)


async def test_a_timed_pause_ends_by_itself_and_says_when() -> None:
    told = started()
    told.orders.pause(900)
    assert told.gate.why == Paused(until=NOON + 900)
    changed = told.events[-1]
    assert isinstance(changed, StateChanged) and changed.resume_at == NOON + 900
    told.now += 899
    told.orders.see(PLUGGED)  # a look at the power supply is a look at the clock: the computer may have slept
    assert told.gate.state is NodeState.PAUSED
    told.now += 1
    told.orders.see(PLUGGED)
    assert told.gate.state is NodeState.WORKING and told.gate.resumes_in is None


async def test_another_pause_replaces_the_timer() -> None:
    told = started()
    told.orders.pause(3600)
    told.orders.pause(None)
    assert told.gate.resumes_in is None and told.gate.why == Paused()


@pytest.mark.parametrize("seconds", [0.0, -5.0, 1e12, float("nan")])
def test_a_pause_of_no_time_is_refused(seconds: float) -> None:
    told = started()
    with pytest.raises(UsageError, match="15m"):
        told.orders.pause(seconds)


def test_what_makes_no_sense_now_changes_no_wish() -> None:
    told = Told()
    for order in (lambda: told.orders.pause(None), told.orders.finish):
        with pytest.raises(UsageError, match="idle"):
            order()
    assert not told.orders.wishes.contribute and told.gate.why == Ready()


def test_the_plug_pauses_and_goes_on_and_a_press_on_battery_holds_for_an_hour() -> None:
    told = started()
    told.orders.see(BATTERY)
    assert (told.gate.state, told.gate.why) == (NodeState.PAUSED, OnBattery())
    told.orders.see(PLUGGED)
    assert told.gate.state is NodeState.WORKING
    told.settings = Settings(on_battery="continue")
    told.orders.see(BATTERY)
    assert told.gate.state is NodeState.WORKING


async def test_what_holds_back_is_overruled_for_an_hour_and_no_longer() -> None:
    told = Told()
    told.orders.see(BATTERY)
    told.orders.start(None)
    assert told.gate.why == OnBattery(), "to begin is not to overrule a setting"
    told.orders.resume()
    assert told.gate.why == Training(round=7, until=NOON + 3600, anyway=True)
    assert told.gate.resumes_in is None, "it is no pause that ends then"
    told.now += 3600
    told.orders.see(BATTERY)
    assert told.gate.why == OnBattery()
    told.orders.resume(60)
    assert told.gate.why == Training(round=7, until=NOON + 3660, anyway=True)
    with pytest.raises(UsageError, match="15m"):
        told.orders.resume(0)


async def test_a_round_that_is_held_back_is_finished_when_that_is_asked_for() -> None:
    told = started()
    told.orders.see(BATTERY)
    told.orders.finish()
    assert told.gate.state is NodeState.FINISHING


async def test_anyway_outlives_a_restart(tmp_path: Path) -> None:
    told = started(folder=tmp_path)
    told.orders.resume(900)
    assert again_in(tmp_path).orders.wishes.anyway_until == NOON + 900


def test_a_node_that_is_started_again_goes_on_as_before(tmp_path: Path) -> None:
    started(folder=tmp_path)
    again = again_in(tmp_path)
    assert again.gate.state is NodeState.WORKING
    again.orders.finish()
    later = again_in(tmp_path)
    assert later.gate.why == Paused(), "the round that was to be finished is over"


async def test_a_pause_until_tomorrow_outlives_the_evening(tmp_path: Path) -> None:
    first = started(folder=tmp_path)
    first.orders.pause(50_000)
    again = again_in(tmp_path)
    assert again.gate.why == Paused(until=NOON + 50_000)
    late = Told(tmp_path, begin=False)
    late.now += 50_001
    late.orders.as_before()
    assert late.gate.state is NodeState.WORKING


@pytest.mark.parametrize("content", [None, b"", b"{}", b"rubbish", b'{"contribute": 7}'])
def test_wishes_that_cannot_be_read_are_nobodys(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "wishes.json").write_bytes(content)
    told = again_in(tmp_path)
    assert told.gate.state is NodeState.IDLE
    said = ["The node's saved state could not be read"] if content not in (None, b"{}") else []
    assert [text.partition(" (")[0] for text in told.notices] == said


@pytest.mark.parametrize("order", ["pause", "resume", "finish"])
def test_an_order_after_the_end_was_asked_for_takes_its_place(order: str) -> None:
    told = Told()
    ended: list[str] = []
    told.orders.start(None)
    told.orders.end(lambda: ended.append("told"))
    if order == "pause":
        told.orders.pause(None)
    if order != "finish":
        told.orders.resume()
    told.orders.finish()
    told.orders.done(7)
    assert (told.gate.state, ended) == (NodeState.PAUSED, [])


def test_a_node_that_ended_after_its_round_goes_on_at_the_next_start(tmp_path: Path) -> None:
    first = started(3, tmp_path)
    first.orders.end(lambda: None)
    killed = again_in(tmp_path)
    assert (killed.gate.state, killed.orders.rounds_left) == (NodeState.WORKING, 3)
    first.orders.done(7)
    again = again_in(tmp_path)
    assert (again.gate.state, again.orders.rounds_left) == (NodeState.WORKING, 2)


def test_one_that_was_to_pause_pauses_after_it_was_ended_too(tmp_path: Path) -> None:
    first = started(folder=tmp_path)
    first.orders.finish()
    first.orders.end(lambda: None)
    first.orders.done(7)
    again = again_in(tmp_path)
    assert again.gate.why == Paused()


def test_rounds_that_are_left_are_counted_over_a_kill(tmp_path: Path) -> None:
    first = started(2, tmp_path)
    first.orders.done(7)
    again = again_in(tmp_path)
    assert (again.gate.state, again.orders.rounds_left) == (NodeState.WORKING, 1)
    again.orders.done(8)
    assert again.gate.state is NodeState.IDLE
    later = again_in(tmp_path)
    assert later.gate.state is NodeState.IDLE


def test_rounds_that_were_lost_are_no_wish_of_a_node_that_only_serves(tmp_path: Path) -> None:
    Told(tmp_path).orders.start(None)
    idle = Told(tmp_path)
    idle.orders.back_to(5)
    again = again_in(tmp_path)
    assert again.gate.state is NodeState.WORKING


def test_an_order_holds_on_a_full_disk_and_the_next_one_is_written(tmp_path: Path) -> None:
    told = Told(tmp_path / "gone")
    told.orders.start(None)
    told.orders.pause(None)
    assert told.gate.state is NodeState.PAUSED
    assert [text.startswith("Done, but not saved") for text in told.notices] == [True, True]
    (tmp_path / "gone").mkdir()
    told.orders.pause(None)
    again = again_in(tmp_path / "gone")
    assert again.gate.why == Paused()


def test_a_failed_node_stays_so_until_somebody_resumes() -> None:
    told = started()
    told.orders.fail(Failed(text="It died.", failures=5))
    told.orders.see(PLUGGED)
    assert told.gate.state is NodeState.FAILED
    told.orders.resume()
    assert (told.gate.state, told.states[-2:]) == (NodeState.WORKING, ["failed", "working"])
    told.orders.stop()
    told.orders.see(PLUGGED)
    assert (told.gate.state, told.gate.why) == (NodeState.STOPPING, Ending())
    for order in (lambda: told.orders.pause(None), told.orders.finish, told.orders.resume):
        with pytest.raises(UsageError, match=r"The node is stopping: it cannot .* now\. Start it again"):
            order()


# -- the gate ----------------------------------------------------------------------------------------------------


def decision(state: NodeState, why: Why) -> Decision:
    return Decision(state=state, why=why, threads=1)


WORK = decision(NodeState.WORKING, Training(round=7))
PAUSE = decision(NodeState.PAUSED, Paused())


async def test_a_pause_suspends_and_a_request_wakes_for_as_long_as_it_takes() -> None:
    host, events = FakeHost(), list[Event]()
    gate = Gate([host], events.append)
    gate.follow(WORK, lambda: None)
    assert gate.is_open and not host.suspended
    gate.follow(PAUSE, lambda: None)
    assert host.suspended and not gate.is_open
    async with gate.awake():
        async with gate.awake():
            assert not host.suspended
        assert not host.suspended
    assert host.suspended
    gate.follow(WORK, lambda: None)
    assert not host.suspended
    states = [event.state for event in events if isinstance(event, StateChanged)]
    assert states == ["working", "paused", "working"]


def test_hosts_that_come_and_go_are_paused_with_the_others() -> None:
    host, guest = FakeHost(), FakeHost()
    gate = Gate([host], lambda event: None)
    gate.others = lambda: [guest]
    gate.follow(PAUSE, lambda: None)
    assert host.suspended and guest.suspended and gate.asleep_for >= 0
    gate.follow(WORK, lambda: None)
    gate.hold(True)
    assert host.suspended and guest.suspended and gate.asleep_for == 0
    gate.hold(False)
    assert not host.suspended and not guest.suspended


async def test_a_decision_is_due_when_a_pause_is_over_and_a_moment_that_came_too_early_is_waited_for_again() -> None:
    gate = Gate([], lambda event: None)
    until = time.time() + 0.01
    again, looked = asyncio.Event(), list[float]()

    def look() -> None:
        looked.append(time.time())
        if len(looked) > 1:
            again.set()
            return
        gate.follow(decision(NodeState.PAUSED, Paused(until=until)), look)  # the clock says that it is not over

    gate.follow(decision(NodeState.PAUSED, Paused(until=until)), look)
    assert gate.reason.startswith("Paused by you until") and gate.resumes_in is not None and gate.resumes_in <= 0.01
    await asyncio.wait_for(again.wait(), 5)


def test_a_pause_is_no_part_of_the_time_that_work_takes() -> None:
    gate = Gate([], lambda event: None)
    before = gate.clock()
    time.sleep(0.002)
    assert gate.clock() == before, "nothing works yet"
    gate.follow(WORK, lambda: None)
    began = gate.clock()
    assert began - before < 0.002
    gate.follow(PAUSE, lambda: None)
    paused = gate.clock()
    time.sleep(0.002)
    gate.follow(WORK, lambda: None)
    assert began <= paused <= gate.clock() < paused + 0.002


def test_the_same_reason_is_told_once() -> None:
    events = list[Event]()
    gate = Gate([], events.append)
    for _ in range(3):
        gate.follow(WORK, lambda: None)
    gate.follow(decision(NodeState.WORKING, Training(round=8)), lambda: None)
    told = [event.why for event in events if isinstance(event, StateChanged)]
    assert told == [Training(round=7), Training(round=8)]


def test_a_busy_computer_is_told_with_the_state_while_it_is_so() -> None:
    told = started(None)
    busy = "Other programs use 88% of the processor, so this takes longer."
    told.orders.see(PLUGGED, busy)
    assert told.gate.why == Training(round=7, busy=busy) == told.events[-1].why
    assert told.gate.reason == f"Training round 7. {busy}"[:-1]
    said = len(told.events)
    told.orders.see(PLUGGED, busy)
    assert len(told.events) == said
    told.orders.see(PLUGGED)
    assert told.events[-1].why == Training(round=7)
