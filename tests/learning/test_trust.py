"""What a peer's right answers weigh, by what this node knows of answers and authors."""

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.core.records import Group, TaskMark
from sapo_desktop.learning.mixing import MixShare, advantages, author_shares, mix_groups, summed, teaches
from sapo_desktop.learning.reasoning import Reasoned
from sapo_desktop.learning.trust import KEPT_ACCOUNTS, Account, Evidence, held_shares, trusted, with_round
from tests.builders import group

BEGUN = {"gcd/easy": [Reasoned(40, solved=place % 2 == 0) for place in range(20)]}
REASONED = BEGUN | {f"task-{number}/easy": BEGUN["gcd/easy"] for number in range(16)}
STEPS, BARE = "so many steps that lead to the answer " + "<answer>6</answer>", "<answer>6</answer>"
RATES = {"gcd/easy": 0.5}


def peers(*texts: str, author: str = "ab", source: str = "link", right: Sequence[float] = ()) -> Group:
    made = group(*(right or [1.0] * len(texts)), texts=texts, origin="peer", author=author)
    return msgspec.structs.replace(made, source=source)


def after(rounds: int, *, success: float, share: float = 0.3, answer: str = STEPS) -> Account:
    """An author's account after so many rounds with that much of each step, where own success is that, of 0.5."""
    accounts: dict[str, Account] = {}
    solved = [TaskMark(task="gcd/easy", answers=8, solved=success, partial=success, reward=success)] * 4
    for _ in range(rounds):
        accounts = with_round(accounts, REASONED, [peers(answer)], {"ab": share}, solved, RATES)
    return accounts["ab"]


def weight(account: Account, answer: str = STEPS) -> float:
    return trusted(Evidence(REASONED, {"ab": account}), peers(answer))[0]


def test_a_right_answer_weighs_by_its_reasoning() -> None:
    assert trusted(Evidence(REASONED), peers(STEPS, BARE)) == [1.0, 0.0]
    assert trusted(Evidence(), peers(STEPS, BARE)) == [1.0, 1.0], "while nothing is known"
    assert trusted(Evidence(), peers(STEPS, BARE, right=[0, 1])) == [0.0, 1.0]


def test_while_this_node_begins_an_authors_first_guesses_are_taken_for_less() -> None:
    """Honest nodes that begin guess too; an answer key is known by its form after five groups."""
    accounts: dict[str, Account] = {}
    weights = []
    for _ in range(8):
        weights.append(trusted(Evidence(BEGUN, accounts), peers(BARE))[0])
        accounts = with_round(accounts, BEGUN, [peers(BARE)], {}, [], RATES)
    assert all(0.2 < weight <= 0.6 for weight in weights[:4]) and weights[-2:] == [0.0, 0.0]
    assert trusted(Evidence(REASONED), peers(BARE)) == [0.0], "a node that knows what answers need takes none"


def test_this_nodes_own_person_is_heard_whatever_the_form() -> None:
    person = peers(BARE, author="")
    assert teaches(person, "guarded", RATES, Evidence(REASONED))
    mixed = mix_groups([group(1, 0)], [], MixShare(1, 0), [person])
    assert advantages(mixed, "guarded", RATES, Evidence(REASONED))[1] == [1.0]


def test_a_group_of_bare_right_answers_teaches_nothing_and_takes_no_place() -> None:
    known = Evidence(REASONED)
    assert not teaches(peers(BARE, BARE), "guarded", RATES, known)
    assert teaches(peers(BARE, STEPS), "guarded", RATES, known)
    assert teaches(peers(BARE, BARE, right=[1, 0]), "paper", RATES, known), "the paper's way trusts everybody"
    mixed = mix_groups([group(1, 0)], [peers(BARE, STEPS)], MixShare(1, 1))
    bare, steps = advantages(mixed, "guarded", RATES, known)[1]
    assert bare == 0.0 < steps


def test_a_short_answer_of_a_peer_weighs_no_more_a_token_than_an_own_one() -> None:
    """It used to be scaled up eight times, which made bare answers most of a step."""
    own = group(1, 0)
    long = [msgspec.structs.replace(one, tokens=list(range(100))) for one in own.completions]
    own = msgspec.structs.replace(own, completions=long)
    mixed = mix_groups([own], [peers(STEPS)], MixShare(1, 1))
    assert advantages(mixed, "guarded", RATES)[1] == [0.5]


def test_an_author_whose_answers_mostly_lack_reasoning_is_trusted_less_in_all_of_them() -> None:
    answer_key = after(20, success=0.5, answer=BARE)
    assert weight(answer_key) == 0.0
    assert weight(after(20, success=0.5)) == pytest.approx(1.0)


def test_a_peer_that_guessed_at_first_is_welcome_once_it_reasons() -> None:
    accounts = {"ab": after(5, success=0.5, answer=BARE)}
    assert weight(accounts["ab"]) > 0.2, "some bare answers shut nobody out"
    for _ in range(20):
        accounts = with_round(accounts, REASONED, [peers(STEPS)], {}, [], RATES)
    assert weight(accounts["ab"]) > 0.75


def test_an_author_that_mostly_reasons_is_forgiven_a_bare_answer() -> None:
    honest = after(10, success=0.5)
    assert 0.2 < weight(honest, BARE) < 0.5
    assert weight(after(2, success=0.5), BARE) == 0.0, "a new identity is not"
    accounts = {"ab": honest}
    for _ in range(4):
        accounts = with_round(accounts, REASONED, [peers(BARE)], {}, [], RATES)
    assert weight(accounts["ab"], BARE) == 0.0, "nor is one that continues like that"


def test_an_author_weighs_less_where_own_success_falls_while_it_teaches() -> None:
    assert weight(after(30, success=0.3)) < 0.5
    assert weight(after(30, success=0.5)) == weight(after(30, success=0.7)) == pytest.approx(1.0)
    assert weight(after(30, success=0.3, share=0.0)) == pytest.approx(1.0), "it taught nothing"


def test_blame_fades_once_nothing_more_is_learned_from_an_author() -> None:
    accounts = {"ab": after(60, success=0.3)}
    assert weight(accounts["ab"]) < 0.2
    for _ in range(100):
        accounts = with_round(accounts, REASONED, [], {}, [], RATES)
    assert weight(accounts["ab"]) > 0.9


def test_own_tasks_that_were_never_asked_before_blame_nobody() -> None:
    new = [TaskMark(task="new/easy", answers=8, solved=0.0, partial=0.0, reward=0.0)]
    accounts = with_round({"ab": Account(exposure=0.5)}, REASONED, [], {}, new, RATES)
    assert (accounts["ab"].change, accounts["ab"].noise) == (0.0, 0.0)


def test_accounts_are_bounded_and_those_that_taught_stay() -> None:
    strangers = [peers(STEPS, author=f"{number:04x}") for number in range(3 * KEPT_ACCOUNTS)]
    accounts = with_round({"ab": after(9, success=0.3)}, REASONED, strangers, {}, [], RATES)
    assert len(accounts) == KEPT_ACCOUNTS and "ab" in accounts


def test_no_author_has_more_than_half_of_what_peers_teach() -> None:
    assert held_shares([9, 1, 2], ["a", "b", "c"], 0) == pytest.approx([3 / 9, 1, 1])
    assert held_shares([5, 4, 1, 2], ["a", "a", "b", "c"], 0) == pytest.approx([3 / 9, 3 / 9, 1, 1])
    assert held_shares([9, 1, 2], ["a", "b", "c"], 4.5) == pytest.approx([0.5, 1, 1]), "one common group is fine"
    assert held_shares([9, 1], ["a", "a"], 0) == [1, 1], "the only one there is"
    assert held_shares([], [], 0) == []


@given(
    st.lists(st.tuples(st.floats(0, 100), st.sampled_from("abc")), max_size=8).map(
        lambda groups: ([mass for mass, _ in groups], [owner for _, owner in groups])
    )
)
def test_shares_are_held_whoever_sends_what(groups: tuple[list[float], list[str]]) -> None:
    masses, owners = groups
    held = [mass * factor for mass, factor in zip(masses, held_shares(masses, owners, 0), strict=True)]
    for owner in set(owners):
        if len(set(owners)) > 1:
            mine = sum(mass for mass, by in zip(held, owners, strict=True) if by == owner)
            assert mine <= 0.5 * sum(held) + 1e-6
    assert all(mass <= before for mass, before in zip(held, masses, strict=True))


def test_a_source_with_many_authors_is_held_like_one_author() -> None:
    own = group(1, 0, texts=[STEPS, STEPS])
    many = [peers(*[STEPS] * 8, author=f"{number}", source="one") for number in range(6)]
    mixed = mix_groups([own], [*many, peers(STEPS, BARE, author="x", source="other")], MixShare(1, 7))
    rows = advantages(mixed, "guarded", RATES)
    masses = [summed(one, row) for one, row in zip(mixed.groups, rows, strict=True)][1:]
    ordinary = 4 / 4
    assert sum(masses[:6]) <= max(masses[6], ordinary) + 1e-9


def test_shares_of_a_step_count_own_groups_too() -> None:
    groups = [group(1, 0), peers(STEPS), peers(STEPS, author="cd")]
    assert author_shares(groups, [[1, -1], [1.0], [0.0]]) == pytest.approx({"ab": 1 / 3})
