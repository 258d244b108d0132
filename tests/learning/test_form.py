"""What a readable answer earns, and how long that lasts."""

import pytest

from sapo_desktop.core.extraction import FORM_KNOWN
from sapo_desktop.core.records import Completion, Group, Mark
from sapo_desktop.learning.form import READABLE_REWARD, form_reward, rewarded, share_readable, smoothed
from tests.builders import QUESTION


def mark(solved: bool = False, readable: bool = True) -> Mark:
    reward = float(solved)
    verdict = "solved" if solved else "wrong" if readable else "unparsed"
    return Mark(solved=solved, partial=reward, reward=reward, answer=None, verdict=verdict, readable=readable)


def test_a_readable_answer_earns_a_tenth_until_the_form_is_known() -> None:
    assert form_reward("auto", 0.0) == form_reward("auto", FORM_KNOWN - 0.01) == READABLE_REWARD
    assert form_reward("auto", FORM_KNOWN) == 0.0
    assert form_reward("strict", 0.0) == form_reward("partial", 0.0) == 0.0


def test_it_is_paid_in_a_round_without_a_right_answer_alone_and_for_what_can_be_read() -> None:
    unread = mark(readable=False)
    assert [[one.reward for one in row] for row in rewarded([[mark(), unread], [mark()]], 0.1)] == [[0.1, 0.0], [0.1]]
    right = [[mark(), unread], [mark(solved=True), mark()]]
    assert rewarded(right, 0.1) == right
    assert rewarded([[mark()]], 0.0) == [[mark()]]


def test_the_share_that_could_be_read_follows_the_last_rounds() -> None:
    completions = [Completion(tokens=[1], logprobs=[-1.0], text="", finish="stop")] * 4
    marks = [mark(), mark(), mark(), mark(readable=False)]
    assert share_readable([Group(question=QUESTION, completions=completions, marks=marks)]) == 0.75
    assert share_readable([]) is None
    assert smoothed(None, 0.5) == 0.5 and smoothed(0.5, None) == 0.5
    assert smoothed(0.5, 1.0) == pytest.approx(0.65), "three tenths of the newest"
