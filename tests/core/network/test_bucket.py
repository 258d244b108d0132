"""Buckets, with values worked out by hand."""

from sapo_desktop.core.network.bucket import Bucket


def test_a_bucket_gains_its_rate_up_to_its_capacity() -> None:
    bucket = Bucket(10, 2, now=0)
    assert bucket.take(10, 0) and not bucket.take(1, 0)
    assert bucket.level(3) == 6
    assert bucket.level(100) == 10


def test_a_clock_that_goes_back_and_forth_gains_nothing() -> None:
    bucket = Bucket(10, 1, now=100)
    bucket.take(10, 100)
    assert bucket.level(0) == 0
    assert bucket.level(101) == 1


def test_a_stall_brings_what_it_lasted_and_no_more() -> None:
    bucket = Bucket(10, 2, now=0)
    bucket.take(4, 0)
    bucket.make_up(1, 21)
    assert bucket.level(21) == 8 + 40
    bucket = Bucket(10, 2, now=0)
    bucket.make_up(1000, 1020)  # idle before
    assert bucket.level(1020) == 50
    assert bucket.take(5, 1020) and bucket.level(1030) == 25, "above its capacity it loses what it gains below"
    assert bucket.level(1100) == 10
    bucket.make_up(1090, 1095)  # looked at since
    assert bucket.level(1100) == 10


def test_slack_is_paid_back() -> None:
    bucket = Bucket(10, 1, now=0)
    assert bucket.take(12, 0, slack=2) and not bucket.take(1, 0, slack=2)
    assert bucket.level(2) == 0
