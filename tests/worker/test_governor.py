"""One decision for every situation, with its reason."""

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sapo_desktop.core import schedule
from sapo_desktop.core.settings import Settings
from sapo_desktop.core.why import (
    Answering,
    CardTaken,
    Ending,
    Failed,
    Finishing,
    HeldBack,
    InUse,
    Metered,
    NotKept,
    OnBattery,
    OutOfHours,
    Paused,
    PausedAfterRound,
    ProgramRuns,
    Ready,
    RoundsDone,
    TooHot,
    Training,
    Working,
)
from sapo_desktop.system.presence.watch import Presence
from sapo_desktop.worker.governor import NodeState, Situation, Wishes, decide
from tests.builders import schedule_of

NOW = 1_000_000.0
WORKING = Wishes(contribute=True)


PLUGGED, BATTERY = Presence(), Presence(on_battery=True, charge=80)


def situation(wishes: Wishes, **changes: object) -> Situation:
    return msgspec.convert({"wishes": wishes, "round": 7, "cores": 8} | changes, Situation)


def test_nothing_is_done_that_nobody_wished() -> None:
    decision = decide(situation(Wishes(), here=BATTERY), Settings(), NOW)
    assert (decision.state, decision.why, decision.changes_at) == (NodeState.IDLE, Ready(), None)
    assert decision.held == OnBattery(), "what would hold it back is known all the same"


def test_contributing_says_the_round_and_whether_it_teaches() -> None:
    assert decide(situation(WORKING), Settings(), NOW).why == Training(round=7)
    assert decide(situation(WORKING, trains=False), Settings(), NOW).why == Answering(round=7)


def test_a_pause_holds_until_its_time_and_goes_before_everything() -> None:
    until = NOW + 900
    paused = Wishes(contribute=True, paused=True, paused_until=until, finish=True)
    decision = decide(situation(paused, here=BATTERY), Settings(), NOW)
    assert (decision.state, decision.why, decision.changes_at) == (NodeState.PAUSED, Paused(until=until), until)
    assert decide(situation(paused, here=PLUGGED), Settings(), until).state is NodeState.FINISHING
    for_good = Wishes(contribute=True, paused=True)
    assert decide(situation(for_good), Settings(), NOW + 10**9).why == Paused()


def test_finishing_is_about_the_current_round() -> None:
    finish = Wishes(contribute=True, finish=True)
    assert decide(situation(finish), Settings(), NOW).why == Finishing(round=7)
    after = Wishes(contribute=True, paused=True, paused_after_round=7)
    assert decide(situation(after), Settings(), NOW).why == PausedAfterRound(round=7)


@pytest.mark.parametrize(("cores", "threads", "expected"), [(8, 0, 4), (1, 0, 1), (8, 6, 6), (2, 64, 2)])
def test_half_the_cores_by_default(cores: int, threads: int, expected: int) -> None:
    assert decide(situation(WORKING, cores=cores), Settings(threads=threads), NOW).threads == expected


def test_what_failed_or_ends_does_so_whatever_is_wished() -> None:
    failed = Failed(text="It died.", failures=5)
    decision = decide(situation(WORKING, failed=failed, here=BATTERY), Settings(), NOW)
    assert (decision.state, decision.why) == (NodeState.FAILED, failed)
    decision = decide(situation(WORKING, failed=failed, ending=True), Settings(), NOW)
    assert (decision.state, decision.why) == (NodeState.STOPPING, Ending())
    assert decide(situation(Wishes(), rounds_done=8), Settings(), NOW).why == RoundsDone(round=8)


def test_what_cannot_be_kept_is_not_computed_whatever_a_person_allows() -> None:
    full = NotKept(text="The disk is full.")
    allowed = Wishes(contribute=True, anyway_until=NOW + 3600)
    decision = decide(situation(allowed, not_kept=full, here=BATTERY), Settings(), NOW)
    assert (decision.state, decision.why, decision.computes) == (NodeState.PAUSED, full, False)
    paused = decide(situation(Wishes(contribute=True, paused=True), not_kept=full), Settings(), NOW)
    assert paused.why == Paused(), "a pause of the user's stays one when there is room again"


NOT_NOW = schedule_of(schedule.ALWAYS - {schedule.hour_of_week(NOW)})
OPENS = schedule.next_change(schedule.parse(NOT_NOW), NOW) or 0.0
FORBIDDEN = [
    (Presence(), Settings(schedule=NOT_NOW), OutOfHours(until=OPENS)),
    (BATTERY, Settings(), OnBattery()),
    (Presence(on_battery=True, charge=29), Settings(on_battery="continue"), OnBattery(below=30)),
    (Presence(metered=True), Settings(silo=False), Metered()),
    (Presence(degrees=81.0), Settings(hottest=80), TooHot(limit=80)),
    (Presence(program="blender"), Settings(pause_for="blender"), ProgramRuns(name="blender")),
    (Presence(card_share=51.0), Settings(), CardTaken(limit=50)),
    (Presence(idle=599.0), Settings(when_in_use="pause"), InUse(minutes=10)),
]


@pytest.mark.parametrize(("here", "settings", "why"), FORBIDDEN, ids=lambda value: type(value).__name__)
def test_each_condition_pauses_and_says_so_and_anyway_goes_before_it(
    here: Presence, settings: Settings, why: HeldBack
) -> None:
    decision = decide(situation(WORKING, here=here), settings, NOW)
    assert (decision.state, decision.why) == (NodeState.PAUSED, why)
    assert decision.network is not isinstance(why, Metered)
    until = NOW + 3600
    anyway = situation(Wishes(contribute=True, anyway_until=until), here=here)
    assert decide(anyway, settings, NOW).why == Training(round=7, until=until, anyway=True)
    assert decide(anyway, settings, NOW).network
    later = decide(anyway, settings, until)
    assert isinstance(later.why, type(why)) or isinstance(why, OutOfHours)


def test_the_end_of_the_hours_is_reported_beforehand() -> None:
    hours = schedule_of(frozenset({schedule.hour_of_week(NOW)}))
    decision = decide(situation(WORKING), Settings(schedule=hours), NOW)
    assert decision.state is NodeState.WORKING and decision.changes_at == OPENS


def test_what_was_too_hot_cools_down_a_little_before_it_goes_on() -> None:
    settings, warm = Settings(hottest=80), Presence(degrees=76.0)
    assert decide(situation(WORKING, here=warm), settings, NOW).state is NodeState.WORKING
    assert decide(situation(WORKING, here=warm, too_hot=True), settings, NOW).why == TooHot(limit=80)
    assert decide(situation(WORKING, here=Presence(degrees=75.0), too_hot=True), settings, NOW).computes


IN_USE = {"threads": 2, "processor_percent": 50, "upload_kilobytes": 30, "download_kilobytes": 40}


def limits(here: Presence, **settings: object) -> tuple[int, float, int, int]:
    decision = decide(situation(WORKING, here=here), msgspec.convert(settings, Settings), NOW)
    return decision.threads, decision.cores, decision.upload, decision.download


@pytest.mark.parametrize(
    ("settings", "idle", "expected"),
    [
        (IN_USE | {"when_in_use": "limits"}, 600.0, (8, 8.0, 0, 0)),
        (IN_USE | {"when_in_use": "limits"}, 599.0, (2, 1.0, 30, 40)),
        (IN_USE | {"when_in_use": "limits"}, None, (2, 1.0, 30, 40)),
        (IN_USE | {"when_in_use": "continue"}, 600.0, (2, 1.0, 30, 40)),
        (IN_USE | {"when_in_use": "pause"}, 600.0, (2, 1.0, 30, 40)),
        ({}, 600.0, (4, 4.0, 0, 0)),
    ],
)
def test_limits_may_end_while_nobody_is_there(
    settings: dict[str, object], idle: float | None, expected: tuple[int, float, int, int]
) -> None:
    assert limits(Presence(idle=idle), **settings) == pytest.approx(expected)


percent = st.integers(0, 100)
presences = st.builds(
    Presence,
    on_battery=st.booleans(),
    charge=st.none() | percent,
    idle=st.none() | st.floats(0, 2000),
    metered=st.booleans(),
    program=st.none() | st.just("blender"),
    card_share=st.floats(0, 100),
    degrees=st.none() | st.floats(0, 120),
)
moments = st.none() | st.floats(NOW - 10, NOW + 10)
wishes = st.builds(
    Wishes,
    contribute=st.booleans(),
    paused=st.booleans(),
    paused_until=moments,
    paused_after_round=st.none() | st.just(6),
    finish=st.booleans(),
    anyway_until=moments,
)
all_settings = st.builds(
    Settings,
    silo=st.booleans(),
    schedule=st.sampled_from(["", NOT_NOW, schedule_of(frozenset({schedule.hour_of_week(NOW)}))]),
    on_battery=st.sampled_from(["pause", "continue"]),
    on_metered=st.sampled_from(["pause", "continue"]),
    pause_for=st.sampled_from(["", "blender"]),
    hottest=st.integers(0, 120),
    when_in_use=st.sampled_from(["pause", "limits", "continue"]),
)


def forbids(wish: Wishes, here: Presence, rules: Settings) -> bool:
    """Whether anything forbids to compute at NOW: written a second time, one line a rule."""
    if not wish.contribute or (wish.paused and not (wish.paused_until is not None and wish.paused_until <= NOW)):
        return True
    if wish.anyway_until is not None and wish.anyway_until > NOW:
        return False
    charge = 100 if here.charge is None else here.charge
    return any(
        (
            rules.schedule == NOT_NOW,
            here.on_battery and (rules.on_battery == "pause" or charge < 30),
            here.metered and rules.on_metered == "pause" and not rules.silo,
            here.program is not None and rules.pause_for != "",
            here.card_share > 50,
            here.degrees is not None and 0 < rules.hottest < here.degrees,
            rules.when_in_use == "pause" and here.idle is not None and here.idle < 600,
        )
    )


@given(wishes, presences, all_settings)
@example(WORKING, Presence(metered=True), Settings(silo=False, on_metered="continue"))
@example(WORKING, Presence(degrees=80.0), Settings(hottest=80))
@example(WORKING, Presence(card_share=50.0), Settings())
@example(WORKING, Presence(idle=600.0), Settings(when_in_use="pause"))
@example(WORKING, Presence(idle=None, idle_unknown="no desktop"), Settings(when_in_use="pause"))
def test_no_combination_computes_what_it_forbids_or_idles_without_a_reason(
    wish: Wishes, here: Presence, rules: Settings
) -> None:
    decision = decide(situation(wish, here=here), rules, NOW)
    assert decision.computes is not forbids(wish, here, rules)
    assert decision.computes == isinstance(decision.why, Working | Finishing)
    assert decision.changes_at is None or decision.changes_at > NOW
    assert not (decision.network and decision.state is NodeState.PAUSED and isinstance(decision.why, Metered))
