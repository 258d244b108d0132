"""Which drawn questions are set follows from the seed alone, in the shares that the catalogue names."""

from sapo_desktop.tasks.choosing import draw_seed, is_copied, is_set

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
