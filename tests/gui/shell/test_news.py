"""When a person who does not see the window is told something."""

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


class Told:
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


def test_pauses_are_told_at_most_once_an_hour() -> None:
    told = Told("pauses")
    told.happens(HELD)
    told.happens(WORKS)
    assert told.titles == ["The node has paused"]
    told.now += APART
    told.happens(HELD)
    told.now += APART
    told.happens(WORKS)
    assert told.titles == ["The node has paused", "The node has paused", "The node has resumed"]


def test_what_is_wrong_is_told_at_once_and_once() -> None:
    told = Told("problems")
    told.happens(HELD)
    for _ in range(2):
        told.happens(FAILED)
    told.happens(Lost(reason="Gone"))
    assert told.titles == ["The node stopped", "The node stopped"]


def test_nobody_is_told_who_sees_it_or_does_not_want_to_be() -> None:
    told = Told()
    told.seen = True
    told.happens(HELD)
    unwanted = Told("none")
    unwanted.happens(FAILED)
    assert not told.titles and not unwanted.titles


def test_a_score_above_all_before_it_is_told() -> None:
    told = Told()
    score = told.view.held_out or 0.0
    for number, value in ((998, score), (999, score - 0.1), (1000, score + 0.1)):
        told.happens(EvalFinished(report=eval_report(str(number), value, which="validation")))
    assert told.titles == ["The model got better"]


def test_a_version_is_told_once_and_one_that_is_not_safe_to_all_who_want_problems() -> None:
    newer = UpdatesAre(standing=Standing(state="newer", text="It is there.", version="9.9.9"))
    urgent = UpdatesAre(standing=Standing(state="urgent", text="It is not safe.", version="9.9.9"))
    for notify, event, titles in (
        ("all", newer, ["A newer version is available"]),
        ("pauses", newer, []),
        ("problems", urgent, ["This version is no longer safe"]),
        ("none", urgent, []),
    ):
        told = Told(notify)
        for _ in range(2):
            told.happens(event)
        assert told.titles == titles
    told.happens(UpdatesAre(standing=Standing(state="current", text="It is the newest.")))
    assert told.titles == []


def test_a_newcomer_that_asks_is_told_and_counted_at_the_page() -> None:
    told = Told("problems")
    for asking in (1, 1, 0, 2):
        told.happens(SwarmChanged(state="alone", reason="", peers=0, asking=asking))
    assert told.titles == ["Somebody wants to join your swarm"], "at most once an hour, however many come"
    quiet = Told("none")
    quiet.happens(SwarmChanged(state="alone", reason="", peers=0, asking=1))
    assert quiet.titles == []
