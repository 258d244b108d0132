"""The seed rule (its vector: tests/swarm/test_vectors.py); which drawn questions are set follows from the seed alone,
in the shares that the catalogue names."""

import hashlib

import pytest

from sapo_desktop.core.errors import TaskError
from sapo_desktop.tasks.questions import (
    FIRST_OWN_INDEX,
    SHARED_INDICES,
    SILO_NETWORK,
    draw_seed,
    is_copied,
    is_set,
    question_hash,
    question_seed,
    silo_key,
)

NETWORK, KEY, TASK = bytes(32), bytes(range(32)), b"\xff" * 32


def seed(**changes: int | bytes) -> int:
    fields: dict[str, int | bytes] = {"network": NETWORK, "key": KEY, "slot": 3, "task": TASK, "index": 64}
    return question_seed(**(fields | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changes", [{"slot": 4}, {"index": 65}, {"key": bytes(32)}, {"task": bytes(32)}, {"network": KEY}]
)
def test_every_field_counts(changes: dict[str, int | bytes]) -> None:
    assert seed(**changes) != seed()


@pytest.mark.parametrize(
    "changes", [{"key": b"short"}, {"task": bytes(33)}, {"network": b""}, {"slot": -1}, {"index": -1}, {"slot": 2**64}]
)
def test_fields_of_the_wrong_width_are_refused(changes: dict[str, int | bytes]) -> None:
    with pytest.raises(TaskError):
        seed(**changes)


def test_a_seed_has_63_bits() -> None:
    assert all(0 <= seed(index=index) < 2**63 for index in range(200))
    assert max(seed(index=index) for index in range(200)) > 2**62


def test_shared_and_own_indices_do_not_meet() -> None:
    assert FIRST_OWN_INDEX not in SHARED_INDICES
    assert len(SHARED_INDICES) == 64


def test_silo_stands_in_for_key_and_network() -> None:
    assert len(silo_key(1)) == len(SILO_NETWORK) == 32
    assert silo_key(1) != silo_key(2)


def test_the_question_hash_is_8_bytes_of_sha_256_even_for_broken_text() -> None:
    assert question_hash("gcd") == hashlib.sha256(b"gcd").digest()[:8]
    assert len(question_hash("\ud800")) == 8


SEEDS = range(2**62, 2**62 + 4000)


def share_set(question: str, right: tuple[str, ...], keep: dict[str, float]) -> float:
    return sum(is_set(seed, 0, question, right, keep) for seed in SEEDS) / len(SEEDS)


def test_the_first_draw_is_the_seed_itself_and_others_are_new() -> None:
    seeds = [draw_seed(2**63 - 1, draw) for draw in range(20)]
    assert seeds[0] == 2**63 - 1
    assert len(set(seeds)) == 20 and all(0 <= seed < 2**63 for seed in seeds)


def test_a_question_without_a_right_answer_is_never_set() -> None:
    assert not is_set(1, 0, "?", (), {})


def test_what_is_not_named_is_always_set() -> None:
    assert share_set("6, 9?", ("3",), {}) == share_set("6, 9?", ("3",), {"1": 0.1}) == 1.0


def test_a_named_answer_is_set_in_its_share() -> None:
    assert abs(share_set("6, 9?", ("3",), {"3": 0.25}) - 0.25) < 0.03


def test_of_several_entries_the_smallest_counts() -> None:
    assert abs(share_set("P, (P → Q)", ("Q", "¬R"), {"Q": 0.5, "¬R": 0.1}) - 0.1) < 0.03
    assert abs(share_set("3, 9?", ("3",), {"3": 0.5, "copied": 0.2}) - 0.2) < 0.03
    assert share_set("6, 9?", ("3",), {"copied": 0.2}) == 1.0


def test_numbers_and_variables_of_the_question_are_copies() -> None:
    assert is_copied("Find the LCM of 4, 12", ("12",))
    assert is_copied("1. (P → Q)", ("(P ∨ R)", "Q"))
    assert not is_copied("Find the LCM of 4, 120", ("12",))
    assert not is_copied("Provide Q: 1. (P → R)", ("¬P",))
