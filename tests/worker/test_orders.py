"""Orders of a person, whatever comes between, and their effect on the gate."""

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


class Ordered:
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


def started(rounds: int | None = None, folder: Path | None = None) -> Ordered:
    it = Ordered(folder)
    it.orders.start(rounds)
    return it


def again_in(folder: Path) -> Ordered:
    """The node that is started next on this folder."""
    it = Ordered(folder, begin=False)
    it.orders.as_before()
    return it


def test_rounds_are_counted_down_to_idle() -> None:
    it = started(2)
    assert (it.gate.reason, it.orders.is_last_round) == ("Training round 7", False)
    it.orders.done(7)
    assert (it.gate.reason, it.orders.rounds_left, it.orders.is_last_round) == ("Training round 8", 1, True)
    it.orders.done(8)
    assert (it.gate.state, it.gate.reason, it.orders.rounds_left) == (
        NodeState.IDLE,
        "Done: round 8 was the last one you asked for",
        None,
    )
    with pytest.raises(UsageError, match="Round numbers start at 1"):
        it.orders.start(0)


def test_rounds_that_were_lost_are_still_to_be_played() -> None:
    it = started(3)
    it.orders.done(7)
    it.orders.done(8)
    it.orders.back_to(6)
    assert it.orders.rounds_left == 3
    it.orders.pause(None)
    it.orders.resume()
    assert (it.orders.rounds_left, it.gate.reason) == (3, "Training round 7")


@pytest.mark.parametrize(
    ("rounds", "then"),
    [(None, "Paused after round 7, as you asked"), (1, "Done: round 7 was the last one you asked for")],
)
def test_finishing_ends_with_the_current_round_and_tells_once(rounds: int | None, then: str) -> None:
    it, ended = started(rounds), list[str]()
    it.orders.end(lambda: ended.append("ended"))
    assert (it.gate.reason, it.orders.is_last_round) == ("Finishing round 7, then quitting", True)
    it.orders.done(7)
    assert (it.gate.reason, ended) == (then, ["ended"])


def test_who_was_to_end_after_its_round_ends_after_that_of_the_node_that_takes_its_place(tmp_path: Path) -> None:
    before, it = Ordered(), Ordered(folder=tmp_path)
    ended: list[str] = []
    before.orders.start(3)
    before.orders.end(lambda: ended.append("ended"))
    it.orders.take_over(before.orders)
    assert it.gate.reason == "Finishing round 7, then quitting"
    it.orders.done(7)
    assert ended == ["ended"] and again_in(tmp_path).orders.rounds_left == 2


def test_a_pause_between_rounds_is_all_that_finishing_asks_for() -> None:
    it = Ordered(playing=False)
    it.orders.start(None)
    it.orders.pause(None)
    said = len(it.events)
    it.orders.finish()
    assert it.gate.state is NodeState.PAUSED and len(it.events) == said


def test_finishing_pauses_a_node_that_something_else_holds_back_between_rounds() -> None:
    it = Ordered(playing=False)
    it.orders.start(3)
    it.orders.see(BATTERY)
    it.orders.finish()
    it.orders.see(PLUGGED)
    assert (it.gate.why, it.orders.rounds_left) == (Paused(), 3)


async def test_a_timed_pause_ends_by_itself_and_says_when() -> None:
    it = started()
    it.orders.pause(900)
    assert it.gate.why == Paused(until=NOON + 900)
    changed = it.events[-1]
    assert isinstance(changed, StateChanged) and changed.resume_at == NOON + 900
    it.now += 899
    it.orders.see(PLUGGED)  # a look at the power supply is a look at the clock: the computer may have slept
    assert it.gate.state is NodeState.PAUSED
    it.now += 1
    it.orders.see(PLUGGED)
    assert it.gate.state is NodeState.WORKING and it.gate.resumes_in is None


async def test_another_pause_replaces_the_timer() -> None:
    it = started()
    it.orders.pause(3600)
    it.orders.pause(None)
    assert it.gate.resumes_in is None and it.gate.why == Paused()


@pytest.mark.parametrize("seconds", [0.0, -5.0, 1e12, float("nan")])
def test_a_pause_of_no_time_is_refused(seconds: float) -> None:
    it = started()
    with pytest.raises(UsageError, match="15m"):
        it.orders.pause(seconds)


def test_what_makes_no_sense_now_changes_no_wish() -> None:
    it = Ordered()
    for order in (lambda: it.orders.pause(None), it.orders.finish):
        with pytest.raises(UsageError, match="idle"):
            order()
    assert not it.orders.wishes.contribute and it.gate.why == Ready()


def test_the_plug_pauses_and_goes_on_and_a_press_on_battery_holds_for_an_hour() -> None:
    it = started()
    it.orders.see(BATTERY)
    assert (it.gate.state, it.gate.why) == (NodeState.PAUSED, OnBattery())
    it.orders.see(PLUGGED)
    assert it.gate.state is NodeState.WORKING
    it.settings = Settings(on_battery="continue")
    it.orders.see(BATTERY)
    assert it.gate.state is NodeState.WORKING


async def test_what_holds_back_is_overruled_for_an_hour_and_no_longer() -> None:
    it = Ordered()
    it.orders.see(BATTERY)
    it.orders.start(None)
    assert it.gate.why == OnBattery(), "to begin is not to overrule a setting"
    it.orders.resume()
    assert it.gate.why == Training(round=7, until=NOON + 3600, anyway=True)
    assert it.gate.resumes_in is None, "it is no pause that ends then"
    it.now += 3600
    it.orders.see(BATTERY)
    assert it.gate.why == OnBattery()
    it.orders.resume(60)
    assert it.gate.why == Training(round=7, until=NOON + 3660, anyway=True)
    with pytest.raises(UsageError, match="15m"):
        it.orders.resume(0)


async def test_a_round_that_is_held_back_is_finished_when_that_is_asked_for() -> None:
    it = started()
    it.orders.see(BATTERY)
    it.orders.finish()
    assert it.gate.state is NodeState.FINISHING


async def test_anyway_outlives_a_restart(tmp_path: Path) -> None:
    it = started(folder=tmp_path)
    it.orders.resume(900)
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
    late = Ordered(tmp_path, begin=False)
    late.now += 50_001
    late.orders.as_before()
    assert late.gate.state is NodeState.WORKING


@pytest.mark.parametrize("content", [None, b"", b"{}", b"rubbish", b'{"contribute": 7}'])
def test_wishes_that_cannot_be_read_are_nobodys(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "wishes.json").write_bytes(content)
    it = again_in(tmp_path)
    assert it.gate.state is NodeState.IDLE
    said = ["The node's saved state could not be read"] if content not in (None, b"{}") else []
    assert [text.partition(" (")[0] for text in it.notices] == said


@pytest.mark.parametrize("order", ["pause", "resume", "finish"])
def test_an_order_after_the_end_was_asked_for_takes_its_place(order: str) -> None:
    it = Ordered()
    ended: list[str] = []
    it.orders.start(None)
    it.orders.end(lambda: ended.append("ended"))
    if order == "pause":
        it.orders.pause(None)
    if order != "finish":
        it.orders.resume()
    it.orders.finish()
    it.orders.done(7)
    assert (it.gate.state, ended) == (NodeState.PAUSED, [])


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
    Ordered(tmp_path).orders.start(None)
    idle = Ordered(tmp_path)
    idle.orders.back_to(5)
    again = again_in(tmp_path)
    assert again.gate.state is NodeState.WORKING


def test_an_order_holds_on_a_full_disk_and_the_next_one_is_written(tmp_path: Path) -> None:
    it = Ordered(tmp_path / "gone")
    it.orders.start(None)
    it.orders.pause(None)
    assert it.gate.state is NodeState.PAUSED
    assert [text.startswith("Done, but not saved") for text in it.notices] == [True, True]
    (tmp_path / "gone").mkdir()
    it.orders.pause(None)
    again = again_in(tmp_path / "gone")
    assert again.gate.why == Paused()


def test_a_failed_node_stays_so_until_somebody_resumes() -> None:
    it = started()
    it.orders.fail(Failed(text="It died.", failures=5))
    it.orders.see(PLUGGED)
    assert it.gate.state is NodeState.FAILED
    it.orders.resume()
    assert (it.gate.state, it.states[-2:]) == (NodeState.WORKING, ["failed", "working"])
    it.orders.stop()
    it.orders.see(PLUGGED)
    assert (it.gate.state, it.gate.why) == (NodeState.STOPPING, Ending())
    for order in (lambda: it.orders.pause(None), it.orders.finish, it.orders.resume):
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


def test_the_same_reason_is_reported_once() -> None:
    events = list[Event]()
    gate = Gate([], events.append)
    for _ in range(3):
        gate.follow(WORK, lambda: None)
    gate.follow(decision(NodeState.WORKING, Training(round=8)), lambda: None)
    it = [event.why for event in events if isinstance(event, StateChanged)]
    assert it == [Training(round=7), Training(round=8)]


def test_a_busy_computer_is_reported_with_the_state_while_it_is_so() -> None:
    it = started(None)
    busy = "Other programs use 88% of the processor, so this takes longer."
    it.orders.see(PLUGGED, busy)
    assert it.gate.why == Training(round=7, busy=busy) == it.events[-1].why
    assert it.gate.reason == f"Training round 7. {busy}"[:-1]
    said = len(it.events)
    it.orders.see(PLUGGED, busy)
    assert len(it.events) == said
    it.orders.see(PLUGGED)
    assert it.events[-1].why == Training(round=7)
