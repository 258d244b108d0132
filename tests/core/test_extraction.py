"""Which part of a completion is its answer."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapo_desktop.core.extraction import MAX_COMPLETION, extract_answer


@pytest.mark.parametrize(
    ("completion", "answer"),
    [
        ("<answer>42</answer>", "42"),
        ("12 + 30 = 42 <answer> 42\n</answer>", "42"),
        ("<answer>1</answer> no: <answer>2</answer>", "2"),
        ("<answer>42</answer> and some more", "42"),
        ("<answer></answer>", ""),
        ("<answer>1 2\n3 4</answer>", "1 2\n3 4"),
        ("<answer><answer>2</answer></answer>", "2</answer>"),
        ("<answer>1<answer>2</answer>", "2"),
        ("<answer>42", "<answer>42"),
        ("42</answer>", "42</answer>"),
        ("</answer>42<answer>", "</answer>42<answer>"),
        ("<ANSWER>42</ANSWER>", "<ANSWER>42</ANSWER>"),
        ("step one\nstep two\n 42 \n\n", "42"),
        ("42", "42"),
        ("", None),
        (" \n\t\n", None),
    ],
)
def test_the_last_span_or_else_the_last_line(completion: str, answer: str | None) -> None:
    assert extract_answer(completion) == answer


def test_only_the_end_of_a_huge_completion_is_read() -> None:
    assert extract_answer("<answer>7</answer>" + "x" * MAX_COMPLETION) == "x" * MAX_COMPLETION
    assert extract_answer("x" * MAX_COMPLETION + "<answer>7</answer>") == "7"


@pytest.mark.parametrize("piece", ["<answer>", "</answer>", "<answer></answer>", "<", "\n", " ", "<answer>\n</answer"])
def test_ten_megabytes_take_no_time(piece: str) -> None:
    text = piece * (10_000_000 // len(piece))
    started = time.process_time()
    extract_answer(text)
    assert time.process_time() - started < 0.1


PIECES = st.sampled_from(["<answer>", "</answer>", "<", "a", "\n", " ", "\ud800", "\x00"])


@given(st.lists(PIECES, max_size=40).map("".join))
def test_never_raises_and_gives_a_part_of_the_text(completion: str) -> None:
    answer = extract_answer(completion)
    assert answer is None or answer in completion


@given(st.text(max_size=30), st.text(max_size=30).filter(lambda text: "<" not in text))
def test_a_span_at_the_end_is_the_answer_whatever_stands_before(before: str, answer: str) -> None:
    assert extract_answer(f"{before}<answer>{answer}</answer>") == answer.strip()
