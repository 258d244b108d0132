"""The filter of groups already held."""

import hashlib

import pytest

from sapo_desktop.swarm.pool.held_filter import LEAST, build, holds
from sapo_desktop.swarm.protocol import limits

ONE, OTHER = bytes(16), bytes([1]) * 16


def digests(first: int, n: int) -> list[bytes]:
    return [hashlib.sha256(str(number).encode()).digest() for number in range(first, first + n)]


def test_what_is_held_is_always_found_and_little_else_is() -> None:
    held = digests(0, 1000)
    bits = build(held, ONE)
    assert all(holds(bits, digest, ONE) for digest in held)
    hidden = sum(holds(bits, digest, ONE) for digest in digests(5000, 10_000)) / 10_000
    assert hidden == pytest.approx((1 - 2.718281828 ** (-4 / 8)) ** 4, abs=0.006)


def test_another_ticket_hides_others() -> None:
    held = digests(0, 1000)
    bits = {ticket: build(held, ticket) for ticket in (ONE, OTHER)}
    hidden = [d for d in digests(5000, 10_000) if all(holds(b, d, t) for t, b in bits.items())]
    assert len(hidden) < 30  # 2.4% of 2.4% are 6


def test_nothing_held_hides_nothing() -> None:
    assert build([], ONE) == b"" and not holds(b"", digests(0, 1)[0], ONE)


def test_it_never_outgrows_its_message() -> None:
    assert len(build(digests(0, 9000), ONE)) == limits.MAX_FILTER
    assert len(build(digests(0, 1), ONE)) == LEAST


def test_who_holds_a_few_is_hidden_none_of_a_few_more() -> None:
    tickets = [number.to_bytes(16, "big") for number in range(1000)]
    held, more = digests(0, 8), digests(100, 8)
    hidden = sum(holds(build(held, ticket), digest, ticket) for ticket in tickets for digest in more)
    assert hidden <= 4  # of 8,000; 8 bits a group hid 2.4%, and so one of the eight in every sixth WANT
