"""Paging through kept answers: what is asked for, and which replies are taken."""

from sapo_desktop.gui.learning.answers import AnswerPages, Filter
from sapo_desktop.worker.control.messages.rollouts import Rollouts
from tests.builders import rollout


def page(first: int, count: int, more: bool = True) -> Rollouts:
    return Rollouts(items=[rollout(id=first - at) for at in range(count)], more=more)


def test_pages_follow_each_other() -> None:
    pages = AnswerPages()
    first = pages.begin(Filter(task="gcd", search="x"))
    assert (first.task, first.search, first.before, first.newest_first) == ("gcd", "x", None, True)
    assert pages.waiting and pages.further() is None, "the first page comes first"
    assert pages.take(first, page(1000, 3)) and not pages.waiting
    second = pages.further()
    assert second is not None and (second.before, second.task) == (998, "gcd")
    assert pages.further() is None, "one page at a time"
    assert pages.take(second, page(997, 2, more=False))
    assert [item.id for item in pages.items] == [1000, 999, 998, 997, 996]
    assert pages.further() is None


def test_a_reply_to_an_earlier_filter_is_not_taken() -> None:
    pages = AnswerPages()
    old = pages.begin(Filter())
    new = pages.begin(Filter(verdict="wrong"))
    assert not pages.take(old, page(10, 5)) and not pages.gave_up(old)
    assert pages.take(new, page(20, 1, more=False))
    assert [item.id for item in pages.items] == [20]


def test_a_failure_lets_one_try_again() -> None:
    pages = AnswerPages()
    first = pages.begin(Filter())
    assert pages.gave_up(first)
    assert not pages.waiting and not pages.loaded
    assert pages.take(again := pages.begin(Filter()), page(5, 1)) and again.before is None
