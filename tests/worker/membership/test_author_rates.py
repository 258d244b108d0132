"""Shares solved by author: from enough answers, bounded, kept, and never a reason to fail."""

from pathlib import Path

import pytest

from sapo_desktop.worker.membership.author_rates import KEEP_SECONDS, MOST_AUTHORS, AuthorRates
from tests.worker.fakes import mark

ALICE, BOB = b"a" * 32, b"b" * 32


def observe(rates: AuthorRates, author: bytes, solved: int, of: int) -> None:
    rates.observe(author, [mark(place < solved) for place in range(of)])


@pytest.fixture
def rates(tmp_path: Path) -> AuthorRates:
    return AuthorRates(tmp_path / "authors.json", 0.0)


def test_a_share_counts_from_enough_answers_on(rates: AuthorRates) -> None:
    for _ in range(4):
        observe(rates, ALICE, 2, 8)
    # 8 + 8 f + 8 f^2 + 8 f^3 with f = (255/256)^8 = 0.96918 are 30.56 answers.
    assert rates.rates() == {}
    observe(rates, ALICE, 2, 8)
    observe(rates, BOB, 8, 8)
    assert rates.rates() == {ALICE.hex(): pytest.approx(0.25)}


def test_what_an_author_learns_is_seen(rates: AuthorRates) -> None:
    for solved in (0, 8):
        for _ in range(32):
            observe(rates, ALICE, solved, 8)
    # 256 answers unsolved, then 256 solved: 1/e of the weight is on the first, (1 - 1/e) on the second half.
    assert rates.rates()[ALICE.hex()] == pytest.approx((1 - 0.3672) / (1 - 0.3672**2), abs=2e-3)


def test_a_flood_of_identities_is_bounded_and_pushes_out_the_silent(rates: AuthorRates, tmp_path: Path) -> None:
    for author in (ALICE, BOB):
        observe(rates, author, 16, 64)
    for n in range(MOST_AUTHORS - 1):
        if n == MOST_AUTHORS // 2:
            observe(rates, BOB, 1, 1)
        observe(rates, n.to_bytes(32, "big"), 1, 1)
    assert set(rates.rates()) == {BOB.hex()}
    rates.keep(1.0)
    assert (tmp_path / "authors.json").stat().st_size < 500_000
    assert set(AuthorRates(tmp_path / "authors.json", 0.0).rates()) == {BOB.hex()}


def test_it_is_written_now_and_then(rates: AuthorRates, tmp_path: Path) -> None:
    rates.keep_in_time(KEEP_SECONDS - 1)
    assert not (tmp_path / "authors.json").exists()
    rates.keep_in_time(KEEP_SECONDS)
    assert (tmp_path / "authors.json").exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"authors":[{"key":"x"}]}', b'{"authors":[{"answers":-1}]}'])
def test_a_file_that_cannot_be_read_is_begun_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "authors.json").write_bytes(content)
    rates = AuthorRates(tmp_path / "authors.json", 0.0)
    observe(rates, ALICE, 64, 64)
    rates.keep(0.0)
    assert AuthorRates(tmp_path / "authors.json", 0.0).rates() == {ALICE.hex(): 1.0}


def test_a_disk_that_takes_nothing_costs_nothing(tmp_path: Path) -> None:
    rates = AuthorRates(tmp_path / "gone" / "authors.json", 0.0)
    observe(rates, ALICE, 64, 64)
    rates.keep(0.0)
    assert rates.rates() == {ALICE.hex(): 1.0}
    assert list(tmp_path.iterdir()) == []
