"""Tries: the requests and their order, and late and external events."""

from sapo_desktop.gui.try_it.trying import Draft, Side, Try, begin, first_choice
from sapo_desktop.gui.try_it.words import figures
from sapo_desktop.gui.words.language import tr
from sapo_desktop.worker.control.messages.asking import Asked, AskProgressed
from tests.builders import task_info


def a_try() -> Try:
    return begin(Draft("Why?"), 5.0)


ASKED = Asked(text="Because.", tokens=3, seconds=0.5)


def test_progress_is_taken_by_the_side_whose_number_it_has_and_only_while_it_writes() -> None:
    one = a_try()
    base, last = one.sides
    news = AskProgressed(stream=base.stream, text="Be", tokens=1)
    assert not base.progressed(news)  # not asked yet
    one.next_request()
    assert base.progressed(news) and not last.progressed(news)
    assert (base.state, base.text, base.tokens) == ("writing", "Be", 1)
    one.answered(base, ASKED)
    assert not base.progressed(AskProgressed(stream=base.stream, text="late", tokens=9))
    assert base.text == "Because."


def test_what_was_stopped_takes_no_late_reply_and_asks_for_nothing() -> None:
    one = a_try()
    one.next_request()
    one.stop()
    one.answered(one.sides[0], ASKED)
    assert [side.state for side in one.sides] == ["stopped", "stopped"]
    assert one.sides[0].text == "" and one.next_request() is None


def test_no_number_is_used_twice() -> None:
    assert len({side.stream for _ in range(20) for side in a_try().sides}) == 40


def test_first_offered_is_a_task_in_training_that_is_half_solved() -> None:
    half = task_info("gcd", solved=0.5, training=True)
    assert first_choice([task_info("bf", solved=0.5), task_info("lcm", solved=0.9, training=True), half]) is half
    assert first_choice([task_info("bf")]) is not None
    assert first_choice([]) is None


def test_an_answer_in_no_time_has_no_speed() -> None:
    assert figures(Side("base", 1, tokens=5, seconds=0.0)) == tr("%n token(s)", None, 5)
