"""Which notifications appear while nobody sees the window."""

import time

from sapo_desktop.core.updates.manifest import Standing
from sapo_desktop.core.why import Failed, OnBattery, Training
from sapo_desktop.gui.shell.news import APART, News
from sapo_desktop.view.link import Lost
from sapo_desktop.view.viewmodel import View
from sapo_desktop.worker.control.messages.events import EvalFinished, Event, StateChanged, SwarmChanged
from sapo_desktop.worker.control.messages.facts import UpdatesAre
from tests.builders import eval_report
from tests.gui import scenes

WORKS = StateChanged(state="working", reason="", why=Training(round=1))
HELD = StateChanged(state="paused", reason="", why=OnBattery())
FAILED = StateChanged(state="failed", reason="", why=Failed(text="It died.", failures=5))


class Notified:
    def __init__(self, notify: str = "all") -> None:
        self.view: View = scenes.a_view(scenes.silo_curve(), notify=notify)
        self.now = time.time()
        self.view.clock = lambda: self.now
        self.titles: list[str] = []
        self.seen = False
        self.news = News(self.view, lambda title, text: self.titles.append(title), lambda: self.seen)
        self.happens(WORKS)

    def happens(self, event: Event | Lost) -> None:
        self.news.look(self.view.take(event))


def test_pauses_are_reported_at_most_once_an_hour() -> None:
    it = Notified("pauses")
    it.happens(HELD)
    it.happens(WORKS)
    assert it.titles == ["The node has paused"]
    it.now += APART
    it.happens(HELD)
    it.now += APART
    it.happens(WORKS)
    assert it.titles == ["The node has paused", "The node has paused", "The node has resumed"]


def test_what_is_wrong_is_reported_at_once_and_once() -> None:
    it = Notified("problems")
    it.happens(HELD)
    for _ in range(2):
        it.happens(FAILED)
    it.happens(Lost(reason="Gone"))
    assert it.titles == ["The node stopped", "The node stopped"]


def test_nobody_is_notified_who_sees_it_or_does_not_want_to_be() -> None:
    it = Notified()
    it.seen = True
    it.happens(HELD)
    unwanted = Notified("none")
    unwanted.happens(FAILED)
    assert not it.titles and not unwanted.titles


def test_a_score_above_all_before_it_is_reported() -> None:
    it = Notified()
    score = it.view.held_out or 0.0
    for number, value in ((998, score), (999, score - 0.1), (1000, score + 0.1)):
        it.happens(EvalFinished(report=eval_report(str(number), value, which="validation")))
    assert it.titles == ["The model got better"]


def test_a_version_is_reported_once_and_one_that_is_not_safe_to_all_who_want_problems() -> None:
    newer = UpdatesAre(standing=Standing(state="newer", text="It is there.", version="9.9.9"))
    urgent = UpdatesAre(standing=Standing(state="urgent", text="It is not safe.", version="9.9.9"))
    for notify, event, titles in (
        ("all", newer, ["A newer version is available"]),
        ("pauses", newer, []),
        ("problems", urgent, ["This version is no longer safe"]),
        ("none", urgent, []),
    ):
        it = Notified(notify)
        for _ in range(2):
            it.happens(event)
        assert it.titles == titles
    it.happens(UpdatesAre(standing=Standing(state="current", text="It is the newest.")))
    assert it.titles == []


def test_a_newcomer_that_asks_is_answered_and_counted_at_the_page() -> None:
    it = Notified("problems")
    for asking in (1, 1, 0, 2):
        it.happens(SwarmChanged(state="alone", reason="", peers=0, asking=asking))
    assert it.titles == ["Somebody wants to join your swarm"], "at most once an hour, however many come"
    quiet = Notified("none")
    quiet.happens(SwarmChanged(state="alone", reason="", peers=0, asking=1))
    assert quiet.titles == []
