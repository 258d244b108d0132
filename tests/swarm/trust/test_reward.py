"""The measured reward: medians by hand, and what liars can do to it."""

from random import Random

import pytest

from sapo_desktop.swarm.trust import reward
from sapo_desktop.swarm.trust.reward import WINDOW_SECONDS, Origin, RewardMeter, Weighted, weigh, weighted_median

TASK = "gcd/easy"


def origin(author: int, relay: int = 0, tag: int | None = None) -> Origin:
    return Origin(author.to_bytes(32, "big"), bytes([relay]), (author if tag is None else tag).to_bytes(4, "big"))


def value(meter: RewardMeter, now: float = 0.0) -> float | None:
    estimate = meter.heard([TASK]).estimate(now, seed=1)
    return estimate.value if estimate else None


@pytest.mark.parametrize(
    ("values", "median"),
    [
        ([(0.2, 1)], 0.2),
        ([(0.2, 1), (0.6, 1)], 0.4),
        ([(0.9, 1), (0.2, 1), (0.6, 1)], 0.6),
        ([(0.2, 3), (0.6, 1), (0.9, 1)], 0.2),
        ([(0.2, 2), (0.6, 1), (0.8, 1)], 0.4),
    ],
)
def test_weighted_medians(values: list[tuple[float, float]], median: float) -> None:
    assert weighted_median([Weighted(*one) for one in values]) == pytest.approx(median)


def test_a_tag_weighs_no_more_than_four_and_a_relay_no_more_than_all_others() -> None:
    crowd = [(origin(n, relay=1, tag=7), 0.0) for n in range(8)]
    assert [one.weight for one in weigh(crowd)] == [0.5] * 8
    spread = [(origin(n, relay=1), 0.0) for n in range(10)] + [(origin(n, relay=2), 1.0) for n in range(20, 25)]
    weights = weigh(spread)
    assert sum(one.weight for one in weights[:10]) == pytest.approx(5) == sum(one.weight for one in weights[10:])


def test_an_identity_counts_by_its_mean_however_much_it_sends() -> None:
    meter = RewardMeter()
    meter.observe(TASK, origin(1), [1, 0, 0, 0], 0)
    meter.observe(TASK, origin(1), [1, 1, 1, 0], 0)
    assert value(meter) == 0.5
    for _ in range(50):
        meter.observe(TASK, origin(2), [1], 0)
    meter.observe(TASK, origin(3), [0], 0)
    assert value(meter) == 0.5


def test_the_old_and_other_tasks_do_not_count() -> None:
    meter = RewardMeter()
    meter.observe(TASK, origin(1), [1], 0)
    meter.observe("lcm/easy", origin(2), [0], 0)
    meter.observe(TASK, origin(2), [], 0)
    assert value(meter) == 1.0
    assert value(meter, WINDOW_SECONDS + 1) is None


def test_tasks_weigh_the_same_and_the_interval_holds_the_value() -> None:
    meter = RewardMeter()
    rng = Random(2)
    for author in range(40):
        meter.observe(TASK, origin(author), [rng.random()], 0)
    meter.observe("lcm/easy", origin(1), [1.0], 0)
    estimate = meter.heard([TASK, "lcm/easy", "ab/easy"]).estimate(0, seed=1)
    assert estimate is not None and estimate.peers == 40
    assert estimate.value == pytest.approx((estimate.tasks[TASK] + 1) / 2)
    assert 0 < estimate.low < estimate.value < estimate.high < 1


@pytest.mark.parametrize("lie", [0.0, 1.0])
def test_three_in_ten_who_are_always_right_or_wrong_stay_within_the_honest_percentiles(lie: float) -> None:
    rng = Random(3)
    honest = [rng.betavariate(2, 5) for _ in range(700)]
    meter = RewardMeter()
    for author, mean in enumerate(honest):
        meter.observe(TASK, origin(author), [mean], 0)
    before = value(meter)
    for author in range(1000, 1300):
        meter.observe(TASK, origin(author), [lie], 0)
    after = value(meter)
    ordered = sorted(honest)
    assert before is not None and after is not None
    assert ordered[int(0.28 * 700)] <= after <= ordered[int(0.72 * 700)]
    assert abs(after - before) > 0, "the shift is real, and shown by the interval"


def test_a_crowd_under_one_tag_moves_it_as_little_as_four() -> None:
    meter, few = RewardMeter(), RewardMeter()
    for author in range(50):
        for it in (meter, few):
            it.observe(TASK, origin(author), [author / 100], 0)
    for author in range(1000, 1900):
        meter.observe(TASK, origin(author, tag=9999), [1.0], 0)
    for author in range(1000, 1004):
        few.observe(TASK, origin(author), [1.0], 0)
    assert value(meter) == pytest.approx(value(few))


def test_the_records_stay_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reward, "_MOST_IDENTITIES", 10)
    meter = RewardMeter()
    for author in range(100):
        for _ in range(30):
            meter.observe(TASK, origin(author), [1.0], 0)
    assert len(meter._seen[TASK]) == 10
    assert max(map(len, meter._seen[TASK].values())) == 16


def test_of_one_peer_the_interval_shows_how_little_is_known() -> None:
    meter = RewardMeter()
    for place in range(8):
        meter.observe("gcd/easy", Origin(b"a" * 32, b"r", b"t"), [float(place % 2)], 0.0)
    measured = meter.heard({"gcd/easy"}).estimate(0.0, seed=1)
    assert measured is not None and measured.value == 0.5
    assert measured.low <= 0.25 and measured.high >= 0.75
