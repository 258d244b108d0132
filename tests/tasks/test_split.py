"""The split goes by content: wording, order of commuting terms, case and white space do not move a question."""

import pytest

from sapo_desktop.core.resources import resource
from sapo_desktop.tasks.catalogue import load_catalogue
from sapo_desktop.tasks.split import HELD_OUT_ONE_IN, canonical, held_out_side
from tests.tasks.examiner.twins import TWINS

GCD = "Find the Greatest Common Divisor (GCD) of these numbers: {}. Give only the GCD as your final answer."

SAME = [  # what tests/tasks/examiner/twins.py does not turn
    ("basic_arithmetic", "What is 3 + -( 4 * 5 )?", "Evaluate: 3 + -( 4 * 5 )."),
    ("basic_arithmetic", "Calculate 3 - 4.", "Compute 3 - 4."),
    (
        "calendar_arithmetic",
        "What day of the week was March 5, 2023? Give the weekday name in full.",
        "Name the day of the week for 03/05/2023. Respond with the weekday (Monday-Sunday).",
    ),
    (
        "calendar_arithmetic",
        "Is 1936 a leap year? Answer with Yes or No.",
        "Determine if the year 1936 is a leap year. Answer with Yes or No.",
    ),
    (
        "calendar_arithmetic",
        "How many Mondays are there from Sunday, May 7, 2023 to Friday, June 2, 2023 (inclusive of both dates)? "
        "Answer with a number.",
        "Count the occurrences of Monday from Sunday, May 7 to Friday, June 2, 2023 "
        "(including both start and end dates). Write the total number.",
    ),
    ("basic_arithmetic", "Solve -( 7 / 1 ) + 3.", "Calculate 3 - ( 7 / 1 )."),
    ("simple_equations", "Solve for q: 3*q + 4 = 10", "Solve for q: 4 + q*3 = 10"),
]

DIFFERENT = [
    ("gcd", GCD.format("48, 18"), GCD.format("48, 19")),
    ("basic_arithmetic", "What is 3 - 4?", "What is 4 - 3?"),
    ("basic_arithmetic", "What is -3 - 4?", "What is 3 - 4?"),
    ("basic_arithmetic", "What is ( 3 - 4 ) * 2?", "What is 3 - 4 * 2?"),
    ("base_conversion", "convert the base-7 number 12 to binary", "convert the binary number 11 to base-7"),
    (
        "calendar_arithmetic",
        "Determine the day of the month for the first Monday in May 2023. Answer with a number.",
        "Determine the day of the month for the last Monday in May 2023. Answer with a number.",
    ),
    ("chain_sum", "State the final answer to the following arithmetic problem: 1 + 2 =", "arithmetic problem: 1 - 2 ="),
]


@pytest.mark.parametrize(("family", "one", "other"), SAME)
def test_one_content_is_on_one_side(family: str, one: str, other: str) -> None:
    assert canonical(family, one) == canonical(family, other)
    assert held_out_side(family, one) == held_out_side(family, other)


@pytest.mark.parametrize(("family", "one", "other"), DIFFERENT)
def test_another_content_is_another_text(family: str, one: str, other: str) -> None:
    assert canonical(family, one) != canonical(family, other)


def test_a_sum_is_on_one_side_whichever_family_asks_for_it() -> None:
    for number in range(200):
        chain = f"State the final answer to the following arithmetic problem: {number} + 12 ="
        assert held_out_side("chain_sum", chain) == held_out_side("basic_arithmetic", f"What is 12 + {number}?")


def test_a_question_of_another_form_still_has_a_side() -> None:
    for family in ("chain_sum", "simple_equations", "letter_counting", "arc_1d", "propositional_logic", "products"):
        for text in ("", "?", "1 +", 'a "b', "Given: 1. P and Q ."):
            assert held_out_side(family, text) in (True, False)


def test_case_and_white_space_say_nothing() -> None:
    assert canonical("letter_counting", 'the letter "a"  in\n"Banana"') == canonical(
        "letter_counting", 'The letter "A" in "banana"'
    )


def test_one_in_eight_is_held_out() -> None:
    sides = [
        held_out_side("count_bits", f"How many 1 bits are there in the number {number}?") for number in range(4000)
    ]
    assert abs(sum(sides) / len(sides) - 1 / HELD_OUT_ONE_IN) < 0.02


def test_the_split_never_moves() -> None:
    """A question that changes sides takes what was learnt before out of the measurement."""
    asked = [f"Find the Least Common Multiple (LCM) of these numbers: {number}, 12" for number in range(2, 30)]
    assert [number for number, question in enumerate(asked, 2) if held_out_side("lcm", question)] == PINNED_LCM


PINNED_LCM = [9, 12, 16, 24]


def test_every_family_has_a_twin_to_be_tried_with() -> None:
    """In a moment what tests/tasks/test_examiner.py, where they are tried, would say after a minute."""
    families = {family.name for family in load_catalogue(resource("tasks.toml")).families}
    assert families == TWINS.keys(), "each family has a writer in tests/tasks/examiner/twins.py, and no other has"
