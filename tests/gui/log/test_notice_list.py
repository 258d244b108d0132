"""Notices are shown once each, filtered, and copied as lines; a log shows its end."""

from sapo_desktop.gui.log import notice_list as notices
from sapo_desktop.view.plain import many_lines, plain
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.facts import Notice

ITEMS = [
    Notice(time=1.0, level="info", text="Linked to a relay."),
    Notice(time=2.0, level="warning", text="The link broke.\nIt is tried again."),
    Notice(time=3.0, level="error", text="The generator ended."),
]


def test_what_the_worker_kept_and_what_came_as_an_event_is_one_notice() -> None:
    view = View(clock=lambda: 99.0)
    said = [Notice(level="info", text="One\x1b[31m", time=5.0), Notice(level="error", text="Two", time=6.0)]
    view.take(said[1])
    merged = notices.merged((plain(one, many_lines) for one in said), view.notices)
    assert merged == [Notice(time=5.0, level="info", text="One"), Notice(time=6.0, level="error", text="Two")]


def test_the_oldest_go_where_there_are_too_many() -> None:
    many = [Notice(time=float(at), level="info", text="x") for at in range(notices.MOST + 3)]
    assert [item.time for item in notices.merged(many)][:1] == [3.0]


def test_a_search_wants_every_word_in_either_case() -> None:
    assert notices.matching(ITEMS, "info", "LINK the") == [ITEMS[1]]
    assert notices.matching(ITEMS, "error", "link") == []


def test_of_a_log_whole_lines_from_the_end_are_shown() -> None:
    assert notices.tail(["one", "two", "three"], 9) == "two\nthree"
    assert notices.tail(["one", "two", "three"], 8) == "three"
    assert notices.tail(["x" * 50], 8) == "x" * 8
    assert notices.tail([], 8) == ""
