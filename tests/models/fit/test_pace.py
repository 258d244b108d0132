"""Estimates of a round's time, against sums made by hand."""

import msgspec
import pytest

from sapo_desktop.core.fitting import Pace, Parts, PassSeconds, ProductTimes, Way
from sapo_desktop.core.records import TaskMark
from sapo_desktop.core.settings import Settings
from sapo_desktop.models.catalogue import model_catalogue
from sapo_desktop.models.fit import pace
from sapo_desktop.models.fit.fit import badges, fit
from sapo_desktop.models.fit.room import described
from sapo_desktop.models.fit.shape import ModelShape
from sapo_desktop.system.hardware import Gpu
from tests.builders import MACHINE, round_report

SHAPE = ModelShape(layers=2, hidden=8, heads=2, kv_heads=1, head=4, ffn=16, vocabulary=100, tied=True)
MATRICES = 2 * (8 * 8 + 2 * 8 * 4 + 8 * 8 + 3 * 8 * 16)
HEAD = 100 * 8
WAY = Way(
    model="m",
    generator="torch",
    trainer="torch",
    device="cpu",
    precision="float32",
    weights="",
    batch=8,
    micro_batch=2,
    answers=4,
    prompt_tokens=10,
    max_tokens=20,
    lora_rank=8,
    memory=Parts(),
)
TIMES = ProductTimes(
    hidden=8,
    float32=PassSeconds(generating=8e-6, learning=16e-6),
    bfloat16=PassSeconds(generating=4e-6, learning=8e-6),
)
MEASURED = msgspec.structs.replace(MACHINE, products=[TIMES])
READ, WRITTEN = 2 * pace.TINY.prompt, 2 * 4 * 20


def test_a_token_is_read_once_and_learned_from_twice_at_the_measured_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "OTHER", 0.0)
    monkeypatch.setattr(pace, "OTHER_WORK", 0.0)
    answering = MATRICES * READ * 2e-6 + (MATRICES + HEAD) * WRITTEN * 1e-6
    learning = 2 * (MATRICES * (READ + WRITTEN) + HEAD * WRITTEN) * 2e-6
    one = pace.round_seconds(WAY, SHAPE, MEASURED, 2, threads=1)
    assert one == pytest.approx(answering + pace.TEACHING * learning)
    again = pace.round_seconds(msgspec.structs.replace(WAY, recompute=True), SHAPE, MEASURED, 2, threads=1)
    assert again == pytest.approx(answering + pace.TEACHING * learning * 1.5)
    half = pace.round_seconds(msgspec.structs.replace(WAY, precision="bfloat16"), SHAPE, MEASURED, 2, threads=1)
    assert half == pytest.approx(one / 2)
    four = pace.round_seconds(WAY, SHAPE, MEASURED, 2, threads=4)
    assert four == pytest.approx(one / (1 + 3 * pace.FURTHER_CORE))


def test_rounds_that_were_played_count_for_more_than_estimates() -> None:
    reports = [
        msgspec.structs.replace(
            round_report(number),
            tasks=[TaskMark(task="a/easy", answers=8, solved=0.5, partial=0.5, reward=0.5)],
            answer_tokens=8 * 5,
            seconds=seconds + 100.0,
            evaluate_seconds=100.0,
        )
        for number, seconds in enumerate([7.0, 9.0, 60.0], start=1)
    ]
    found = pace.shown(reports, WAY, SHAPE, MEASURED, threads=1)
    assert found is not None and found.written == 5
    here = msgspec.structs.replace(MEASURED, pace=found)
    assert pace.round_seconds(WAY, SHAPE, here, 2, threads=1) == pytest.approx(9.0)
    other = msgspec.structs.replace(here, pace=Pace(parameters=10**9, written=5, slower=3.0))
    unshown = pace.round_seconds(WAY, SHAPE, MEASURED, 2, threads=1)
    assert pace.round_seconds(WAY, SHAPE, other, 2, threads=1) == unshown, "a chat model says nothing about this one"
    silent = [msgspec.structs.replace(report, tasks=[], answer_tokens=0) for report in reports]
    assert pace.shown(silent, WAY, SHAPE, MEASURED, threads=1) is None


def test_a_card_waits_for_the_processor_where_that_is_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "OTHER", 0.0)
    on_card = msgspec.structs.replace(WAY, device="cuda")
    steps, passes = 4 * 20 / 4 * pace.CARD_STEP, pace.TEACHING * 4 / 2 * pace.CARD_PASS
    assert pace.round_seconds(on_card, SHAPE, MEASURED, 1, threads=1) == pytest.approx(2 * (steps + passes))
    two_passes = msgspec.structs.replace(on_card, micro_batch=1)
    assert pace.round_seconds(two_passes, SHAPE, MEASURED, 1, threads=1) == pytest.approx(2 * (steps + 2 * passes))


@pytest.mark.parametrize("way", [{"trainer": "none"}, {"generator": "remote"}])
def test_what_does_not_learn_here_has_no_rounds(way: dict[str, str]) -> None:
    assert pace.round_seconds(msgspec.structs.replace(WAY, **way), SHAPE, MEASURED, 8, threads=2) == 0.0


def test_every_badge_that_fits_says_it_and_larger_models_take_longer() -> None:
    found = badges(described(64, 0, MACHINE), model_catalogue(), Settings(), [])
    chat = sorted((badge for badge in found if badge.id != "starter"), key=lambda badge: badge.parameters)
    seconds = [badge.round_seconds for badge in chat if badge.badge != "too big"]
    assert seconds and all(seconds) and min(seconds) == seconds[0]
    assert all(badge.round_seconds == 0 for badge in found if badge.badge == "too big")


@pytest.mark.parametrize("vram", [0, 24])
@pytest.mark.parametrize("most", [5, 20, 60, 300, 86400])
def test_nothing_slower_than_the_setting_is_recommended_and_the_largest_that_is_not_is(most: int, vram: int) -> None:
    here = described(128, vram, MACHINE)
    settings = Settings(round_most=most)
    found = fit(here, model_catalogue(), settings)
    assert found.chosen.round_seconds <= most
    times = {badge.id: badge.round_seconds for badge in badges(here, model_catalogue(), settings, [])}
    assert times[found.chosen.model] == found.chosen.round_seconds, "one number everywhere"
    larger = [entry for entry in model_catalogue().models if entry.gate == "open" and times[entry.id] > 0]
    assert (
        found.chosen.model
        == max((entry for entry in larger if times[entry.id] <= most), key=lambda entry: entry.exact_parameters).id
    )


def test_a_faster_processor_is_recommended_a_larger_model() -> None:
    def on(seconds: float) -> int:
        each = PassSeconds(generating=seconds, learning=seconds)
        times = ProductTimes(hidden=576, float32=each, bfloat16=each)
        here = msgspec.structs.replace(described(64, 0, MACHINE), products=[times])
        entry = model_catalogue().find(fit(here, model_catalogue(), Settings()).chosen.model)
        assert entry is not None
        return entry.exact_parameters

    sizes = [on(seconds) for seconds in (1e-6, 1e-8, 1e-9)]
    assert sizes == sorted(sizes) and sizes[0] < sizes[-1]


def test_the_starter_is_recommended_where_even_it_is_slow() -> None:
    slow = msgspec.structs.replace(MACHINE, pace=Pace(parameters=1_877_952, written=50, slower=1e4))
    assert fit(slow, model_catalogue(), Settings(round_most=5)).chosen.model == "starter"


def test_a_card_in_8_bits_reads_more() -> None:
    card = msgspec.structs.replace(MACHINE, gpus=[Gpu("card", 24 * 2**30, 22 * 2**30)])
    whole = fit(card, model_catalogue(), Settings()).chosen
    shape = next(entry.shape for entry in model_catalogue().models if entry.id == whole.model)
    rounded = msgspec.structs.replace(whole, rounded=True)
    assert pace.round_seconds(rounded, shape, card, 8, 2) >= pace.round_seconds(whole, shape, card, 8, 2)
